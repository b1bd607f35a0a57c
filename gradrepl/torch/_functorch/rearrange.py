"""torch.func.rearrange: dimensions named, reordered, merged and split by a pattern."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import re

from gradrepl.engine.tensor import Tensor

ELLIPSIS = "..."


class DimensionBindError(Exception):
    """The sizes of a split dimension cannot be told, or do not divide it."""


def parsed(side):
    """A side of a pattern as one tuple of names per dimension, an ellipsis standing for itself."""
    if side.count("(") != side.count(")"):
        raise ValueError(f"Imbalanced parentheses in expression: '{side}'")
    items = re.findall(r"\([^()]*\)|\.\.\.|[^\s()]+", side)
    found = [item if item == ELLIPSIS else tuple(item.strip("()").split()) for item in items]
    names = [name for item in found for name in ([item] if item == ELLIPSIS else item) if name != "1"]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Indexing expression contains duplicate dimension '{name}'")
    return [() if item == ("1",) else item for item in found], [name for name in names if name != ELLIPSIS]


def sides(pattern, sizes):
    if pattern.count("->") != 1:
        raise ValueError("Pattern must contain a single '->' separator")
    (left, names), (right, others) = map(parsed, pattern.split("->"))
    if any(ELLIPSIS in item for item in right) and ELLIPSIS not in left:
        raise ValueError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if unknown := set(sizes) - set(names):
        raise ValueError(f"Identifiers not found in rearrange expression: {unknown}")
    if alone := set(names) ^ set(others):
        raise ValueError(f"Identifiers only on one side of rearrange expression (should be on both): {alone}")
    return left, right


def split(size, names, sizes, first):
    """The sizes of the names that one dimension is split into; one of them may be inferred. `first`: how many names came before."""
    known = [sizes.get(name) for name in names]
    if len(names) == 1 and known == [None]:
        return [size]
    if known.count(None) > 1:
        open_names = [f"d{i}" for i, n in enumerate(known, first) if n is None]
        raise DimensionBindError(f"cannot infer the sizes of two dimensions at once {open_names[0]} and {open_names[1]}")
    rest = math.prod(n for n in known if n is not None)
    if rest == 0 or size % rest or None not in known and rest != size:
        shown = tuple("?" if n is None else n for n in known)
        raise DimensionBindError(f"inferred dimension does not evenly fit into larger dimension: {size} vs {shown}")
    return [size // rest if n is None else n for n in known]


def atoms(tensor, left, sizes):
    """Name (or place under the ellipsis) -> (size, stride) of every elementary dimension."""
    spare = tensor.dim() - sum(item != ELLIPSIS for item in left)
    if spare < 0 or spare and ELLIPSIS not in left:
        count = sum(item != ELLIPSIS for item in left)
        raise ValueError(
            f"Number of dimensions in pattern ({count}) must be equal to the number of dimensions in the tensor ({tensor.dim()})"
        )
    found, dim = {}, 0
    for item in left:
        names = [(ELLIPSIS, i) for i in range(spare)] if item == ELLIPSIS else [item]
        for name in names:
            size, stride = tensor.shape[dim], tensor.stride(dim)
            parts = [size] if item == ELLIPSIS else split(size, item, sizes, len(found))
            for i, atom in enumerate([name] if item == ELLIPSIS else item):
                found[atom] = parts[i], stride * math.prod(parts[i + 1 :])
            dim += 1
    return found, spare


def rearrange(tensor, pattern, **sizes):
    """The tensor with its dimensions in the order, and grouped, as the right side of the pattern says."""
    from gradrepl import torch

    tensor = tensor if isinstance(tensor, Tensor) else torch.stack(list(tensor))
    left, right = sides(pattern, sizes)
    found, spare = atoms(tensor, left, sizes)
    under = [(ELLIPSIS, i) for i in range(spare)]
    groups = []
    for item in right:
        if item == ELLIPSIS:
            groups += [[name] for name in under]
        else:
            groups.append([name for part in item for name in (under if part == ELLIPSIS else [part])])
    if len(found) == spare:  # nothing has a name
        return tensor.reshape([math.prod(found[n][0] for n in group) for group in groups])
    order = [name for group in groups for name in group]
    view = tensor.as_strided([found[n][0] for n in order], [found[n][1] for n in order], tensor.storage_offset())
    return view.reshape([math.prod(found[n][0] for n in group) for group in groups])
