"""torch.distributions.exp_family: exponential families, whose entropy follows from their log normaliser."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution


class ExponentialFamily(Distribution):
    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """By Bregman divergences of the log normaliser."""
        result = -self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*params)
        gradients = torch.autograd.grad(normalizer.sum(), params, create_graph=True)
        result = result + normalizer
        for param, gradient in zip(params, gradients):
            part = param * gradient
            result = result - part.reshape(self._batch_shape + (-1,)).sum(-1)
        return result
