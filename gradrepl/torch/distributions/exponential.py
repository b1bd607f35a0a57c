"""torch.distributions.exponential: the exponential distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import batch_of, broadcast_all
from gradrepl.torch.distributions.exp_family import ExponentialFamily


class Exponential(ExponentialFamily):
    arg_constraints = {"rate": constraints.positive}
    support, has_rsample, _mean_carrier_measure = constraints.nonnegative, True, 0
    mean = stddev = property(lambda self: self.rate.reciprocal())
    mode = property(lambda self: torch.zeros_like(self.rate))
    variance = property(lambda self: self.rate.pow(-2))

    def __init__(self, rate, validate_args=None):
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of((rate,), self.rate), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Exponential, batch_shape, _instance, ("rate",))

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        return self.rate.new_empty(self._extended_shape(sample_shape)).exponential_() / self.rate

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value):
        return -torch.log1p(-value) / self.rate

    def entropy(self):
        return 1.0 - torch.log(self.rate)

    _natural_params = property(lambda self: (-self.rate,))

    def _log_normalizer(self, x):
        return -torch.log(-x)
