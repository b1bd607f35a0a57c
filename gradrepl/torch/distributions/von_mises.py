"""torch.distributions.von_mises: the von Mises distribution on the circle."""

__name__ = __name__.removeprefix("gradrepl.")

import math

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch
from gradrepl.torch.distributions.distribution import Distribution, broadcast_all, lazy_property

BESSEL_SMALL = (
    [1.0, 3.5156229, 3.0899424, 1.2067492, 0.2659732, 0.360768e-1, 0.45813e-2],
    [0.5, 0.87890594, 0.51498869, 0.15084934, 0.2658733e-1, 0.301532e-2, 0.32411e-3],
)
BESSEL_LARGE = (
    [0.39894228, 0.1328592e-1, 0.225319e-2, -0.157565e-2, 0.916281e-2, -0.2057706e-1, 0.2635537e-1, -0.1647633e-1, 0.392377e-2],
    [0.39894228, -0.3988024e-1, -0.362018e-2, 0.163801e-2, -0.1031555e-1, 0.2282967e-1, -0.2895312e-1, 0.1787654e-1, -0.420059e-2],
)


def polynomial(y, coefficients):
    *rest, result = coefficients
    for coefficient in reversed(rest):
        result = coefficient + y * result
    return result


def log_bessel(x, order=0):
    """log of the modified Bessel function, by the classical polynomials (Abramowitz and Stegun 9.8)."""
    y = (x / 3.75) ** 2
    small = polynomial(y, BESSEL_SMALL[order])
    small = (x.abs() * small if order == 1 else small).log()
    large = x - 0.5 * x.log() + polynomial(3.75 / x, BESSEL_LARGE[order]).log()
    return torch.where(x < 3.75, small, large)


class VonMises(Distribution):
    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support, has_rsample = constraints.real, False
    mean = mode = property(lambda self: self.loc)

    def __init__(self, loc, concentration, validate_args=None):
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, torch.Size(), validate_args)

    def expand(self, batch_shape, _instance=None):
        new = type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=False)
        new._validate_args = self.__dict__.get("_validate_args")
        return new

    def log_prob(self, value):
        if self._validate_args:
            self._validate_sample(value)
        return self.concentration * torch.cos(value - self.loc) - math.log(2 * math.pi) - log_bessel(self.concentration)

    @lazy_property
    def _proposal_r(self):
        """The parameter of Best and Fisher's wrapped Cauchy proposal; a Taylor series where that is small."""
        kappa = self.concentration.to(torch.double)
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))

    @torch.no_grad()
    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        shape = self._extended_shape(sample_shape)
        loc, kappa, r = (x.to(torch.double).expand(shape) for x in (self.loc, self.concentration, self._proposal_r))
        found, done = torch.empty(shape, dtype=torch.double), torch.zeros(shape, dtype=torch.bool)
        while not done.all():
            u1, u2, u3 = torch.rand((3,) + tuple(shape), dtype=torch.double).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            c = kappa * (r - f)
            accept = ((c * (2 - c) - u2) > 0) | ((c / u2).log() + 1 - c >= 0)
            if accept.any():
                found = torch.where(accept, (u3 - 0.5).sign() * f.acos(), found)
                done = done | accept
        return ((found + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def variance(self):
        return 1 - (log_bessel(self.concentration, order=1) - log_bessel(self.concentration, order=0)).exp()
