"""torch.distributions.categorical: the categorical distribution."""

__name__ = __name__.removeprefix("gradrepl.")

from math import nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, lazy_property, logits_to_probs, probs_to_logits


class Categorical(Distribution):
    """Numbers of categories, each with a probability."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    param_shape = property(lambda self: self._param.size())
    mean = variance = property(lambda self: torch.full(self._extended_shape(), nan, dtype=self.probs.dtype))
    mode = property(lambda self: self.probs.argmax(dim=-1))

    def __init__(self, probs=None, logits=None, validate_args=None):
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        name, given = ("probs", probs) if probs is not None else ("logits", logits)
        if given.dim() < 1:
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if probs is not None:
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._param = self.__dict__[name]
        self._num_events = self._param.size()[-1]
        super().__init__(self._param.size()[:-1] if self._param.ndimension() > 1 else torch.Size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        names = ("probs", "logits", "_param")
        new = self._expanded(Categorical, batch_shape, _instance, names, dict.fromkeys(names, 1))
        new._num_events = self._num_events
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self):
        return constraints.integer_interval(0, self._num_events - 1)

    @lazy_property
    def logits(self):
        return probs_to_logits(self.probs)

    @lazy_property
    def probs(self):
        return logits_to_probs(self.logits)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        sample_shape = torch.Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        samples = torch.multinomial(rows, sample_shape.numel(), True).T
        return samples.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self):
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand=True):
        values = torch.arange(self._num_events, dtype=torch.long).view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1,) + self._batch_shape) if expand else values
