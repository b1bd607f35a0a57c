"""torch.distributions.cauchy: the Cauchy distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import math
from math import inf, nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, batch_of, broadcast_all


class Cauchy(Distribution):
    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True
    mean = property(lambda self: torch.full(self._extended_shape(), nan, dtype=self.loc.dtype))
    mode = property(lambda self: self.loc)
    variance = property(lambda self: torch.full(self._extended_shape(), inf, dtype=self.loc.dtype))

    def __init__(self, loc, scale, validate_args=None):
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of((loc, scale), self.loc), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Cauchy, batch_shape, _instance, ("loc", "scale"))

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        return self.loc + self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_() * self.scale

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value):
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self):
        return math.log(4 * math.pi) + self.scale.log()
