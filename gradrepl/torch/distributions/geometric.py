"""torch.distributions.geometric: the geometric distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.bernoulli import parametrized
from gradrepl.torch.distributions.distribution import Distribution, broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class Geometric(Distribution):
    """How many failures before a success."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    mean = property(lambda self: 1.0 / self.probs - 1.0)
    mode = property(lambda self: torch.zeros_like(self.probs))
    variance = property(lambda self: (1.0 / self.probs - 1.0) / self.probs)

    def __init__(self, probs=None, logits=None, validate_args=None):
        super().__init__(parametrized(self, probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            if not (value > 0).all():
                bad = value.data[~(value > 0)]
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to be "
                    f"positive but found invalid values:\n{bad}"
                )

    def expand(self, batch_shape, _instance=None):
        return self._expanded(Geometric, batch_shape, _instance, ("probs", "logits", "_param"))

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs, is_binary=True)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits, is_binary=True)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        tiny = torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new_empty(self._extended_shape(sample_shape)).uniform_(tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self):
        return torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
