"""How samples become a batch; torch.utils.data shows it."""

__name__ = "torch.utils.data._utils.collate"

import collections.abc as abc
import copy
import re

from gradrepl import torch

OBJECTS = re.compile(r"[SaUO]")
NO_BATCH = "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"


def default_convert(data):
    """NumPy arrays in it as tensors, nothing else changed."""
    kind = type(data)
    if isinstance(data, torch.Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "string_"):
        return data if kind.__name__ == "ndarray" and OBJECTS.search(data.dtype.str) else torch.as_tensor(data)
    if isinstance(data, abc.Mapping):
        return kind({key: default_convert(data[key]) for key in data})
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return kind(*map(default_convert, data))
    if isinstance(data, abc.Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(part) for part in data]
    return data


def collate(batch, *, collate_fn_map=None):
    return default_collate(batch)


def default_collate(batch):
    """Tensors stacked, numbers as one tensor, containers part by part."""
    first = batch[0]
    kind = type(first)
    if isinstance(first, torch.Tensor):
        return torch.stack(list(batch), 0)
    if kind.__module__ == "numpy":
        return of_numpy(batch, first, kind)
    if isinstance(first, float):
        return torch.tensor(batch, dtype=torch.float64)
    if isinstance(first, int):
        return torch.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, abc.Mapping):
        return of_mappings(batch, first, kind)
    if isinstance(first, abc.Sequence):
        return of_sequences(batch, first, kind)
    raise TypeError(NO_BATCH.format(kind))


def of_numpy(batch, first, kind):
    if kind.__name__ == "ndarray":
        if OBJECTS.search(first.dtype.str):
            raise TypeError(NO_BATCH.format(first.dtype))
        return default_collate([torch.as_tensor(part) for part in batch])
    if kind.__name__ in ("str_", "string_"):
        return batch
    return torch.as_tensor(batch)


def of_mappings(batch, first, kind):
    columns = {key: default_collate([sample[key] for sample in batch]) for key in first}
    if isinstance(first, abc.MutableMapping):
        made = copy.copy(first)
        made.update(columns)
        return made
    return kind(columns)


def of_sequences(batch, first, kind):
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return kind(*(default_collate(samples) for samples in zip(*batch)))
    if not all(len(sample) == len(first) for sample in batch):
        raise RuntimeError("each element in list of batch should be of equal size")
    columns = [default_collate(samples) for samples in zip(*batch)]
    return columns if isinstance(first, tuple) or kind not in (list,) else kind(columns)
