import torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = x.sum().item()
loss = torch.tensor(y)
loss.backward()
# why(error) -> number: line 3; line 5
