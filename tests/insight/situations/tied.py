import torch
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
x = torch.tensor([1.0, 1.0])
h = torch.tanh(w @ x)
y = w.t() @ h
y.sum().backward()
# why(w) -> used several times: TBackward0
