"""torch.distributions.lkj_cholesky: Cholesky factors of random correlation matrices."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.beta import Beta
from gradrepl.torch.distributions.distribution import Distribution, broadcast_all


class LKJCholesky(Distribution):
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim, concentration=1.0, validate_args=None):
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim, (self.concentration,) = dim, broadcast_all(concentration)
        marginal = self.concentration + 0.5 * (dim - 2)
        offset = torch.arange(dim - 1, dtype=self.concentration.dtype)
        offset = torch.cat([offset.new_zeros((1,)), offset])
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(self.concentration.size(), torch.Size((dim, dim)), validate_args)

    def expand(self, batch_shape, _instance=None):
        new, batch_shape = self._expanded(LKJCholesky, batch_shape, _instance, ("concentration",)), torch.Size(batch_shape)
        new.dim, new._beta = self.dim, self._beta.expand(batch_shape + (self.dim,))
        return new

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        """By the onion method: row after row, a random length in a random direction."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        u = torch.randn(self._extended_shape(sample_shape), dtype=y.dtype).tril(-1)
        sphere = u / u.norm(dim=-1, keepdim=True)
        sphere[..., 0, :].fill_(0.0)
        w = torch.sqrt(y) * sphere
        eps = torch.finfo(w.dtype).tiny
        diagonal = torch.clamp(1 - torch.sum(w**2, dim=-1), min=eps).sqrt()
        return w + torch.diag_embed(diagonal)

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - torch.arange(2, self.dim + 1)
        unnormalized = torch.sum(order * diagonal.log(), dim=-1)
        below = self.dim - 1
        alpha = self.concentration + 0.5 * below
        denominator, numerator = torch.lgamma(alpha) * below, torch.mvlgamma(alpha - 0.5, below)
        return unnormalized - (0.5 * below * math.log(math.pi) + numerator - denominator)
