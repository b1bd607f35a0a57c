"""torch.distributions.generalized_pareto: the generalised Pareto distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, batch_of, broadcast_all


class GeneralizedPareto(Distribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    mode = property(lambda self: self.loc)

    def __init__(self, loc, scale, concentration, validate_args=None):
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(batch_of((loc, scale, concentration), self.loc), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(GeneralizedPareto, batch_shape, _instance, ("loc", "scale", "concentration"))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self):
        upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, upper)

    def near_zero(self):
        return torch.isclose(self.concentration, self.concentration.new_zeros(()))

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z, zero = self._z(value), self.near_zero()
        safe = torch.where(zero, torch.ones_like(self.concentration), self.concentration)
        where = 1 / safe + torch.ones_like(z)
        return -torch.where(zero, z, where * torch.log1p(z * safe)) - self.scale.log()

    def _z(self, x):
        return (x - self.loc) / self.scale

    def log_survival_function(self, value):
        if self._validate_args:
            self._validate_sample(value)
        z, zero = self._z(value), self.near_zero()
        safe = torch.where(zero, torch.ones_like(self.concentration), self.concentration)
        return torch.where(zero, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value):
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value):
        return torch.exp(self.log_cdf(value))

    def icdf(self, value):
        zero = self.near_zero()
        safe = torch.where(zero, torch.ones_like(self.concentration), self.concentration)
        log_u = torch.log1p(-value)
        heavy = self.loc + self.scale * torch.expm1(-safe * log_u) / safe
        return torch.where(zero, self.loc - self.scale * log_u, heavy)

    @property
    def mean(self):
        fits = self.concentration < 1
        safe = torch.where(fits, self.concentration, 0.5)
        return torch.where(fits, self.loc + self.scale / (1 - safe), math.inf)

    @property
    def variance(self):
        fits = self.concentration < 0.5
        safe = torch.where(fits, self.concentration, 0.25)
        result = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)) + torch.zeros_like(self.loc)
        return torch.where(fits, result, math.inf)

    def entropy(self):
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)
