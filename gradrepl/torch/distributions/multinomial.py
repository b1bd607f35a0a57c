"""torch.distributions.multinomial: the multinomial distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.binomial import Binomial
from gradrepl.torch.distributions.categorical import Categorical
from gradrepl.torch.distributions.distribution import Distribution, broadcast_all


class Multinomial(Distribution):
    """How often each category came up in so many draws."""

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    mean = property(lambda self: self.probs * self.total_count)
    variance = property(lambda self: self.total_count * self.probs * (1 - self.probs))
    probs = property(lambda self: self._categorical.probs)
    logits = property(lambda self: self._categorical.logits)
    param_shape = property(lambda self: self._categorical.param_shape)

    def __init__(self, total_count=1, probs=None, logits=None, validate_args=None):
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count, self._categorical = total_count, Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(Multinomial, batch_shape, _instance, ())
        new.total_count, new._categorical = self.total_count, self._categorical.expand(torch.Size(batch_shape))
        return new

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self):
        return constraints.multinomial(self.total_count)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        sample_shape = torch.Size(sample_shape)
        samples = self._categorical.sample(torch.Size((self.total_count,)) + sample_shape)
        order = list(range(samples.dim()))
        order.append(order.pop(0))
        samples = samples.permute(*order)
        counts = samples.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, samples, torch.ones_like(samples))
        return counts.type_as(self.probs)

    def entropy(self):
        n, entropy = torch.tensor(self.total_count), self._categorical.entropy()
        support = self._binomial.enumerate_support(expand=False)[1:]
        weighed = (torch.exp(self._binomial.log_prob(support)) * torch.lgamma(support + 1)).sum([0, -1])
        return n * entropy - torch.lgamma(n + 1) + weighed

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        ways = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits[(value == 0) & (logits == -torch.inf)] = 0
        return ways + (logits * value).sum(-1)
