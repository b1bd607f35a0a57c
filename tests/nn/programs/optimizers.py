import torch, inspect

for n in "Adafactor Adadelta Adagrad Adam Adamax AdamW ASGD LBFGS Muon NAdam RAdam RMSprop Rprop SGD SparseAdam".split():
    c = getattr(torch.optim, n)
    if not isinstance(c, type):
        continue
    if n in ("Optimizer",):
        continue
    p = [torch.nn.Parameter(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))]
    try:
        o = c(p) if n != "SGD" else c(p, lr=0.1, momentum=0.9)
    except Exception as e:
        print(e)
        continue
    print("   ", o.defaults)

    def cl():
        o.zero_grad()
        l = (p[0] ** 2).sum()
        l.backward()
        return l

    try:
        o.step(cl)
        print("    ", o.state_dict()["state"], p[0].tolist())
        o.step(cl)
        print("    ", p[0].tolist())
    except Exception as e:
        print(e)
o = torch.optim.SGD(p, lr=0.1)
print(o)
print(o.state_dict())
