# Writing in place, and the version that gives it away
x = torch.tensor([0.5, -1.0], requires_grad=True)
p = torch.sigmoid(x)
# The derivative of sigmoid needs its result, so the node has saved p, at version 0.
p._version
# This line writes into p.
p += 1e-6
p._version
# Backward finds a version it did not save, and refuses.
torch.log(p).sum().backward()
# Ask about the error.
why()
# Out of place there is nothing to refuse.
p = torch.sigmoid(x)
p = p + 1e-6
torch.log(p).sum().backward()
x.grad
