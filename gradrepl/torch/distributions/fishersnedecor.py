"""torch.distributions.fishersnedecor: Fisher and Snedecor's distribution."""

__name__ = __name__.removeprefix("gradrepl.")

from math import nan

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, batch_of, broadcast_all
from gradrepl.torch.distributions.gamma import Gamma


class FisherSnedecor(Distribution):
    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support, has_rsample = constraints.positive, True

    def __init__(self, df1, df2, validate_args=None):
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(batch_of((df1, df2), self.df1), validate_args=validate_args)

    def expand(self, batch_shape, _instance=None):
        new = self._expanded(FisherSnedecor, batch_shape, _instance, ("df1", "df2"))
        new._gamma1, new._gamma2 = self._gamma1.expand(torch.Size(batch_shape)), self._gamma2.expand(torch.Size(batch_shape))
        return new

    @property
    def mean(self):
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 2] = nan
        return df2 / (df2 - 2)

    @property
    def mode(self):
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        mode[self.df1 <= 2] = nan
        return mode

    @property
    def variance(self):
        df2 = self.df2.clone(memory_format=torch.contiguous_format)
        df2[df2 <= 4] = nan
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape=torch.Size(())):  # noqa: B008
        shape = self._extended_shape(sample_shape)
        first, second = (gamma.rsample(sample_shape).view(shape) for gamma in (self._gamma1, self._gamma2))
        tiny = torch.finfo(second.dtype).tiny
        second.clamp_(min=tiny)
        ratio = first / second
        ratio.clamp_(min=tiny)
        return ratio

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        half1, half2, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        first = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        second = half1 * ratio.log() + (half1 - 1) * torch.log(value)
        return first + second - (half1 + half2) * torch.log1p(ratio * value)
