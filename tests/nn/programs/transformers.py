import torch, math
from torch import nn, Tensor
import torch.nn.functional as F

torch.manual_seed(0)


class PositionalEncoding(nn.Module):
    def __init__(self, d_model, dropout=0.1, max_len=50):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x):
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerModel(nn.Module):
    def __init__(self, ntoken, d_model, nhead, d_hid, nlayers, dropout=0.5):
        super().__init__()
        self.pos_encoder = PositionalEncoding(d_model, dropout)
        encoder_layers = nn.TransformerEncoderLayer(d_model, nhead, d_hid, dropout)
        self.transformer_encoder = nn.TransformerEncoder(encoder_layers, nlayers)
        self.embedding = nn.Embedding(ntoken, d_model)
        self.d_model = d_model
        self.linear = nn.Linear(d_model, ntoken)
        self.init_weights()

    def init_weights(self):
        initrange = 0.1
        self.embedding.weight.data.uniform_(-initrange, initrange)
        self.linear.bias.data.zero_()
        self.linear.weight.data.uniform_(-initrange, initrange)

    def forward(self, src, src_mask=None):
        src = self.embedding(src) * math.sqrt(self.d_model)
        src = self.pos_encoder(src)
        if src_mask is None:
            src_mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        output = self.transformer_encoder(src, src_mask)
        return self.linear(output)


model = TransformerModel(20, 8, 2, 16, 2, 0.2)
print(model)
data = torch.randint(0, 20, (6, 3))
targets = torch.randint(0, 20, (18,))
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=5.0)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1.0, gamma=0.95)
for step in range(4):
    output = model(data)
    loss = criterion(output.view(-1, 20), targets)
    optimizer.zero_grad()
    loss.backward()
    print(torch.nn.utils.clip_grad_norm_(model.parameters(), 0.5))
    optimizer.step()
    scheduler.step()
    print(step, loss.item(), scheduler.get_last_lr())
model.eval()
with torch.no_grad():
    print(model(data)[0, 0])
tr = nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
src, tgt = torch.rand(2, 4, 8), torch.rand(2, 3, 8)
out = tr(src, tgt, tgt_mask=nn.Transformer.generate_square_subsequent_mask(3))
print(out)
out.sum().backward()
print(tr.encoder.layers[0].linear1.weight.grad[0])
mha = nn.MultiheadAttention(4, 2, dropout=0.0, batch_first=True)
q = torch.rand(2, 3, 4)
pad = torch.tensor([[False, False, True], [False, True, True]])
o, w = mha(q, q, q, key_padding_mask=pad)
print(o, w)
o, w = mha(q, q, q, attn_mask=torch.triu(torch.ones(3, 3), 1).bool(), average_attn_weights=False)
print(o, w.shape)
enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 8, batch_first=True), 2)
enc.eval()
with torch.no_grad():
    print(enc(q, src_key_padding_mask=pad))
print(nn.Transformer.generate_square_subsequent_mask(3))

from torch.nn.attention.bias import CausalVariant, causal_lower_right, causal_upper_left  # noqa: E402

torch.manual_seed(9)
q, k, v = torch.rand(1, 2, 3, 4), torch.rand(1, 2, 4, 4), torch.rand(1, 2, 4, 4)
for make in causal_upper_left, causal_lower_right:
    bias = make(3, 4)
    print(bias, type(bias), bias.seq_len_q, bias.seq_len_kv)
    print(torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias))
    try:
        print(make(3))
    except AssertionError as e:
        print(e)
print(list(CausalVariant))
