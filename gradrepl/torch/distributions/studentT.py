"""torch.distributions.studentT: Student's t-distribution."""

__name__ = __name__.removeprefix("gradrepl.")

import math
from math import inf, nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.chi2 import Chi2
from gradrepl.torch.distributions.distribution import Distribution, batch_of, broadcast_all, normal_draws


class StudentT(Distribution):
    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support, has_rsample = constraints.real, True
    mode = property(lambda self: self.loc)

    def __init__(self, df, loc=0.0, scale=1.0, validate_args=None):
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(batch_of((df,), self.df) if isinstance(df, (int, float)) else self.df.size(), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(StudentT, batch_shape, _instance, ("df", "loc", "scale"))
        new._chi2 = self._chi2.expand(torch.Size(batch_shape))
        return new

    @property
    def mean(self):
        mean = self.loc.clone(memory_format=torch.contiguous_format)
        mean[self.df <= 1] = nan
        return mean

    @property
    def variance(self):
        df, variance = self.df, self.df.clone(memory_format=torch.contiguous_format)
        variance[df > 2] = self.scale[df > 2].pow(2) * df[df > 2] / (df[df > 2] - 2)
        variance[(df <= 2) & (df > 1)] = inf
        variance[df <= 1] = nan
        return variance

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        x = normal_draws(self._extended_shape(sample_shape), self.df)
        z = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * torch.rsqrt(z / self.df))

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = self.scale.log() + 0.5 * self.df.log() + 0.5 * math.log(math.pi)
        normalizer = normalizer + torch.lgamma(0.5 * self.df) - torch.lgamma(0.5 * (self.df + 1.0))
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self):
        lbeta = torch.lgamma(0.5 * self.df) + math.lgamma(0.5) - torch.lgamma(0.5 * (self.df + 1))
        slope = torch.digamma(0.5 * (self.df + 1)) - torch.digamma(0.5 * self.df)
        return self.scale.log() + 0.5 * (self.df + 1) * slope + 0.5 * self.df.log() + lbeta
