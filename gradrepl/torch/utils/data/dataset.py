"""torch.utils.data.dataset: what a sample is, by number or one after the other."""

__name__ = __name__.removeprefix("gradrepl.")

import bisect
import itertools
import math
import warnings
from typing import Generic, TypeVar

from gradrepl import torch

_T_co = TypeVar("_T_co", covariant=True)
NO_GETITEMS = (
    "{} overrides __getitem__ but not __getitems__. When subclassing Subset and overriding __getitem__, you must also override "
    "__getitems__ to ensure DataLoader works correctly with your custom logic. A simple implementation:\n\n"
    "def __getitems__(self, indices):\n    return [self.__getitem__(idx) for idx in indices]"
)


class Dataset(Generic[_T_co]):
    """Samples by number."""

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset[_T_co]):
    """Samples one after the other."""

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple]):
    """Rows of tensors that belong together."""

    def __init__(self, *tensors):
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Samples of several datasets side by side, as tuples or as dictionaries."""

    def __init__(self, *args, **kwargs):
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like input/output, but both types are given."
            )
        if not args and not kwargs:
            raise ValueError("At least one dataset should be passed")
        self.datasets = args or kwargs
        sets = list(args or kwargs.values())
        self._length = len(sets[0])
        if any(len(dataset) != self._length for dataset in sets):
            raise ValueError("Size mismatch between datasets")

    def __getitem__(self, index):
        if isinstance(self.datasets, dict):
            return {name: dataset[index] for name, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices):
        named = self.datasets.items() if isinstance(self.datasets, dict) else enumerate(self.datasets)
        columns = {name: several(dataset, indices) for name, dataset in named}
        rows = [dict(zip(columns, row)) for row in zip(*columns.values())]
        return rows if isinstance(self.datasets, dict) else [tuple(row.values()) for row in rows]

    def __len__(self):
        return self._length


def several(dataset, indices):
    if not callable(getattr(dataset, "__getitems__", None)):
        return [dataset[index] for index in indices]
    items = dataset.__getitems__(indices)
    if len(items) != len(indices):
        raise ValueError(f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}")
    return items


class ConcatDataset(Dataset[_T_co]):
    """Datasets one after the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    @staticmethod
    def cumsum(sequence):
        return list(itertools.accumulate(map(len, sequence)))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx):
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx = len(self) + idx
        place = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[place][idx - (self.cumulative_sizes[place - 1] if place else 0)]

    @property
    def cummulative_sizes(self):
        warnings.warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Iterable datasets one after the other."""

    def __init__(self, datasets):
        super().__init__()
        self.datasets = datasets

    def check(self):
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield dataset

    def __iter__(self):
        for dataset in self.check():
            yield from dataset

    def __len__(self):
        return sum(len(dataset) for dataset in self.check())


class Subset(Dataset[_T_co]):
    """Some samples of a dataset."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices
        if type(self).__getitem__ is not Subset.__getitem__ and type(self).__getitems__ is Subset.__getitems__:
            raise NotImplementedError(NO_GETITEMS.format(type(self).__name__))

    def __getitem__(self, idx):
        return self.dataset[[self.indices[i] for i in idx]] if isinstance(idx, list) else self.dataset[self.indices[idx]]

    def __getitems__(self, indices):
        chosen = [self.indices[index] for index in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[index] for index in chosen]

    def __len__(self):
        return len(self.indices)


def lengths_of(dataset, fractions):
    """Fractions as numbers of samples; what is left over goes round."""
    lengths = []
    for place, fraction in enumerate(fractions):
        if fraction < 0 or fraction > 1:
            raise ValueError(f"Fraction at index {place} is not between 0 and 1")
        lengths.append(int(math.floor(len(dataset) * fraction)))
    for place in range(len(dataset) - sum(lengths)):
        lengths[place % len(lengths)] += 1
    for place, length in enumerate(lengths):
        if length == 0:
            warnings.warn(f"Length of split at index {place} is 0. This might result in an empty dataset.", stacklevel=3)
    return lengths


def random_split(dataset, lengths, generator=None):
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = lengths_of(dataset, lengths)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(sum(lengths), generator=generator).tolist()
    return [Subset(dataset, order[end - length : end]) for end, length in zip(itertools.accumulate(lengths), lengths)]
