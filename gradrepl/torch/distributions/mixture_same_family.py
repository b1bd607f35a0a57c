"""torch.distributions.mixture_same_family: one of several distributions of a family, chosen at random."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.categorical import Categorical
from gradrepl.torch.distributions.distribution import Distribution


class MixtureSameFamily(Distribution):
    arg_constraints: dict = {}
    has_rsample = False
    mixture_distribution = property(lambda self: self._mixture_distribution)
    component_distribution = property(lambda self: self._component_distribution)

    def __init__(self, mixture_distribution, component_distribution, validate_args=None):
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        mixed, components = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(mixed), reversed(components)):
            if one != 1 and other != 1 and one != other:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({mixed}) is not compatible with "
                    f"`component_distribution.batch_shape` ({components})"
                )
        count, total = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if count is not None and total is not None and count != total:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({total})"
            )
        self._num_component, event = total, component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(batch_shape=components, event_shape=event, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        batch_shape = torch.Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand(batch_shape + (self._num_component,))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component, new._event_ndims = self._num_component, self._event_ndims
        Distribution.__init__(new, batch_shape, new._component_distribution.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self):
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    def _pad(self, x):
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x):
        lead = len(self.batch_shape) - len(self._mixture_distribution.batch_shape)
        sizes = x.shape
        return x.reshape(sizes[:-1] + torch.Size(lead * [1]) + sizes[-1:] + torch.Size(self._event_ndims * [1]))

    def over(self, values):
        """The mean of the components' values."""
        return torch.sum(self._pad_mixture_dimensions(self._mixture_distribution.probs) * values, dim=-1 - self._event_ndims)

    @property
    def mean(self):
        return self.over(self._component_distribution.mean)

    @property
    def variance(self):
        inner = self.over(self._component_distribution.variance)
        return inner + self.over((self._component_distribution.mean - self._pad(self.mean)).pow(2.0))

    def cdf(self, x):
        cdf = self._component_distribution.cdf(self._pad(x))
        return torch.sum(cdf * self._mixture_distribution.probs, dim=-1)

    def log_prob(self, x):
        if self._validate_args:
            self._validate_sample(x)
        log_prob = self._component_distribution.log_prob(self._pad(x))
        log_mix = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(log_prob + log_mix, dim=-1)

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        with torch.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            events = self.event_shape
            chosen = self._mixture_distribution.sample(sample_shape)
            samples = self._component_distribution.sample(sample_shape)
            places = chosen.reshape(chosen.shape + torch.Size([1] * (len(events) + 1)))
            places = places.repeat(torch.Size([1] * len(chosen.shape)) + torch.Size([1]) + events)
            return torch.gather(samples, dim, places).squeeze(dim)

    def __repr__(self):
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
