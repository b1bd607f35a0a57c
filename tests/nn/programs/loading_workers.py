"""Loading through workers: their own random streams, what they know of themselves, whose turn it is, and what they refuse."""

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset, IterableDataset, default_collate, get_worker_info
from torch.utils.data.distributed import DistributedSampler


class Noisy(Dataset):
    def __len__(self):
        return 11

    def __getitem__(self, index):
        info = get_worker_info()
        return index, torch.rand(()), random.random(), np.random.rand(), info.id if info else -1, torch.initial_seed() % 1000


class Stream(IterableDataset):
    def __init__(self, lengths):
        self.lengths, self.shift = lengths, 0

    def __iter__(self):
        info = get_worker_info()
        for i in range(self.lengths[info.id if info else 0]):
            yield 100 * (info.id if info else 9) + i + self.shift


def shift(worker):
    info = get_worker_info()
    info.dataset.shift = 1000 * (worker + 1)
    assert (info.id, info.num_workers, info.seed) == (worker, 2, torch.initial_seed())


print(get_worker_info())
for workers in 1, 2, 3:
    for shuffle in False, True:
        torch.manual_seed(workers)
        for batch in DataLoader(Noisy(), batch_size=3, shuffle=shuffle, num_workers=workers):
            print(batch)
        print(torch.rand(1))
for lengths in (3, 3), (5, 1), (0, 4), (1, 9), (0, 0):
    for options in dict(batch_size=2), dict(batch_size=None), dict(batch_size=2, drop_last=True):
        print(lengths, options, list(DataLoader(Stream(lengths), num_workers=2, worker_init_fn=shift, **options)))
print(list(DataLoader(Stream((4, 7, 2, 5)), num_workers=4, batch_size=2, prefetch_factor=1)))
torch.manual_seed(5)
loader = DataLoader(Noisy(), batch_size=6, shuffle=True, num_workers=2, persistent_workers=True)
for epoch in range(3):
    print(epoch, list(loader))
lasting = DataLoader(Stream((2, 3)), num_workers=2, persistent_workers=True, worker_init_fn=shift)
print(list(lasting), list(lasting))
print(loader.prefetch_factor, DataLoader(Noisy()).prefetch_factor, type(iter(DataLoader(Noisy(), num_workers=1))))
print([list(DistributedSampler(range(10), 3, rank, shuffle=False)) for rank in range(3)], DistributedSampler)


class Wrapped(Dataset):
    """Asks another for what it has not."""

    def __init__(self, inner):
        self.inner = inner

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def __len__(self):
        return len(self.inner)

    def __getitem__(self, index):
        return self.inner[index]


print(list(DataLoader(Wrapped(range(5)), batch_size=2, num_workers=2)), list(DataLoader([1, 2, 3], num_workers=2)))


class Wrong(Dataset):
    def __init__(self, error):
        self.error = error

    def __len__(self):
        return 3

    def __getitem__(self, index):
        if index == 1:
            raise self.error("no such thing")
        return index


for error in ValueError, KeyError, ZeroDivisionError:
    try:
        print(list(DataLoader(Wrong(error), num_workers=2)))
    except error as e:
        print(type(e).__name__, str(e).splitlines()[:2], str(e).splitlines()[-1])


def refuse(worker):
    raise RuntimeError(f"worker {worker} does not want to")


def uneven(batch):
    return default_collate([[1, 2], [1]])


for make in (
    lambda: list(DataLoader(Noisy(), num_workers=2, worker_init_fn=refuse)),
    lambda: list(DataLoader(Noisy(), num_workers=1, collate_fn=uneven)),
    lambda: DataLoader(Noisy(), multiprocessing_context="fork"),
    lambda: DataLoader(Noisy(), multiprocessing_context="bad", num_workers=1),
    lambda: DataLoader(Noisy(), multiprocessing_context=3, num_workers=1),
    lambda: DataLoader(Noisy(), prefetch_factor=2),
    lambda: DataLoader(Noisy(), prefetch_factor=-1, num_workers=1),
    lambda: DataLoader(Noisy(), persistent_workers=True),
    lambda: list(DataLoader(Noisy(), timeout=5)),
    lambda: DataLoader([], shuffle=True),
):
    try:
        print(make())
    except Exception as e:
        print(type(e).__name__, str(e).splitlines()[0], str(e).splitlines()[-1])
