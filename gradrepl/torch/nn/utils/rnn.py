"""torch.nn.utils.rnn: sequences of different lengths, packed step by step or padded."""

__name__ = __name__.removeprefix("gradrepl.")

from collections import namedtuple
from collections.abc import Iterable

from gradrepl import torch

UNSORTED = (
    "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass `enforce_sorted=False` to "
    "pack_padded_sequence and/or pack_sequence to sidestep this requirement if you do not need ONNX exportability."
)


class PackedSequence(namedtuple("PackedSequence_", ["data", "batch_sizes", "sorted_indices", "unsorted_indices"])):
    """The steps of all sequences, one after the other, with how many sequences each step has."""

    __module__ = "torch.nn.utils.rnn"

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes is None:  # PyTorch's older form: a pair
            if not isinstance(data, (list, tuple)) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def pin_memory(self):
        return self

    def to(self, *args, **kwargs):
        data = self.data.to(*args, **kwargs)
        return self if data is self.data else type(self)(data, self.batch_sizes, self.sorted_indices, self.unsorted_indices)

    cpu = lambda self, *args, **kwargs: self.to("cpu")
    double = lambda self: self.to(dtype=torch.double)
    float = lambda self: self.to(dtype=torch.float)
    half = lambda self: self.to(dtype=torch.half)
    long = lambda self: self.to(dtype=torch.long)
    int = lambda self: self.to(dtype=torch.int)
    is_cuda = property(lambda self: False)
    is_pinned = lambda self: False


PackedSequence_ = PackedSequence.__bases__[0]


def invert_permutation(permutation):
    if permutation is None:
        return None
    output = torch.empty_like(permutation)
    output.scatter_(0, permutation, torch.arange(0, permutation.numel()))
    return output


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    lengths = lengths if isinstance(lengths, torch.Tensor) else torch.as_tensor(lengths, dtype=torch.int64)
    if lengths.dim() != 1:
        raise RuntimeError("'lengths' argument should be a 1D CPU int64 tensor, but got " + f"{lengths.dim()}D cpu Long tensor")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = torch.sort(lengths, descending=True)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    input = input.transpose(0, 1) if batch_first else input
    sizes = lengths.long().tolist()
    check_lengths(input, sizes)
    batch_sizes = [sum(1 for n in sizes if n > step) for step in range(sizes[0])]
    data = torch.cat(steps_of(input, batch_sizes))
    return PackedSequence(data, torch.tensor(batch_sizes), sorted_indices, None)


def check_lengths(input, sizes):
    if len(sizes) != input.size(1):
        raise RuntimeError(f"Expected `len(lengths)` to be equal to batch_size, but got {len(sizes)} (batch_size={input.size(1)})")
    if not sizes or min(sizes) <= 0:
        raise RuntimeError("Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0")
    if any(a < b for a, b in zip(sizes, sizes[1:])):
        raise RuntimeError(UNSORTED)


def steps_of(input, batch_sizes):
    """The rows that are there at each step; steps with as many rows stay together."""
    parts, start = [], 0
    for step, size in enumerate(batch_sizes):
        if step + 1 == len(batch_sizes) or batch_sizes[step + 1] != size:
            rows = input[start : step + 1, :size].contiguous()
            parts.append(rows.view(-1, *input.shape[2:]))
            start = step + 1
    return parts


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    data, batch_sizes, _, unsorted_indices = sequence
    sizes = batch_sizes.tolist()
    longest = len(sizes)
    if total_length is not None and total_length < longest:
        raise ValueError(
            "Expected total_length to be at least the length of the longest sequence in input, but got "
            f"total_length={total_length} and max sequence length being {longest}"
        )
    lengths = [sum(1 for size in sizes if size > row) for row in range(sizes[0])]
    padded = torch.full((total_length or longest, sizes[0], *data.shape[1:]), padding_value, dtype=data.dtype)
    rows, at = [], 0
    for size in sizes:
        step = data[at : at + size]
        rows.append(torch.cat([step, padded[0, size:]]) if size < sizes[0] else step)
        at += size
    rows += list(padded[longest:])
    output, lengths = torch.stack(rows), torch.tensor(lengths)
    output = output.transpose(0, 1) if batch_first else output
    if unsorted_indices is not None:
        output = output.index_select(0 if batch_first else 1, unsorted_indices)
        lengths = lengths[unsorted_indices]
    return output, lengths


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    if not isinstance(sequences, Iterable):
        raise RuntimeError("pad_sequence: Expected iterable for input sequences, but got arg of type: " + str(type(sequences)))
    sequences = sequences.unbind(0) if isinstance(sequences, torch.Tensor) else tuple(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    if padding_side not in ("left", "right"):
        raise RuntimeError(f"Expected padding_side to be one of left or right, but got {padding_side}.")
    longest, rest = max(sequence.size(0) for sequence in sequences), sequences[0].shape[1:]
    shape = (len(sequences), longest, *rest) if batch_first else (longest, len(sequences), *rest)
    padded = torch.full(shape, padding_value, dtype=sequences[0].dtype)
    for i, sequence in enumerate(sequences):
        row = padded.select(0 if batch_first else 1, i)
        row.narrow(0, longest - len(sequence) if padding_side == "left" else 0, len(sequence)).copy_(sequence)
    return padded


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    padded = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row[: int(length)] for row, length in zip(padded, lengths)]


def pack_sequence(sequences, enforce_sorted=True):
    lengths = torch.as_tensor([sequence.size(0) for sequence in sequences])
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)
