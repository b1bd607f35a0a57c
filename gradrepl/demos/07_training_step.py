# One training step, seen from inside
generator = torch.manual_seed(0)
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
inputs = torch.tensor([[1.0, 2.0], [3.0, -1.0]])
targets = torch.tensor([[1.0], [0.0]])
loss = ((model(inputs) - targets) ** 2).mean()
tree(loss)
# What does the graph keep in memory until backward has run?
saved(loss)
loss.backward()
saved(loss)
# The parameters have their gradients; a step down the hill is a subtraction without a graph.
before = loss.item()
with torch.no_grad():
    for p in model.parameters():
        p -= 0.1 * p.grad
        p.grad = None
((model(inputs) - targets) ** 2).mean().item() < before
