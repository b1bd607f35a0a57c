"""torch.distributions.continuous_bernoulli: the continuous Bernoulli distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import (
    batch_of,
    broadcast_all,
    clamp_probs,
    lazy_property,
    logits_to_probs,
    probs_to_logits,
)
from gradrepl.torch.distributions.exp_family import ExponentialFamily


class ContinuousBernoulli(ExponentialFamily):
    """On [0, 1], with a density of Bernoulli's form; near one half a Taylor series is used."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support, has_rsample, _mean_carrier_measure = constraints.unit_interval, True, 0
    param_shape = property(lambda self: self._param.size())
    stddev = property(lambda self: torch.sqrt(self.variance))

    def __init__(self, probs=None, logits=None, lims=(0.499, 0.501), validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        (tensor,) = broadcast_all(given)
        setattr(self, name, clamp_probs(tensor) if name == "probs" else tensor)
        self._param, self._lims = self.__dict__[name], lims
        super().__init__(batch_of((given,), tensor), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(ContinuousBernoulli, batch_shape, _instance, ("probs", "logits", "_param"))
        new._lims = self._lims
        return new

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def outside(self):
        return torch.max(torch.le(self.probs, self._lims[0]), torch.gt(self.probs, self._lims[1]))

    def cut(self):
        return torch.where(self.outside(), self.probs, self._lims[0] * torch.ones_like(self.probs))

    def _cont_bern_log_norm(self):
        cut = self.cut()
        below = torch.where(torch.le(cut, 0.5), cut, torch.zeros_like(cut))
        above = torch.where(torch.ge(cut, 0.5), cut, torch.ones_like(cut))
        first = torch.log(torch.abs(torch.log1p(-cut) - torch.log(cut)))
        log_norm = first - torch.where(torch.le(cut, 0.5), torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        return torch.where(self.outside(), log_norm, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x)

    @property
    def mean(self):
        cut = self.cut()
        x = self.probs - 0.5
        mus = cut / (2.0 * cut - 1.0) + 1.0 / (torch.log1p(-cut) - torch.log(cut))
        return torch.where(self.outside(), mus, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x)

    @property
    def variance(self):
        cut = self.cut()
        x = torch.pow(self.probs - 0.5, 2)
        found = cut * (cut - 1.0) / torch.pow(1.0 - 2.0 * cut, 2) + 1.0 / torch.pow(torch.log1p(-cut) - torch.log(cut), 2)
        return torch.where(self.outside(), found, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        with torch.no_grad():
            return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        cut = self.cut()
        found = (torch.pow(cut, value) * torch.pow(1.0 - cut, 1.0 - value) + cut - 1.0) / (2.0 * cut - 1.0)
        inside = torch.where(self.outside(), found, value)
        zeros, ones = torch.zeros_like(value), torch.ones_like(value)
        return torch.where(torch.le(value, 0.0), zeros, torch.where(torch.ge(value, 1.0), ones, inside))

    def icdf(self, value):
        cut = self.cut()
        found = (torch.log1p(-cut + value * (2.0 * cut - 1.0)) - torch.log1p(-cut)) / (torch.log(cut) - torch.log1p(-cut))
        return torch.where(self.outside(), found, value)

    def entropy(self):
        log0, log1 = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (log0 - log1) - self._cont_bern_log_norm() - log0

    _natural_params = property(lambda self: (self.logits,))

    def _log_normalizer(self, x):
        outside = torch.max(torch.le(x, self._lims[0] - 0.5), torch.gt(x, self._lims[1] - 0.5))
        cut = torch.where(outside, x, (self._lims[0] - 0.5) * torch.ones_like(x))
        log_norm = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        return torch.where(outside, log_norm, 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0)
