# Why is my gradient None?
w = torch.tensor([1.0, 2.0], requires_grad=True)
features = torch.tanh(w * 2)
frozen = features.detach()
v = torch.ones(2, requires_grad=True)
loss = (v * frozen).sum()
loss.backward()
w.grad is None
# Ask.
why(w)
# The tree of the loss ends where the history was cut.
tree(loss)
# A result in the middle has no .grad either, for another reason.
why(features)
