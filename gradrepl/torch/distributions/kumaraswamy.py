"""torch.distributions.kumaraswamy: the Kumaraswamy distribution."""

__name__ = __name__.removeprefix("gradrepl.")

from math import nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import broadcast_all
from gradrepl.torch.distributions.gumbel import EULER
from gradrepl.torch.distributions.transformed_distribution import TransformedDistribution
from gradrepl.torch.distributions.transforms import AffineTransform, PowerTransform
from gradrepl.torch.distributions.uniform import Uniform


def _moments(a, b, n):
    """The n-th moment: b B(1 + n / a, b)."""
    arg = 1 + n / a
    return torch.exp(torch.lgamma(arg) + torch.lgamma(b) - torch.lgamma(arg + b) + torch.log(b))


class Kumaraswamy(TransformedDistribution):
    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support, has_rsample = constraints.unit_interval, True
    mean = property(lambda self: _moments(self.concentration1, self.concentration0, 1))
    variance = property(lambda self: _moments(self.concentration1, self.concentration0, 2) - torch.pow(self.mean, 2))

    def __init__(self, concentration1, concentration0, validate_args=None):
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        base = Uniform(torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1), validate_args=validate_args)
        transforms = [
            PowerTransform(exponent=self.concentration0.reciprocal()),
            AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal()),
        ]
        super().__init__(base, transforms, validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._get_checked_instance(Kumaraswamy, _instance)
        new.concentration1, new.concentration0 = self.concentration1.expand(batch_shape), self.concentration0.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    @property
    def mode(self):
        a, b = self.concentration1, self.concentration0
        mode = (a.reciprocal() * (-b).log1p() - (-a * b).log1p()).exp()
        mode[(b < 1) | (a < 1)] = nan
        return mode

    def entropy(self):
        t1, t0 = 1 - self.concentration1.reciprocal(), 1 - self.concentration0.reciprocal()
        harmonic = torch.digamma(self.concentration0 + 1) + EULER
        return t0 + t1 * harmonic - torch.log(self.concentration1) - torch.log(self.concentration0)
