"""torch.distributions.binomial: the binomial distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


def _clamp_by_zero(x):
    """max(x, 0), with half a gradient at zero."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(Distribution):
    """How many successes of so many tries."""

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    mean = property(lambda self: self.total_count * self.probs)
    mode = property(lambda self: ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count))
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))
    param_shape = property(lambda self: self._param.size())

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        self.total_count, tensor = broadcast_all(total_count, given)
        setattr(self, name, tensor)
        self.total_count, self._param = self.total_count.type_as(tensor), tensor
        super().__init__(self._param.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Binomial, batch_shape, _instance, ("total_count", "probs", "logits", "_param"))

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self.total_count)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        ways = torch.lgamma(value + 1) + torch.lgamma(self.total_count - value + 1)
        softplus = torch.log1p(torch.exp(-torch.abs(self.logits)))
        normalize = self.total_count * _clamp_by_zero(self.logits) + self.total_count * softplus - torch.lgamma(self.total_count + 1)
        return value * self.logits - ways - normalize

    def entropy(self):
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand=True):
        total = int(self.total_count.max())
        if not self.total_count.min() == total:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + total, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
