"""How samples get out of a dataset: here and now, or through workers that take turns. Imports torch.utils.data's collation only."""

__name__ = __name__.removeprefix("gradrepl.")

import collections
import dataclasses
import random
import traceback

import numpy as np

from gradrepl import torch


class Finder:
    """Batches of a dataset that is asked for its samples by number."""

    def __init__(self, loader, dataset):
        self.loader, self.dataset = loader, dataset

    def fetch(self, number):
        dataset = self.dataset
        if not self.loader._auto_collation:
            return self.loader.collate_fn(dataset[number])
        several = getattr(dataset, "__getitems__", None)
        return self.loader.collate_fn(several(number) if several else [dataset[index] for index in number])


class Follower:
    """Batches of a dataset that keeps its own order."""

    def __init__(self, loader, dataset):
        self.loader, self.samples, self.ended = loader, iter(dataset), False

    def fetch(self, number):
        """The next sample, or as many as the batch has places."""
        if self.ended:
            raise StopIteration
        if not self.loader._auto_collation:
            return self.loader.collate_fn(next(self.samples))
        batch = []
        for _ in number:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or self.loader.drop_last and len(batch) < len(number):
            raise StopIteration
        return self.loader.collate_fn(batch)


FETCHERS = Finder, Follower  # by _DatasetKind


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker is told about itself."""

    id: int
    num_workers: int
    seed: int
    dataset: object
    rng: object = None
    worker_method: str | None = "multiprocessing"


WorkerInfo.__module__ = "torch.utils.data._utils.worker"


class KeyErrorMessage(str):
    """A text that KeyError shows as it is."""

    def __repr__(self):
        return self


@dataclasses.dataclass
class Failure:
    """What went wrong in a worker; it is raised when its turn comes."""

    kind: type
    text: str

    def get(self):
        if self.kind is KeyError:
            raise KeyError(KeyErrorMessage(self.text))
        try:
            error = self.kind(self.text)
        except Exception:
            raise RuntimeError(self.text) from None
        raise error


@dataclasses.dataclass
class Answer:
    batch: object

    def get(self):
        return self.batch


def streams():
    return dict(vars(torch.default_generator)), random.getstate(), np.random.get_state()


def take_up(streams):
    of_torch, of_python, of_numpy = streams
    vars(torch.default_generator).update(of_torch)
    random.setstate(of_python)
    np.random.set_state(of_numpy)


def own(dataset):
    """What a worker has of its own: attributes set in it are seen there only. Data is shared, and an object of another kind is as it is."""
    if type(dataset).__new__ is not object.__new__ or not hasattr(dataset, "__dict__"):
        return dataset
    twin = object.__new__(type(dataset))  # not copy.copy, which asks the object for methods, and may meet its __getattr__ half made
    twin.__dict__.update(dataset.__dict__)
    return twin


class Worker:
    """A loading process, or what can be told of one from outside: a copy of the dataset, and random streams of its own.

    It works in this process, whenever it is asked.
    """

    here = None  # the info of the one that is at work

    def __init__(self, loader, id, base_seed):
        dataset = own(loader.dataset)
        self.loader, self.info = loader, WorkerInfo(id, loader.num_workers, base_seed + id, dataset)
        self.base_seed, self.streams, self.failure = base_seed, None, None
        self.start()

    def start(self):
        self.finished = False
        self.failure = self.performed(self.prepare)

    def prepare(self):
        if self.streams is None:
            self.seed()
            if self.loader.worker_init_fn is not None:
                self.loader.worker_init_fn(self.info.id)
        self.fetcher = FETCHERS[self.loader._dataset_kind](self.loader, self.info.dataset)

    def seed(self):
        random.seed(self.info.seed)
        torch.manual_seed(self.info.seed)
        entropy = [self.info.id, self.base_seed & 0xFFFFFFFF, self.base_seed >> 32, 0]
        np.random.seed(np.random.SeedSequence(entropy).generate_state(4))

    def performed(self, work, *args):
        """The answer, a failure, or None where the dataset has come to its end."""
        outside, Worker.here = (streams(), Worker.here), self.info
        try:
            if self.streams is not None:
                take_up(self.streams)
            return Answer(work(*args))
        except Exception as error:
            if isinstance(error, StopIteration) and self.loader._dataset_kind:
                self.finished = True
                return None
            where = f"in DataLoader worker process {self.info.id}"
            return Failure(type(error), f"Caught {type(error).__name__} {where}.\nOriginal {traceback.format_exc()}")
        finally:
            self.streams, Worker.here = streams(), outside[1]
            take_up(outside[0])

    def fetch(self, number):
        if isinstance(self.failure, Failure):
            failure, self.failure = self.failure, None
            return failure
        return self.performed(self.fetcher.fetch, number)


class Team:
    """Workers in turn: each has a few batches to make before the first is asked for, and whoever is done gets no more."""

    def __init__(self, loader, base_seed):
        self.loader = loader
        self.workers = [Worker(loader, id, base_seed) for id in range(loader.num_workers)]

    def restart(self, numbers):
        self.numbers, self.given, self.turn = numbers, collections.deque(), 0
        for _ in range(self.loader.prefetch_factor * len(self.workers)):
            self.give()

    def resume(self, numbers):
        for worker in self.workers:
            worker.start()
        self.restart(numbers)

    def give(self):
        """Hand the next number to the next worker that has not come to its end."""
        for _ in self.workers:
            worker = self.workers[self.turn]
            self.turn = (self.turn + 1) % len(self.workers)
            if not worker.finished:
                break
        else:
            return
        for number in self.numbers:
            self.given.append((worker, number))
            return

    def next(self):
        while self.given:
            worker, number = self.given.popleft()
            if worker.finished:
                continue
            answer = worker.fetch(number)
            self.give()
            if answer is not None:
                return answer.get()
        raise StopIteration
