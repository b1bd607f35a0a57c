import torch
from torch.utils.data import *

torch.manual_seed(0)
ds = TensorDataset(torch.arange(10.0).reshape(5, 2), torch.arange(5))
for x, y in DataLoader(ds, batch_size=2, shuffle=True):
    print(x, y)
for b in DataLoader(ds, batch_size=2):
    print(b)
print(ds[1], len(ds), list(RandomSampler(ds)), torch.rand(1))
a, b = random_split(ds, [3, 2])
print(a.indices, b.indices, a[0])
a, b = random_split(ds, [0.5, 0.5], generator=torch.Generator().manual_seed(42))
print(a.indices, b.indices)
dl = DataLoader(ds, batch_size=2, shuffle=True, drop_last=True)
print(len(dl))
print(next(iter(dl)))
print(
    list(WeightedRandomSampler([0.1, 0.9, 0.4, 0.7, 3.0, 0.6], 5, replacement=True)),
    list(WeightedRandomSampler([0.9, 0.4, 0.05, 0.2, 0.3, 0.1], 5, replacement=False)),
)
print(
    list(BatchSampler(SequentialSampler(range(10)), 3, False)),
    list(SubsetRandomSampler([3, 4, 5])),
    list(RandomSampler(range(5), replacement=True, num_samples=40)),
)
print(
    default_collate([1, 2]),
    default_collate(["a", "b"]),
    default_collate([{"A": 0, "B": 1.0}, {"A": 100, "B": 100}]),
    default_collate([(1, 2.0), (3, 4.0)]),
    default_collate([[1, 2], [3, 4]]),
)
import numpy as np

print(default_collate([np.ones(2), np.zeros(2)]), default_collate([np.float64(1), np.float64(2)]), default_convert([np.array([1]), 3]))


class It(IterableDataset):
    def __init__(s, a, b):
        s.a, s.b = a, b

    def __iter__(s):
        return iter(range(s.a, s.b))


print(list(DataLoader(It(3, 7))), list(DataLoader(It(3, 7), batch_size=3)), list(DataLoader(It(3, 7), batch_size=None)))
print(
    list(DataLoader(ChainDataset([It(0, 2), It(5, 6)]))),
    ConcatDataset([range(3), range(2)])[3],
    list(DataLoader(StackDataset(range(3), range(3, 6)), batch_size=2)),
    (ds + ds)[7],
)
for e in (
    "DataLoader(ds,batch_size=0)",
    "DataLoader(ds,sampler=RandomSampler(ds),shuffle=True)",
    "DataLoader(It(1,2),shuffle=True)",
    "random_split(ds,[1,2])",
    "TensorDataset(torch.ones(2),torch.ones(3))",
    "default_collate([[1],[1,2]])",
    "default_collate([object()])",
    "Dataset()[0]",
    "DataLoader(ds,num_workers=-1)",
    "DataLoader(ds,batch_size=None,drop_last=True)",
    "setattr(dl,'batch_size',3)",
):
    try:
        print(eval(e))
    except Exception as x:
        print(e, type(x).__name__, str(x)[:200])
print(repr(type(ds)), torch.rand(1))
