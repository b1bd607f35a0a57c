"""Maps of vectors and matrices, and maps that differ along a dimension. Imports torch and constraints."""

__name__ = "torch.distributions.transforms"  # where PyTorch has these classes

import math
from itertools import accumulate

import gradrepl.torch.distributions.constraints as constraints
import gradrepl.torch.nn.functional as F
from gradrepl import torch
from gradrepl.torch.distributions._elementwise import _clipped_sigmoid
from gradrepl.torch.distributions._transform import Transform
from gradrepl.torch.distributions.distribution import sum_rightmost

NOT_LOWER = "Input is not a flattened lower-diagonal number"
NOT_TRIANGULAR = "The size of last dimension is {} which cannot be expressed as the lower triangular part of a square D x D matrix."


def tril_part(shape, error=NOT_LOWER):
    """The side of a matrix whose strictly lower part has so many elements."""
    if len(shape) < 1:
        raise ValueError("Too few dimensions on input")
    n = shape[-1]
    side = round((0.25 + 2 * n) ** 0.5 + 0.5)
    if side * (side - 1) // 2 != n:
        raise ValueError(error.format(n))
    return side


class CorrCholeskyTransform(Transform):
    """Numbers to the Cholesky factor of a correlation matrix."""

    domain, codomain, bijective = constraints.real_vector, constraints.corr_cholesky, True

    def _call(self, x):
        x = torch.tanh(x)
        eps = torch.finfo(x.dtype).eps
        x = x.clamp(min=-1 + eps, max=1 - eps)
        side = tril_part(x.shape, NOT_TRIANGULAR)
        rows, columns = torch.tril_indices(side, side, -1)
        r = x.new_zeros(x.shape[:-1] + (side, side))
        r[..., rows, columns] = x
        left = (1 - r**2).sqrt().cumprod(-1)
        r = r + torch.eye(side, dtype=x.dtype)
        return r * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y):
        left = 1 - torch.cumsum(y * y, dim=-1)
        shifted = F.pad(left[..., :-1], [1, 0], value=1)
        rows, columns = torch.tril_indices(y.shape[-1], y.shape[-1], -1)
        t = y[..., rows, columns] / shifted[..., rows, columns].sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x, y, intermediates=None):
        left = 1 - (y * y).cumsum(dim=-1)
        rows, columns = torch.tril_indices(y.shape[-1], y.shape[-1], -2)
        stick = 0.5 * left[..., rows, columns].log().sum(-1)
        return stick - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(dim=-1)

    def forward_shape(self, shape):
        side = tril_part(shape)
        return shape[:-1] + (side, side)

    def inverse_shape(self, shape):
        if len(shape) < 2:
            raise ValueError("Too few dimensions on input")
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return shape[:-2] + (shape[-1] * (shape[-1] - 1) // 2,)


class SoftmaxTransform(Transform):
    domain, codomain = constraints.real_vector, constraints.simplex
    __hash__ = object.__hash__

    def __eq__(self, other):
        return isinstance(other, SoftmaxTransform)

    def _call(self, x):
        probs = (x - x.max(-1, True)[0]).exp()
        return probs / probs.sum(-1, True)

    def _inverse(self, y):
        return y.log()


class StickBreakingTransform(Transform):
    """Numbers to a vector of probabilities: what is broken off a stick, and the rest."""

    domain, codomain, bijective = constraints.real_vector, constraints.simplex, True
    __hash__ = object.__hash__

    def __eq__(self, other):
        return isinstance(other, StickBreakingTransform)

    def _call(self, x):
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        z = _clipped_sigmoid(x - offset.log())
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y):
        part = y[..., :-1]
        offset = y.shape[-1] - part.new_ones(part.shape[-1]).cumsum(-1)
        left = torch.clamp(1 - part.cumsum(-1), min=torch.finfo(y.dtype).tiny)
        return part.log() - left.log() + offset.log()

    def log_abs_det_jacobian(self, x, y):
        offset = x.shape[-1] + 1 - x.new_ones(x.shape[-1]).cumsum(-1)
        x = x - offset.log()
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape):
        if len(shape) < 1:
            raise ValueError("Too few dimensions on input")
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(Transform):
    domain, codomain = constraints.independent(constraints.real, 2), constraints.lower_cholesky
    __hash__ = object.__hash__

    def __eq__(self, other):
        return isinstance(other, LowerCholeskyTransform)

    def _call(self, x):
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y):
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Transform):
    domain, codomain = constraints.independent(constraints.real, 2), constraints.positive_definite
    __hash__ = object.__hash__

    def __eq__(self, other):
        return isinstance(other, PositiveDefiniteTransform)

    def _call(self, x):
        x = LowerCholeskyTransform()(x)
        return x @ x.mT

    def _inverse(self, y):
        return LowerCholeskyTransform().inv(torch.linalg.cholesky(y))


def with_caches(transforms, cache_size):
    if not all(isinstance(t, Transform) for t in transforms):
        raise AssertionError("All elements of tseq must be Transform instances")
    return [t.with_cache(cache_size) if cache_size else t for t in transforms]


def check_place(name, tensor, dim, needed, length):
    if not -tensor.dim() <= dim < tensor.dim():
        raise AssertionError(f"dim {dim} out of range for tensor with {tensor.dim()} dimensions")
    if tensor.size(dim) != length:
        raise AssertionError(f"{name}.size({dim}) = {tensor.size(dim)} must equal {needed}")


class CatTransform(Transform):
    """Different maps along a dimension, each for a length."""

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.transforms = with_caches(tseq, cache_size)
        self.lengths, self.dim = [1] * len(self.transforms) if lengths is None else list(lengths), dim
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    event_dim = property(lambda self: max(t.event_dim for t in self.transforms))
    length = property(lambda self: sum(self.lengths))
    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def slices(self, x, name="x"):
        check_place(name, x, self.dim, f"length {self.length}", self.length)
        starts = accumulate([0, *self.lengths[:-1]])
        return [x.narrow(self.dim, start, length) for start, length in zip(starts, self.lengths)]

    def _call(self, x):
        return torch.cat([t(part) for t, part in zip(self.transforms, self.slices(x))], dim=self.dim)

    def _inverse(self, y):
        return torch.cat([t.inv(part) for t, part in zip(self.transforms, self.slices(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        parts = []
        for t, before, after in zip(self.transforms, self.slices(x), self.slices(y, "y")):
            part = t.log_abs_det_jacobian(before, after)
            parts.append(sum_rightmost(part, self.event_dim - t.event_dim) if t.event_dim < self.event_dim else part)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(parts, dim=dim) if dim < 0 else sum(parts)

    @constraints.dependent_property
    def domain(self):
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self):
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Transform):
    """Different maps at the places of a dimension."""

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(cache_size=cache_size)
        self.transforms, self.dim = with_caches(tseq, cache_size), dim

    bijective = property(lambda self: all(t.bijective for t in self.transforms))

    def with_cache(self, cache_size=1):
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def slices(self, z, name="x"):
        check_place(name, z, self.dim, f"len(transforms) {len(self.transforms)}", len(self.transforms))
        return [z.select(self.dim, i) for i in range(z.size(self.dim))]

    def _call(self, x):
        return torch.stack([t(part) for t, part in zip(self.transforms, self.slices(x))], dim=self.dim)

    def _inverse(self, y):
        return torch.stack([t.inv(part) for t, part in zip(self.transforms, self.slices(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x, y):
        parts = zip(self.transforms, self.slices(x), self.slices(y, "y"))
        return torch.stack([t.log_abs_det_jacobian(before, after) for t, before, after in parts], dim=self.dim)

    @constraints.dependent_property
    def domain(self):
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self):
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
