# The chain rule, from a formula to a number
# A tensor that asks for its gradient, and a formula in it.
x = torch.tensor(3.0, requires_grad=True)
h = x ** 2 + 1
y = torch.sin(h)
y
# Every op has left a node behind. The tree shows them, the last op on top.
tree(y)
# explain() writes the derivative of each op, and the chain rule that puts them together.
explain(y)
# Backward multiplies those factors, from the top down.
y.backward()
x.grad
# The same by hand.
torch.cos(x.detach() ** 2 + 1) * 2 * x.detach()
