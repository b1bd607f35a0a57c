"""torch.distributions.one_hot_categorical: categories as vectors with one one."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.categorical import Categorical
from gradrepl.torch.distributions.distribution import Distribution


class OneHotCategorical(Distribution):
    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support, has_enumerate_support = constraints.one_hot, True
    _param = property(lambda self: self._categorical._param)
    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    mean = property(lambda self: self._categorical.probs)
    variance = property(lambda self: self._categorical.probs * (1 - self._categorical.probs))
    param_shape = property(lambda self: self._categorical.param_shape)

    def __init__(self, probs=None, logits=None, validate_args=None):
        self._categorical = Categorical(probs, logits)
        shape = self._categorical.param_shape
        super().__init__(self._categorical.batch_shape, shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(OneHotCategorical, batch_shape, _instance, ())
        new._categorical = self._categorical.expand(torch.Size(batch_shape))
        return new

    @property
    def mode(self):
        place = self.probs.argmax(dim=-1)
        return torch.nn.functional.one_hot(place, num_classes=self.probs.shape[-1]).to(self.probs)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        indices = self._categorical.sample(torch.Size(sample_shape))
        return torch.nn.functional.one_hot(indices, self._categorical._num_events).to(self.probs)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self):
        return self._categorical.entropy()

    def enumerate_support(self, expand=True):
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype).view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n,) + self.batch_shape + (n,)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """Its samples pass gradients to the probabilities."""

    has_rsample = True

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        samples, probs = self.sample(sample_shape), self._categorical.probs
        return samples + (probs - probs.detach())
