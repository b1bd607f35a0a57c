"""torch.utils.data.distributed: the share of one of several processes."""

__name__ = __name__.removeprefix("gradrepl.")

import itertools
import math

from gradrepl import torch
from gradrepl.torch.utils.data.sampler import Sampler


class DistributedSampler(Sampler[int]):
    """The share of one of several processes."""

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError("Requires distributed package to be available")
        if rank >= num_replicas or rank < 0:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch, self.drop_last = dataset, num_replicas, rank, 0, drop_last
        whole = drop_last and len(dataset) % num_replicas != 0
        self.num_samples = math.ceil((len(dataset) - num_replicas) / num_replicas) if whole else math.ceil(len(dataset) / num_replicas)
        self.total_size, self.shuffle, self.seed = self.num_samples * num_replicas, shuffle, seed

    def __iter__(self):
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(len(self.dataset), generator=generator).tolist()
        else:
            order = list(range(len(self.dataset)))
        order = list(itertools.islice(itertools.cycle(order), self.total_size))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        self.epoch = epoch
