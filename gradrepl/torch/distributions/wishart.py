"""torch.distributions.wishart: the Wishart distribution of positive definite matrices."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import warnings

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.chi2 import Chi2
from gradrepl.torch.distributions.distribution import lazy_property, normal_draws
from gradrepl.torch.distributions.exp_family import ExponentialFamily
from gradrepl.torch.distributions.multivariate_normal import _precision_to_scale_tril

LOW = "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim."


class Wishart(ExponentialFamily):
    arg_constraints = {
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
        "df": constraints.greater_than(0),
    }
    support, has_rsample, _mean_carrier_measure = constraints.positive_definite, True, 0
    mean = property(lambda self: self.df.view(self._batch_shape + (1, 1)) * self.covariance_matrix)

    def __init__(self, df, covariance_matrix=None, precision_matrix=None, scale_tril=None, validate_args=None):
        given = dict(covariance_matrix=covariance_matrix, precision_matrix=precision_matrix, scale_tril=scale_tril)
        given = {name: matrix for name, matrix in given.items() if matrix is not None}
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        ((name, matrix),) = given.items()
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        df = torch.tensor(df, dtype=matrix.dtype) if isinstance(df, (int, float)) else df
        batch, event = torch.broadcast_shapes(matrix.shape[:-2], df.shape), matrix.shape[-2:]
        if df.le(event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        self.df = df.expand(batch)
        setattr(self, name, matrix.expand(batch + (-1, -1)))
        self.arg_constraints = {**type(self).arg_constraints, "df": constraints.greater_than(event[-1] - 1)}
        super().__init__(batch, event, validate_args=validate_args)
        if name == "precision_matrix":
            self._unbroadcasted_scale_tril = _precision_to_scale_tril(matrix)
        else:
            self._unbroadcasted_scale_tril = matrix if name == "scale_tril" else torch.linalg.cholesky(matrix)
        self.set_chi2(batch)
        if self.df.lt(event[-1]).any():
            warnings.warn(LOW, stacklevel=2)

    def set_chi2(self, batch):
        places = torch.arange(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        self._batch_dims = [-(x + 1) for x in range(len(batch))]
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - places.expand(batch + (-1,)))

    def expand(self, batch_shape, _instance=None):
        names = "df", "covariance_matrix", "scale_tril", "precision_matrix"
        new = self._expanded(Wishart, batch_shape, _instance, names, dict.fromkeys(names[1:], 2))
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril.expand(new._batch_shape + new._event_shape)
        new.set_chi2(new._batch_shape)
        return new

    def whole(self, matrix):
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return self.whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self):
        return self.whole(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self):
        factor = self._unbroadcasted_scale_tril
        return self.whole(torch.cholesky_solve(torch.eye(factor.shape[-1], dtype=factor.dtype), factor))

    @property
    def mode(self):
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        factor = torch.where(factor <= 0, torch.nan, factor)
        return factor.view(self._batch_shape + (1, 1)) * self.covariance_matrix

    @property
    def variance(self):
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view(self._batch_shape + (1, 1)) * (v.pow(2) + torch.einsum("...i,...j->...ij", diagonal, diagonal))

    def _bartlett_sampling(self, sample_shape):
        """A product of triangular factors with itself: chi-distributed numbers on the diagonal, normal ones below."""
        p = self._event_shape[-1]
        roots = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = roots.clamp(min=torch.finfo(roots.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(row=p, col=p, offset=-1)
        noise[..., rows, columns] = normal_draws(torch.Size(sample_shape) + self._batch_shape + (p * (p - 1) // 2,), noise)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

    def over_batch(self, mask):
        return mask.amax(self._batch_dims) if self._batch_shape else mask

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):  # noqa: B008
        """PyTorch takes samples that lie in the support for singular ones, and draws them once more: so its numbers come out."""
        sample = self._bartlett_sampling(torch.Size(sample_shape))
        singular = self.over_batch(self.support.check(sample))
        if singular.any():
            warnings.warn("Singular sample detected.", stacklevel=2)
            for _ in range(10 if max_try_correction is None else max_try_correction):
                again = self._bartlett_sampling(singular[singular].shape)
                sample[singular] = again
                singular[singular.clone()] = self.over_batch(~self.support.check(again))
                if not singular.any():
                    break
        return sample

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        nu, p = self.df, self._event_shape[-1]
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        first = -nu * (p * math.log(2.0) / 2.0 + log_det) - torch.mvlgamma(nu / 2.0, p=p)
        solved = torch.cholesky_solve(value, self._unbroadcasted_scale_tril)
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return first + (nu - p - 1) / 2.0 * torch.linalg.slogdet(value).logabsdet - trace / 2.0

    def entropy(self):
        nu, p = self.df, self._event_shape[-1]
        log_det = self._unbroadcasted_scale_tril.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        places = (nu.unsqueeze(-1) - torch.arange(p, dtype=nu.dtype)) / 2
        slope = torch.digamma(places).sum(-1)
        first = (p + 1) * (p * math.log(2.0) / 2.0 + log_det)
        return first + torch.mvlgamma(nu / 2.0, p=p) - (nu - p - 1) / 2.0 * slope + nu * p / 2

    @property
    def _natural_params(self):
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x, y):
        p = self._event_shape[-1]
        shape = y + (p + 1) / 2
        return shape * (-torch.linalg.slogdet(-2 * x).logabsdet + math.log(2.0) * p) + torch.mvlgamma(shape, p=p)
