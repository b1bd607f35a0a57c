# Where does the NaN come from?
x = torch.tensor([0.0, 4.0], requires_grad=True)
y = torch.where(x > 0, torch.sqrt(x), torch.zeros(2))
loss = y.sum()
# The value is fine.
loss
# The gradient is not.
loss.backward()
x.grad
why(x)
# step() goes through backward node by node; the first number that is not finite is marked.
loss = torch.where(x > 0, torch.sqrt(x), torch.zeros(2)).sum()
print(step(loss))
