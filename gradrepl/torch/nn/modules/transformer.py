"""torch.nn.modules.transformer: encoder and decoder layers, their stacks, and the whole."""

__name__ = __name__.removeprefix("gradrepl.")

import copy

import gradrepl.torch.nn.functional as F
import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn.modules.attention import MultiheadAttention
from gradrepl.torch.nn.modules.container import ModuleList
from gradrepl.torch.nn.modules.dropout import Dropout
from gradrepl.torch.nn.modules.linear import Linear
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.modules.normalization import LayerNorm


def _get_clones(module, n):
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _get_activation_fn(activation):
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    """-inf above the diagonal: each place looks at itself and what is before it."""
    return torch.triu(torch.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def detected_causal(mask, is_causal, size):
    """Whether a mask is the causal one, where the caller does not say."""
    if is_causal is not None or mask is None:
        return is_causal is True
    causal = _generate_square_subsequent_mask(size, mask.device, mask.dtype if mask.is_floating_point() else None)
    return mask.size() == causal.size() and bool((mask == causal).all())


def length_of(src, batch_first):
    return src.size(0) if src.dim() == 2 or not batch_first else src.size(1)


class Transformer(Module):
    """An encoder over the source and a decoder over the target."""

    def __init__(
        self,
        d_model=512,
        nhead=8,
        num_encoder_layers=6,
        num_decoder_layers=6,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        custom_encoder=None,
        custom_decoder=None,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        options = dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias, device, dtype
        norm = lambda: LayerNorm(d_model, eps=layer_norm_eps, bias=bias, device=device, dtype=dtype)
        if custom_encoder is not None:
            self.encoder = custom_encoder
        else:
            self.encoder = TransformerEncoder(TransformerEncoderLayer(d_model, nhead, *options), num_encoder_layers, norm())
        if custom_decoder is not None:
            self.decoder = custom_decoder
        else:
            self.decoder = TransformerDecoder(TransformerDecoderLayer(d_model, nhead, *options), num_decoder_layers, norm())
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self,
        src,
        tgt,
        src_mask=None,
        tgt_mask=None,
        memory_mask=None,
        src_key_padding_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        src_is_causal=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )

    generate_square_subsequent_mask = staticmethod(_generate_square_subsequent_mask)

    def _reset_parameters(self):
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


class TransformerEncoder(Module):
    """Encoder layers one after the other."""

    __constants__ = ["norm"]

    def __init__(self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        src_key_padding_mask = F._canonical_mask(src_key_padding_mask, "src_key_padding_mask", F._none_or_dtype(mask), "mask", src.dtype)
        mask = F._canonical_mask(mask, "mask", None, "", src.dtype, False)
        first = self.layers[0]
        batch_first = getattr(getattr(first, "self_attn", None), "batch_first", False)
        causal = detected_causal(mask, is_causal, length_of(src, batch_first))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        if src_key_padding_mask is not None and self.drops_padding(src, mask):
            output = output.masked_fill(src_key_padding_mask.isinf().unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)

    def drops_padding(self, src, mask):
        """Whether PyTorch would leave the padding out of the computation (its nested tensors come back with zeros there)."""
        first = self.layers[0]
        return (
            self.enable_nested_tensor
            and isinstance(first, TransformerEncoderLayer)
            and first.self_attn.batch_first
            and not (first.norm_first or first.training or torch.is_grad_enabled() and any(p.requires_grad for p in first.parameters()))
            and first.self_attn.num_heads % 2 == 0
            and mask is None
            and src.dim() == 3
        )


class TransformerDecoder(Module):
    """Decoder layers one after the other."""

    __constants__ = ["norm"]

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=None,
        memory_is_causal=False,
    ):
        batch_first = self.layers[0].self_attn.batch_first
        options = dict(
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=detected_causal(tgt_mask, tgt_is_causal, length_of(tgt, batch_first)),
            memory_is_causal=memory_is_causal,
        )
        output = tgt
        for layer in self.layers:
            output = layer(output, memory, **options)
        return output if self.norm is None else self.norm(output)


class Layer(Module):
    """What encoder and decoder layers share: self-attention and a feed-forward block."""

    __constants__ = ["norm_first"]
    norms = 2

    def __init__(
        self,
        d_model,
        nhead,
        dim_feedforward=2048,
        dropout=0.1,
        activation=F.relu,
        layer_norm_eps=1e-5,
        batch_first=False,
        norm_first=False,
        bias=True,
        device=None,
        dtype=None,
    ):
        super().__init__()
        like = dict(bias=bias, device=device, dtype=dtype)
        attention = lambda: MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, **like)
        self.self_attn = attention()
        if self.norms == 3:
            self.multihead_attn = attention()
        self.linear1 = Linear(d_model, dim_feedforward, **like)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **like)
        self.norm_first = norm_first
        for number in range(1, self.norms + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, **like))
        for number in range(1, self.norms + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("activation", F.relu)

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        options = dict(attn_mask=attn_mask, key_padding_mask=key_padding_mask, need_weights=False, is_causal=is_causal)
        return self.dropout1(self.self_attn(x, x, x, **options)[0])

    def feed_forward(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def through(self, x, norm, block):
        """A block with its residual, normed before or after."""
        return x + block(norm(x)) if self.norm_first else norm(x + block(x))


class TransformerEncoderLayer(Layer):
    """Self-attention and a feed-forward block."""

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        src_key_padding_mask = F._canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", F._none_or_dtype(src_mask), "src_mask", src.dtype
        )
        src_mask = F._canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)
        x = self.through(src, self.norm1, lambda x: self._sa_block(x, src_mask, src_key_padding_mask, is_causal))
        return self.through(x, self.norm2, self._ff_block)

    def _ff_block(self, x):
        return self.dropout2(self.feed_forward(x))


class TransformerDecoderLayer(Layer):
    """Self-attention, attention to the encoder's memory, and a feed-forward block."""

    norms = 3

    def forward(
        self,
        tgt,
        memory,
        tgt_mask=None,
        memory_mask=None,
        tgt_key_padding_mask=None,
        memory_key_padding_mask=None,
        tgt_is_causal=False,
        memory_is_causal=False,
    ):
        to_self = lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)
        to_memory = lambda x: self._mha_block(x, memory, memory_mask, memory_key_padding_mask, memory_is_causal)
        x = self.through(tgt, self.norm1, to_self)
        return self.through(self.through(x, self.norm2, to_memory), self.norm3, self._ff_block)

    def _mha_block(self, x, memory, attn_mask, key_padding_mask, is_causal=False):
        options = dict(attn_mask=attn_mask, key_padding_mask=key_padding_mask, is_causal=is_causal, need_weights=False)
        return self.dropout2(self.multihead_attn(x, memory, memory, **options)[0])

    def _ff_block(self, x):
        return self.dropout3(self.feed_forward(x))
