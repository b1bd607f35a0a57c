# A leaf that is used twice gets the sum of two gradients
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = (x * x + 3 * x).sum()
# x stands at three places of the graph, and it is one leaf.
tree(y)
y.backward()
x.grad
# Why is it 2x + 3? Every use contributes, and AccumulateGrad adds them up.
why(x)
