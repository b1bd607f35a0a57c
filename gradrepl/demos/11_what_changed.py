# What did that line change?
w = torch.tensor([1.0, 2.0], requires_grad=True)
x = torch.tensor([3.0, 4.0], requires_grad=True)
h = torch.tanh(w * x)
# Two graphs side by side: with h, and with h.detach().
diff((h * x).sum(), (h.detach() * x).sum())
# A state that is carried along makes the graph grow.
before = graph(h)
h = torch.tanh(h * x)
diff(before, h)
