"""torch.utils.data.sampler: the order in which samples are taken."""

__name__ = __name__.removeprefix("gradrepl.")

import itertools
import math
from typing import Generic, TypeVar

from gradrepl import torch

_T_co = TypeVar("_T_co", covariant=True)


def positive(number):
    return isinstance(number, int) and not isinstance(number, bool) and number > 0


class Sampler(Generic[_T_co]):
    """Numbers of samples, in an order."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """From first to last."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """In random order, from a generator that is seeded by the common one."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self._num_samples, self.generator = data_source, replacement, num_samples, generator
        if not isinstance(self.replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={self.replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def seeded(self):
        if self.generator is not None:
            return self.generator
        generator = torch.Generator()
        generator.manual_seed(int(torch.empty((), dtype=torch.int64).random_().item()))
        return generator

    def __iter__(self):
        total, generator = len(self.data_source), self.seeded()
        if self.replacement:
            for start in range(0, self.num_samples, 32):
                count = min(32, self.num_samples - start)
                yield from torch.randint(high=total, size=(count,), dtype=torch.int64, generator=generator).tolist()
            return
        for _ in range(self.num_samples // total if total else 0):
            yield from torch.randperm(total, generator=generator).tolist()
        yield from torch.randperm(total, generator=generator).tolist()[: self.num_samples % total if total else 0]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """Given numbers in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for place in torch.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """Numbers drawn with given weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        if not positive(num_samples):
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        weights = torch.as_tensor(weights, dtype=torch.double)
        if len(weights.shape) != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(weights.shape)}")
        self.weights, self.num_samples, self.replacement, self.generator = weights, num_samples, replacement, generator

    def __iter__(self):
        yield from torch.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list]):
    """The numbers of another sampler in lists."""

    def __init__(self, sampler, batch_size, drop_last):
        if not positive(batch_size):
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        size = len(self.sampler) / self.batch_size
        return math.floor(size) if self.drop_last else math.ceil(size)
