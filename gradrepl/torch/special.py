"""torch.special: the special functions of the engine under their public names."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.ops.activations import log_softmax, softmax
from gradrepl.engine.ops.reductions import logsumexp
from gradrepl.engine.ops.special import (
    airy_ai,
    bessel_j0,
    bessel_j1,
    bessel_y0,
    bessel_y1,
    chebyshev_polynomial_t,
    chebyshev_polynomial_u,
    chebyshev_polynomial_v,
    chebyshev_polynomial_w,
    digamma,
    entr,
    erf,
    erfc,
    erfcx,
    erfinv,
    hermite_polynomial_h,
    hermite_polynomial_he,
    i0,
    i0e,
    i1,
    i1e,
    laguerre_polynomial_l,
    legendre_polynomial_p,
    log_ndtr,
    modified_bessel_i0,
    modified_bessel_i1,
    modified_bessel_k0,
    modified_bessel_k1,
    ndtr,
    ndtri,
    polygamma,
    scaled_modified_bessel_k0,
    scaled_modified_bessel_k1,
    shifted_chebyshev_polynomial_t,
    shifted_chebyshev_polynomial_u,
    shifted_chebyshev_polynomial_v,
    shifted_chebyshev_polynomial_w,
    spherical_bessel_j0,
    xlog1py,
    xlogy,
    zeta,
)
from gradrepl.engine.ops.special import igamma as gammainc
from gradrepl.engine.ops.special import igammac as gammaincc
from gradrepl.engine.ops.special import lgamma as gammaln
from gradrepl.engine.ops.special import mvlgamma as multigammaln
from gradrepl.engine.ops.unary import exp2, expm1, log1p, logit, sinc
from gradrepl.engine.ops.unary import round_decimals as _round_decimals
from gradrepl.engine.ops.unary import sigmoid as expit
from gradrepl.engine.public import show as _show

psi = digamma


def round(input, *, decimals=0):
    return _round_decimals(input, decimals)


_show(globals(), "special")
