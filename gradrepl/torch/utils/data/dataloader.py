"""torch.utils.data.DataLoader, in one process."""

__name__ = __name__.removeprefix("gradrepl.")

from typing import Generic, TypeVar

from gradrepl import torch
from gradrepl.torch.utils.data._collate import default_collate, default_convert
from gradrepl.torch.utils.data.dataset import IterableDataset
from gradrepl.torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_T_co = TypeVar("_T_co", covariant=True)
FIXED = "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"


class _DatasetKind:
    Map, Iterable = 0, 1


class _InfiniteConstantSampler(Sampler):
    """The same nothing again and again: an iterable dataset keeps its own order."""

    def __iter__(self):
        while True:
            yield None


def get_worker_info():
    """Nothing, as in the main process: here there are no others."""
    return None


def check_options(num_workers, timeout, prefetch_factor, persistent_workers):
    if num_workers < 0:
        raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing.let num_workers > 0 to enable multiprocessing, otherwise "
            "set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def check_iterable(shuffle, sampler, batch_sampler):
    if shuffle not in {False, None}:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
    if sampler is not None:
        raise ValueError(f"DataLoader with IterableDataset: expected unspecified sampler option, but got sampler={sampler}")
    if batch_sampler is not None:
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified batch_sampler option, but got batch_sampler={batch_sampler}"
        )


class DataLoader(Generic[_T_co]):
    """Batches of a dataset. Workers are accepted, but everything is loaded in this process, in the order PyTorch's workers keep."""

    _iterator = None
    _initialized = False

    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        check_options(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset, self.num_workers, self.prefetch_factor, self.pin_memory = dataset, num_workers, prefetch_factor, pin_memory
        self.pin_memory_device, self.timeout, self.worker_init_fn, self.in_order = pin_memory_device, timeout, worker_init_fn, in_order
        self.multiprocessing_context = multiprocessing_context
        iterable = isinstance(dataset, IterableDataset)
        self._dataset_kind = _DatasetKind.Iterable if iterable else _DatasetKind.Map
        if iterable:
            check_iterable(shuffle, sampler, batch_sampler)
        shuffle = bool(shuffle)
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            sampler = self.usual_sampler(iterable, shuffle, generator)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler, self.generator = (
            batch_size, drop_last, sampler, batch_sampler, generator
        )  # fmt: skip
        self.collate_fn = collate_fn or (default_convert if batch_sampler is None else default_collate)
        self.persistent_workers, self._IterableDataset_len_called, self._initialized = persistent_workers, None, True

    def usual_sampler(self, iterable, shuffle, generator):
        if iterable:
            return _InfiniteConstantSampler()
        return RandomSampler(self.dataset, generator=generator) if shuffle else SequentialSampler(self.dataset)

    def __setattr__(self, name, value):
        if self._initialized and name in FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _SingleProcessDataLoaderIter(self)

    def __iter__(self):
        return self._get_iterator()

    def __len__(self):
        if self._dataset_kind == _DatasetKind.Map:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)
        if self.batch_size is None:
            return length
        return length // self.batch_size if self.drop_last else -(-length // self.batch_size)


class _BaseDataLoaderIter:
    """One run through a loader."""

    def __init__(self, loader):
        self.loader = loader
        self.numbers = iter(loader._index_sampler)
        # PyTorch draws a seed for its workers, also where there are none
        self._base_seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item()
        self._num_yielded = 0
        iterable = loader._dataset_kind == _DatasetKind.Iterable
        self.samples, self.ended = (iter(loader.dataset) if iterable else None), False

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.loader._index_sampler)

    def __next__(self):
        found = self.next_data()
        self._num_yielded += 1
        return found

    def next_data(self):
        number, loader = next(self.numbers), self.loader
        if self.samples is None:
            return loader.collate_fn(self.fetched(number))
        return loader.collate_fn(self.following(number))

    def fetched(self, number):
        dataset = self.loader.dataset
        if not self.loader._auto_collation:
            return dataset[number]
        if callable(getattr(dataset, "__getitems__", None)):
            return dataset.__getitems__(number)
        return [dataset[index] for index in number]

    def following(self, number):
        """The next sample, or as many as the batch has places."""
        if self.ended:
            raise StopIteration
        if not self.loader._auto_collation:
            return next(self.samples)
        batch = []
        for _ in number:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or self.loader.drop_last and len(batch) < len(number):
            raise StopIteration
        return batch


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    pass
