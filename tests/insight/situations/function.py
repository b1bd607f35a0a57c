import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
def encode(v):
    h = torch.tanh(v)
    return h.data * 2
def model(v, bias):
    return encode(v) + bias
loss = model(w, b).sum()
loss.backward()
# why(w) -> data: line 6; AddBackward0
