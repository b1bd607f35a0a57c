# A recurrent loop: the graph grows with every step
w = torch.tensor(0.5, requires_grad=True)
h = torch.zeros(1)
for t in range(20):
    h = torch.tanh(w * h + 1)
# Twenty steps, drawn as one card between the first and the last.
tree(h)
# Two losses on one state: the second backward meets what the first has freed.
for t in range(2):
    h = torch.tanh(w * h + 1)
    loss = (h - 1).pow(2).sum()
    loss.backward()
why()
# detach() carries the value of the state on and leaves its history behind.
w.grad, h = None, h.detach()
for t in range(2):
    h = torch.tanh(w * h.detach() + 1)
    loss = (h - 1).pow(2).sum()
    loss.backward()
w.grad
