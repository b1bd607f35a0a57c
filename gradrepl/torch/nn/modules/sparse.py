"""torch.nn.modules.sparse: tables of vectors looked up by index."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.nn.functional as F
import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter


def wrapped(padding_idx, rows, name):
    """A padding index counted from the front."""
    if padding_idx is None:
        return None
    if not -rows <= padding_idx < rows:
        raise AssertionError(f"{name} must be within num_embeddings")
    return padding_idx % rows


USUAL = dict(padding_idx=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, sparse=False, mode=None)


def described(module, *names):
    """The size of the table and the options that are not the usual ones."""
    unusual = [f"{name}={getattr(module, name)!r}" for name in names if getattr(module, name) != USUAL[name]]
    return ", ".join([f"{module.num_embeddings}, {module.embedding_dim}", *unusual])


class Embedding(Module):
    """A table of vectors, one a word."""

    __constants__ = "num_embeddings embedding_dim padding_idx max_norm norm_type scale_grad_by_freq sparse".split()

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        padding_idx=None,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        sparse=False,
        _weight=None,
        _freeze=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim = num_embeddings, embedding_dim
        self.padding_idx = wrapped(padding_idx, num_embeddings, "Padding_idx")
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = max_norm, norm_type, scale_grad_by_freq, sparse
        self.place_weight(_weight, device, dtype, not _freeze)

    def place_weight(self, weight, device, dtype, requires_grad=True):
        size = self.num_embeddings, self.embedding_dim
        if weight is None:
            self.weight = Parameter(torch.empty(size, device=device, dtype=dtype), requires_grad=requires_grad)
            self.reset_parameters()
        else:
            if tuple(weight.shape) != size:
                raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
            self.weight = Parameter(weight, requires_grad=requires_grad)

    def reset_parameters(self):
        init.normal_(self.weight)
        self._fill_padding_idx_with_zero()

    def _fill_padding_idx_with_zero(self):
        if self.padding_idx is not None:
            with torch.no_grad():
                self.weight[self.padding_idx].fill_(0)

    def forward(self, input):
        options = self.padding_idx, self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse
        return F.embedding(input, self.weight, *options)

    def extra_repr(self):
        return described(self, "padding_idx", "max_norm", "norm_type", "scale_grad_by_freq", "sparse")

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False
    ):
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        options = dict(
            padding_idx=padding_idx, max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse
        )
        return cls(*embeddings.shape, _weight=embeddings, _freeze=freeze, **options)


class EmbeddingBag(Module):
    """Sums, means or maxima of vectors looked up together."""

    __constants__ = "num_embeddings embedding_dim max_norm norm_type scale_grad_by_freq mode sparse include_last_offset padding_idx".split()

    def __init__(
        self,
        num_embeddings,
        embedding_dim,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        _weight=None,
        include_last_offset=False,
        padding_idx=None,
        device=None,
        dtype=None,
    ):
        super().__init__()
        self.num_embeddings, self.embedding_dim, self.max_norm, self.norm_type = num_embeddings, embedding_dim, max_norm, norm_type
        self.scale_grad_by_freq, self.mode, self.sparse = scale_grad_by_freq, mode, sparse
        self.include_last_offset, self.padding_idx = include_last_offset, wrapped(padding_idx, num_embeddings, "padding_idx")
        self.place_weight(_weight, device, dtype)

    place_weight = Embedding.place_weight
    reset_parameters = Embedding.reset_parameters
    _fill_padding_idx_with_zero = Embedding._fill_padding_idx_with_zero

    def forward(self, input, offsets=None, per_sample_weights=None):
        options = self.max_norm, self.norm_type, self.scale_grad_by_freq, self.mode, self.sparse, per_sample_weights
        return F.embedding_bag(input, self.weight, offsets, *options, self.include_last_offset, self.padding_idx)

    def extra_repr(self):
        return described(self, "max_norm", "norm_type", "scale_grad_by_freq", "mode", "padding_idx")

    @classmethod
    def from_pretrained(
        cls,
        embeddings,
        freeze=True,
        max_norm=None,
        norm_type=2.0,
        scale_grad_by_freq=False,
        mode="mean",
        sparse=False,
        include_last_offset=False,
        padding_idx=None,
    ):
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        options = dict(max_norm=max_norm, norm_type=norm_type, scale_grad_by_freq=scale_grad_by_freq, mode=mode, sparse=sparse)
        made = cls(*embeddings.shape, _weight=embeddings, include_last_offset=include_last_offset, padding_idx=padding_idx, **options)
        made.weight.requires_grad = not freeze
        return made
