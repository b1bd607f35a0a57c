"""torch.distributions.wishart: the Wishart distribution of positive definite matrices."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.chi2 import Chi2
from gradrepl.torch.distributions.distribution import lazy_property, normal_draws
from gradrepl.torch.distributions.exp_family import ExponentialFamily
from gradrepl.torch.distributions.multivariate_normal import _precision_to_scale_tril


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
        places = torch.arange(event[-1], dtype=self.df.dtype).expand(batch + (-1,))
        self._dist_chi2 = Chi2(df=self.df.unsqueeze(-1) - places)

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
        return self.whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))

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

    def rsample(self, sample_shape=torch.Size(), max_try_correction=None):  # noqa: B008
        """By Bartlett's decomposition."""
        sample_shape = torch.Size(sample_shape)
        p = self._event_shape[-1]
        noise = self._dist_chi2.rsample(sample_shape).sqrt().diag_embed(dim1=-2, dim2=-1)
        rows, columns = torch.tril_indices(row=p, col=p, offset=-1)
        count = int(p * (p - 1) / 2)
        noise[..., rows, columns] = normal_draws(sample_shape + self._batch_shape + (count,), noise)
        factor = self._unbroadcasted_scale_tril @ noise
        return factor @ factor.mT

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
