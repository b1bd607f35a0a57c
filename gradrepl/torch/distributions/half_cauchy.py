"""torch.distributions.half_cauchy: the absolute value of Cauchy numbers."""

__name__ = __name__.removeprefix("gradrepl.")

import math
from math import inf

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.cauchy import Cauchy
from gradrepl.torch.distributions.transformed_distribution import TransformedDistribution
from gradrepl.torch.distributions.transforms import AbsTransform


class HalfCauchy(TransformedDistribution):
    arg_constraints = {"scale": constraints.positive}
    support, has_rsample = constraints.nonnegative, True
    scale = property(lambda self: self.base_dist.scale)
    mean = property(lambda self: torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype))
    mode = property(lambda self: torch.zeros_like(self.scale))
    variance = property(lambda self: self.base_dist.variance)

    def __init__(self, scale, validate_args=None):
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = torch.as_tensor(value, dtype=self.base_dist.scale.dtype)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -inf)

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob):
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self):
        return self.base_dist.entropy() - math.log(2)
