# Broadcasting forward is summing backward
w = torch.tensor([[1.0, 2.0, 3.0]], requires_grad=True)
b = torch.tensor(10.0, requires_grad=True)
table = w * torch.ones(4, 3) + b
table.shape
loss = table.mean()
tree(loss)
# b reached all twelve places, so its gradient is a sum of twelve numbers.
loss.backward()
b.grad, w.grad
# The same mechanism turns a small slip into a wrong loss: (3, 1) with (3,) gives (3, 3).
prediction = (torch.tensor([[1.0], [2.0], [3.0]]) * b.detach()).requires_grad_()
target = torch.tensor([10.0, 20.0, 30.0])
wrong = ((prediction - target) ** 2).mean()
wrong.backward()
why(prediction)
