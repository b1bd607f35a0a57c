import torch, torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
lp = torch.randn(6, 2, 4).log_softmax(2).detach().requires_grad_()
t = torch.tensor([[1, 2, 3], [1, 1, 2]])
for red in ("none", "mean", "sum"):
    l = F.ctc_loss(lp, t, (6, 5), (3, 2), reduction=red)
    print(l)
l.backward()
print(lp.grad)
print(
    F.ctc_loss(lp, torch.tensor([1, 2, 3, 1, 1]), torch.tensor([6, 6]), torch.tensor([3, 2])),
    l.grad_fn,
    [n for n in dir(F.ctc_loss(lp, t, (6, 5), (3, 2), reduction="none").grad_fn) if n.startswith("_saved")],
)
print(
    F.ctc_loss(lp, t, (2, 5), (3, 2)),
    F.ctc_loss(lp, t, (2, 5), (3, 2), zero_infinity=True),
    F.ctc_loss(lp[:, 0], t[0], torch.tensor(6), torch.tensor(3)),
)
print(nn.CTCLoss(blank=1)(lp, torch.tensor([[2, 0], [3, 3]]), torch.tensor([6, 6]), torch.tensor([2, 1])))


def walk(n, d=6):
    return n.name() + str([walk(a, d - 1) if a else None for a, _ in n.next_functions]) if d else ""


print(walk(F.ctc_loss(lp, t, (6, 5), (3, 2)).grad_fn), walk(F.ctc_loss(lp, t, (2, 5), (3, 2), zero_infinity=True).grad_fn))
m = nn.SyncBatchNorm(2)
print(m(torch.randn(3, 2, 4))[0])
m = nn.LinearCrossEntropyLoss(5, 10)
print(m)
x = torch.randn(3, 5, requires_grad=True)
o = m(x, torch.tensor([1, 2, 3]))
print(o)
o.backward()
print(x.grad)
m = nn.LinearCrossEntropyLoss(5, 10, out_features=(4, 3))
print(m, m.linear_weight.shape if hasattr(m, "linear_weight") else [(n, p.shape) for n, p in m.named_parameters()])
print(F.linear_cross_entropy(x, torch.ones(10, 5) * 0.1, torch.tensor([1, 2, 3])))
