"""torch.distributions.multivariate_normal: the normal distribution of vectors."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, lazy_property, normal_draws


def _batch_mv(matrix, vector):
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(tril, x):
    """xᵀ (L Lᵀ)⁻¹ x, for any batch shapes."""
    shape = torch.broadcast_shapes(tril.shape[:-2], x.shape[:-1])
    n = x.size(-1)
    solved = torch.linalg.solve_triangular(tril.expand(shape + (n, n)), x.expand(shape + (n,)).unsqueeze(-1), upper=False)
    return solved.pow(2).sum(-2).squeeze(-1)


def _precision_to_scale_tril(precision):
    factor = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.transpose(torch.flip(factor, (-2, -1)), -2, -1)
    return torch.linalg.solve_triangular(inverse, torch.eye(precision.shape[-1], dtype=precision.dtype), upper=False)


class MultivariateNormal(Distribution):
    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support, has_rsample = constraints.real_vector, True
    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = dict(scale_tril=scale_tril, covariance_matrix=covariance_matrix, precision_matrix=precision_matrix)
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        batch = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.loc = loc.expand(batch + (-1,))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        if name == "precision_matrix":
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        else:
            self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else torch.linalg.cholesky(matrix)

    def expand(self, batch_shape, _instance=None):
        names = "loc", "covariance_matrix", "scale_tril", "precision_matrix"
        dims = dict(loc=1, covariance_matrix=2, scale_tril=2, precision_matrix=2)
        new = self._expanded(MultivariateNormal, batch_shape, _instance, names, dims)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def whole(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return self.whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self.whole(torch.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self):
        return self.whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def variance(self):
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        eps = normal_draws(self._extended_shape(sample_shape), self.loc)
        return self.loc + _batch_mv(self._unbroadcasted_scale_tril, eps)

    def half_log_det(self):
        return self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        distance = _batch_mahalanobis(self._unbroadcasted_scale_tril, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + distance) - self.half_log_det()

    def entropy(self):
        entropy = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self.half_log_det()
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
