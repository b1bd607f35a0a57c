"""torch.utils.data.DataLoader, its workers in one process with it."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings
from typing import Generic, TypeVar

from gradrepl import torch
from gradrepl.torch.utils.data._collate import default_collate, default_convert
from gradrepl.torch.utils.data._fetching import FETCHERS, Team, Worker, WorkerInfo
from gradrepl.torch.utils.data.dataset import IterableDataset
from gradrepl.torch.utils.data.sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

_T_co = TypeVar("_T_co", covariant=True)
NOT_PINNED = "'pin_memory' argument is set as true but no accelerator is found, then device pinned memory won't be used."
TOO_LONG = "Length of IterableDataset {} was reported to be {}(when accessing len(dataloader)), but {} samples have been fetched. "
NOT_SHARED_OUT = (
    "For multiprocessing data-loading, this could be caused by not properly configuring the IterableDataset replica at each worker. Please "
    "see https://pytorch.org/docs/stable/data.html#torch.utils.data.IterableDataset for examples."
)
FIXED = "batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"


class _DatasetKind:
    Map, Iterable = 0, 1


class _InfiniteConstantSampler(Sampler):
    """The same nothing again and again: an iterable dataset keeps its own order."""

    def __iter__(self):
        while True:
            yield None


def get_worker_info() -> WorkerInfo | None:
    """What a worker is told about itself; None outside of workers."""
    return Worker.here


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


def checked_context(context, num_workers):
    import multiprocessing  # takes its time

    option = "multiprocessing_context option should"
    if num_workers == 0:
        raise ValueError(
            f"multiprocessing_context can only be used with multi-process loading (num_workers > 0), but got num_workers={num_workers}"
        )
    if isinstance(context, str):
        valid = multiprocessing.get_all_start_methods()
        if context not in valid:
            raise ValueError(f"{option} specify a valid start method in {valid!r}, but got multiprocessing_context={context!r}")
        return multiprocessing.get_context(context)
    if not isinstance(context, multiprocessing.context.BaseContext):
        raise TypeError(
            f"{option} be a valid context object or a string specifying the start method, but got multiprocessing_context={context}"
        )
    return context


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
        if num_workers > 0 and prefetch_factor is None:
            self.prefetch_factor = 2
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
    def multiprocessing_context(self):
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        self._context = context if context is None else checked_context(context, self.num_workers)

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def _get_iterator(self):
        return _MultiProcessingDataLoaderIter(self) if self.num_workers else _SingleProcessDataLoaderIter(self)

    def __iter__(self):
        if not self.persistent_workers:
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

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
        self.loader, self._num_yielded = loader, 0
        self.numbers = iter(loader._index_sampler)
        # PyTorch draws a seed for its workers, also where there are none
        self._base_seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator).item()
        if loader.pin_memory:
            warnings.warn(NOT_PINNED, stacklevel=4)

    def __iter__(self):
        return self

    def __len__(self):
        return len(self.loader._index_sampler)

    def __next__(self):
        found = self._next_data()
        self._num_yielded += 1
        promised = self.loader._IterableDataset_len_called
        if promised is not None and self._num_yielded > promised:
            text = TOO_LONG.format(self.loader.dataset, promised, self._num_yielded)
            warnings.warn(text + (NOT_SHARED_OUT if self.loader.num_workers else ""), stacklevel=2)
        return found


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        assert loader.timeout == 0, "_SingleProcessDataLoaderIter requires timeout == 0"
        self.fetcher = FETCHERS[loader._dataset_kind](loader, loader.dataset)

    def _next_data(self):
        return self.fetcher.fetch(next(self.numbers))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    def __init__(self, loader):
        super().__init__(loader)
        self.team = Team(loader, self._base_seed)
        self.team.restart(self.numbers)

    def _reset(self, loader, first_iter=False):
        self.numbers, self._num_yielded = iter(loader._index_sampler), 0
        self.team.resume(self.numbers)

    def _next_data(self):
        return self.team.next()
