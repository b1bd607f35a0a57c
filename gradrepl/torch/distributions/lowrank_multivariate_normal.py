"""torch.distributions.lowrank_multivariate_normal: the normal distribution of vectors, whose covariance is a few factors and a diagonal."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, lazy_property, normal_draws
from gradrepl.torch.distributions.multivariate_normal import _batch_mahalanobis, _batch_mv


def _batch_capacitance_tril(factor, diagonal):
    """The Cholesky factor of I + Wᵀ D⁻¹ W."""
    m = factor.size(-1)
    capacitance = torch.matmul(factor.mT / diagonal.unsqueeze(-2), factor).contiguous()
    capacitance.view(-1, m * m)[:, :: m + 1] += 1
    return torch.linalg.cholesky(capacitance)


def _batch_lowrank_logdet(factor, diagonal, capacitance):
    return 2 * capacitance.diagonal(dim1=-2, dim2=-1).log().sum(-1) + diagonal.log().sum(-1)


def _batch_lowrank_mahalanobis(factor, diagonal, x, capacitance):
    """By Woodbury's formula."""
    inner = _batch_mv(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - _batch_mahalanobis(capacitance, inner)


class LowRankMultivariateNormal(Distribution):
    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support, has_rsample = constraints.real_vector, True
    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc, cov_factor, cov_diag, validate_args=None):
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        batch = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(batch + event), cov_diag.expand(batch + event)
        self.cov_factor = cov_factor.expand(batch + cov_factor.shape[-2:])
        super().__init__(batch, event, validate_args=validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)

    def expand(self, batch_shape, _instance=None):
        dims = dict(loc=1, cov_diag=1, cov_factor=2)
        new = self._expanded(LowRankMultivariateNormal, batch_shape, _instance, tuple(dims), dims)
        for name in ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril"):
            setattr(new, name, getattr(self, name))
        return new

    @lazy_property
    def variance(self):
        total = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return total.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self):
        factor = self._unbroadcasted_cov_factor
        whole = torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag)
        return whole.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self):
        return torch.linalg.cholesky(self.covariance_matrix)

    @lazy_property
    def precision_matrix(self):
        return torch.cholesky_inverse(self.scale_tril)

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        shape = self._extended_shape(sample_shape)
        eps_w, eps_d = normal_draws(shape[:-1] + self.cov_factor.shape[-1:], self.loc), normal_draws(shape, self.loc)
        return self.loc + _batch_mv(self._unbroadcasted_cov_factor, eps_w) + self._unbroadcasted_cov_diag.sqrt() * eps_d

    def parts(self):
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        factor, diagonal = self.parts()
        distance = _batch_lowrank_mahalanobis(factor, diagonal, value - self.loc, self._capacitance_tril)
        log_det = _batch_lowrank_logdet(factor, diagonal, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + distance)

    def entropy(self):
        log_det = _batch_lowrank_logdet(*self.parts(), self._capacitance_tril)
        entropy = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)
        return entropy if len(self._batch_shape) == 0 else entropy.expand(self._batch_shape)
