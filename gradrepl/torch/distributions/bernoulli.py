"""torch.distributions.bernoulli: the Bernoulli distribution."""

__name__ = __name__.removeprefix("gradrepl.")

from math import nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import batch_of, broadcast_all, lazy_property, logits_to_probs, probs_to_logits
from gradrepl.torch.distributions.exp_family import ExponentialFamily


def parametrized(self, probs, logits):
    """Set one of the two, which must be given alone; the parameter, and whether it was a number."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    name, given = ("probs", probs) if probs is not None else ("logits", logits)
    (tensor,) = broadcast_all(given)
    setattr(self, name, tensor)
    self._param = tensor
    return batch_of((given,), tensor)


class Bernoulli(ExponentialFamily):
    """Ones with a probability, else zeros."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support, has_enumerate_support, _mean_carrier_measure = constraints.boolean, True, 0
    mean = property(lambda self: self.probs)
    variance = property(lambda self: self.probs * (1 - self.probs))
    param_shape = property(lambda self: self._param.size())

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(parametrized(self, probs, logits), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Bernoulli, batch_shape, _instance, ("probs", "logits", "_param"))

    def _new(self, *args, **kwargs):
        return self._param.new(*args, **kwargs)

    @property
    def mode(self):
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -torch.nn.functional.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand=True):
        values = torch.arange(2, dtype=self._param.dtype).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values

    _natural_params = property(lambda self: (torch.logit(self.probs),))

    def _log_normalizer(self, x):
        return torch.log(1 + torch.exp(x))
