"""torch.einsum, built from views, multiplications and bmm in PyTorch's order: the graph under a result is PyTorch's, too."""

import math
import string

from gradrepl.engine.dims import require
from gradrepl.engine.ops.pointwise import mul
from gradrepl.engine.ops.products import bmm
from gradrepl.engine.ops.shapes import diagonal, movedim, permute_dims, reshape_to, unsqueeze, view_sizes
from gradrepl.engine.public import publish
from gradrepl.engine.tensor import Tensor

LETTERS = string.ascii_uppercase + string.ascii_lowercase  # the order in which implicit outputs and summed labels come
ELLIPSIS = "..."


class Equation:
    """What an equation says of its operands: their labels, and where each label's dim comes to lie.

    place   label -> the dim it gets in every operand; the first `kept` dims are the output's, the rest are summed
    """

    def __init__(self, equation, operands):
        self.source = equation
        left, arrow, right = equation.partition("->")
        self.labels = self.read_inputs(left, len(operands))
        self.count = dict.fromkeys(LETTERS, 0)
        self.covered = 0  # the most dims an ellipsis stands for
        for i, (labels, operand) in enumerate(zip(self.labels, operands)):
            self.check_labels(i, labels, operand.array.ndim)
        self.place, self.dims = {}, 0
        self.start = None  # where the dims of an ellipsis begin
        if arrow:
            self.read_output(right, len(left))
        else:
            self.cover()
            self.put(label for label in LETTERS if self.count[label] == 1)
        self.kept = self.dims
        if self.start is None:
            self.cover()
        self.put(label for label in LETTERS if self.count[label] and label not in self.place)

    def cover(self):
        self.start = self.dims
        self.dims += self.covered

    def put(self, labels):
        for label in labels:
            self.place[label] = self.dims
            self.dims += 1

    def read_inputs(self, left, count):
        labels, i = [[]], 0
        while i < len(left):
            letter = left[i]
            if letter == ".":
                at = len(labels) - 1
                require(ELLIPSIS not in labels[-1], f"einsum(): found '.' for operand {at} for which an ellipsis was already found")
                require(left[i : i + 3] == ELLIPSIS, f"einsum(): found '.' for operand {at} that is not part of any ellipsis")
                labels[-1].append(ELLIPSIS)
                i += 2
            elif letter == ",":
                require(len(labels) < count, "einsum(): fewer operands were provided than specified in the equation")
                labels.append([])
            elif letter != " ":
                labels[-1].append(self.checked(letter, i))
            i += 1
        require(len(labels) == count, "einsum(): more operands were provided than specified in the equation")
        return labels

    def checked(self, letter, at):
        known = letter in LETTERS
        require(known, f"einsum(): invalid subscript given at index {at} in the equation string, subscripts must be in [a-zA-Z]")
        return letter

    def check_labels(self, i, labels, ndim):
        named = [label for label in labels if label != ELLIPSIS]
        for label in named:
            self.count[label] += 1
        wide = len(named) < len(labels)
        if wide:
            self.covered = max(self.covered, ndim - len(named))
        if len(named) > ndim if wide else len(named) != ndim:
            relation = "is more than" if wide else "does not match"
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(named)}) {relation} the number of dimensions ({ndim}) for "
                f"operand {i}{'' if wide else ' and no ellipsis was given'}"
            )

    def read_output(self, right, offset):
        i = 0
        while i < len(right):
            letter = right[i]
            if letter == ".":
                require(self.start is None, "einsum(): found '.' for output but an ellipsis (...) was already found")
                require(right[i : i + 3] == ELLIPSIS, "einsum(): found '.' for output that is not part of any ellipsis (...)")
                self.cover()
                i += 2
            elif letter != " ":
                self.checked(letter, offset + 2 + i)
                seen = f"einsum(): output subscript {letter}"
                require(self.count[letter], f"{seen} does not appear in the equation for any input operand")
                require(letter not in self.place, f"{seen} appears more than once in the output")
                self.put(letter)
            i += 1

    def arranged(self, i, operand):
        """An operand with every label's dim at its place: diagonals of repeated labels, dims of one for missing ones."""
        order, dim = [None] * self.dims, 0
        for label in self.labels[i]:
            if label == ELLIPSIS:
                for _ in range(self.covered - (operand.array.ndim - dim - self.after(i, label))):
                    operand = unsqueeze(operand, dim)
                for j in range(self.covered):
                    order[self.start + j] = dim
                    dim += 1
            elif order[self.place[label]] is None:
                order[self.place[label]] = dim
                dim += 1
            else:
                operand = self.diagonal(i, operand, label, order[self.place[label]], dim)
        for at, found in enumerate(order):
            if found is None:
                operand, order[at] = unsqueeze(operand, operand.array.ndim), dim
                dim += 1
        return permute_dims(operand, tuple(order))

    def after(self, i, label):
        """How many dims the labels behind an ellipsis take."""
        return len(self.labels[i]) - 1 - self.labels[i].index(label)

    def diagonal(self, i, operand, label, before, dim):
        n, m = operand.array.shape[dim], operand.array.shape[before]
        require(n == m, f"einsum(): subscript {label} is repeated for operand {i} but the sizes don't match, {n} != {m}")
        return movedim(diagonal(operand, 0, before, dim), -1, before)

    def check_sizes(self, operands):
        labels = {place: label for label, place in self.place.items()}
        for dim in range(self.dims):
            known = 1
            for i, operand in enumerate(operands):
                n = operand.array.shape[dim]
                if n != 1:
                    if known not in (1, n):
                        what = f"subscript {labels[dim]}" if dim in labels else "ellipsis"
                        raise RuntimeError(
                            f"einsum(): {what} has size {n} for operand {i} which does not broadcast with previously seen size {known}"
                        )
                    known = n


def sum_product(left, right, summed):
    """Multiply two operands of equal rank and sum some dims, as a bmm; summed dims stay, with one element."""
    if not summed:
        return mul(left, right)
    both, lefts, rights = [], [], []
    for dim, (n, m) in enumerate(zip(left.array.shape, right.array.shape)):
        if dim not in summed:
            (both if n != 1 != m else lefts if n != 1 else rights).append(dim)
        elif n != 1 == m:
            left = left.sum(dim, True)
        elif n == 1 != m:
            right = right.sum(dim, True)
    if lefts and rights and lefts[-1] > rights[-1]:
        left, right, lefts, rights = right, left, rights, lefts
    size = lambda tensor, dims: math.prod(tensor.array.shape[d] for d in dims)
    shape = [left.array.shape[d] for d in both + lefts] + [1] * len(summed) + [right.array.shape[d] for d in rights]
    order = both + lefts + list(summed) + rights
    count = size(left, both)
    x = reshape_to(permute_dims(left, tuple(order)), (count, size(left, lefts), size(left, summed)))
    y = reshape_to(permute_dims(right, (*both, *summed, *rights, *lefts)), (count, size(right, summed), size(right, rights)))
    return permute_dims(view_sizes(bmm(x, y), tuple(shape)), tuple(order.index(d) for d in range(left.array.ndim)))


def contract(a, b, equation, uses):
    """One step: `uses` counts for every dim the operands left in which it is more than one element."""
    summed, of_a, of_b = [], [], []
    for dim in range(equation.kept, equation.dims):
        n, m = a.array.shape[dim], b.array.shape[dim]
        if n != 1 != m:
            uses[dim] -= 1
            if uses[dim] == 1:
                summed.append(dim)
                uses[dim] = 0
        elif uses[dim] == 1 and (n != 1 or m != 1):
            (of_a if n != 1 else of_b).append(dim)
            uses[dim] = 0
    a = a.sum(tuple(of_a), True) if of_a else a
    b = b.sum(tuple(of_b), True) if of_b else b
    return sum_product(a, b, summed)


def contraction_path(text, operands):
    """The order opt_einsum finds best, where it is installed: PyTorch asks it, too."""
    if len(operands) > 2:
        try:
            import opt_einsum
        except ImportError:
            return None
        return opt_einsum.contract_path(text, *[x.array.shape for x in operands], shapes=True)[0]
    return None


def einsum(*args):
    """`einsum(equation, *operands)`, or operands each followed by a list of numbers instead of letters."""
    text, operands = equation_of(args)
    operands = list(operands[0]) if len(operands) == 1 and isinstance(operands[0], (tuple, list)) else list(operands)
    require(operands, "einsum(): must provide at least one operand")
    equation = Equation(text, operands)
    path = contraction_path(text, operands)
    tensors = [equation.arranged(i, operand) for i, operand in enumerate(operands)]
    equation.check_sizes(tensors)
    uses = [sum(x.array.shape[dim] != 1 for x in tensors) for dim in range(equation.dims)]
    steps = iter(path or ())
    while len(tensors) > 1:
        i, j = sorted(next(steps)) if path else (0, 1)
        b, a = tensors.pop(j), tensors.pop(i)
        tensors.insert(len(tensors) if path else 0, contract(a, b, equation, uses))
    return without_summed(tensors[0], equation, len(operands))


def without_summed(result, equation, operands):
    if equation.dims == equation.kept:
        return result
    if operands > 1:
        return view_sizes(result, result.array.shape[: equation.kept])
    return result.sum(tuple(range(equation.kept, equation.dims)))


def equation_of(args):
    """The equation and the operands; numbers become letters."""
    if len(args) < 2:
        raise ValueError(
            "einsum(): must specify the equation string and at least one operand, or at least one operand and its subscripts list"
        )
    if not isinstance(args[0], Tensor):
        return args[0], args[1:]
    letters = lambda places: "".join(ELLIPSIS if place is Ellipsis else letter_of(place) for place in places)
    inputs = ",".join(letters(places) for places in args[1::2])
    return inputs + ("->" + letters(args[-1]) if len(args) % 2 else ""), args[: len(args) - len(args) % 2 : 2]


def letter_of(place):
    if not 0 <= place < 52:
        raise ValueError("einsum(): subscript in subscript list is not within the valid range [0, 52)")
    return LETTERS[place]


publish(globals(), functions="einsum")
