import torch
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = (w * b).sum()
loss.backward(inputs=[w])
# why(b) -> inputs=: line 5
