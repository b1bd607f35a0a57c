"""How gamma and Dirichlet samples move with their parameters at a fixed quantile, by the approximations PyTorch uses. Imports NumPy only.

Minus the derivative of the distribution function by the parameter, over the density: a series where samples are small, saddle points where
parameters are large, and rational functions fitted between. It is computed in double precision but for the series of Dirichlet's shares.
"""

import numpy as np

DIGAMMA_SERIES = [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]
# in log(sample / alpha) (rows) and log(alpha): the first four are the numerator, the others the denominator
GAMMA_FIT = np.array(
    [
        [0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084],
        [0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623],
        [0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07],
    ]
)
# numerator and denominator, each in powers of log(sample), of log(alpha / sample), and of the rest of log(total)
DIRICHLET_FIT = np.array(
    [
        [1.003668233, -0.01061107488, -0.0657888334, 0.01201642863],
        [0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033],
        [-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013],
        [0.221950385, -0.3187676331, 0.01799915743, 0.01074823814],
        [-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057],
        [0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05],
        [-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565],
        [0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181],
        [0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05],
        [1, -0.02924021934, -0.04438342661, 0.007285809825],
        [0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521],
        [-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149],
        [0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273],
        [0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956],
        [-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05],
        [0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05],
        [0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05],
        [-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06],
    ]
).reshape(2, 3, 3, 4)


def polynomial(x, coefficients):
    """Of coefficients that stand along the first dimension, lowest power first."""
    value = coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        value = coefficient + x * value
    return value


def stirling(x):
    """What Stirling's formula for x! must be multiplied by."""
    return 1 + 1 / (12 * x) + 1 / (288 * x * x)


def digamma(x):
    """By the asymptotic series above 10, reached in steps of one; logarithm and steps in the array's own precision, as PyTorch has it."""
    summed = np.zeros(x.shape)
    while (small := x < 10).any():
        summed = np.where(small, summed - 1 / x, summed)
        x = np.where(small, x + 1, x)
    square = 1 / (x.astype(np.float64) * x)
    series = square * polynomial(square, DIGAMMA_SERIES)
    return (summed + np.log(x) - x.dtype.type(0.5) / x - series).astype(x.dtype)


def double(*arrays):
    return [array.astype(np.float64, copy=False) for array in arrays]


def choice(regions, otherwise, *arrays):
    """By the first region an array's element lies in: rows of (mask, function)."""
    result, left = np.empty(arrays[0].shape), np.ones(arrays[0].shape, bool)
    with np.errstate(all="ignore"):
        for mask, function in [*regions, (left.copy(), otherwise)]:
            here = mask & left
            if here.any():
                result[here] = function(*[array[here] for array in arrays])
            left &= ~mask
    return result


# ---- gamma


def gamma_gradient(alpha, x):
    """d sample / d alpha of a gamma sample of rate 1."""
    alpha, x = np.broadcast_arrays(*double(alpha, x))
    close = (0.9 * alpha <= x) & (x <= 1.1 * alpha)
    regions = [(x < 0.8, gamma_small), ((alpha > 8) & close, gamma_close), (alpha > 8, gamma_saddle)]
    return choice(regions, gamma_fitted, alpha, x)


def gamma_small(alpha, x):
    power, below = np.ones_like(x), alpha.copy()
    first, second = power / below, power / (below * below)
    for i in range(1, 6):
        power, below = power * (-x / i), below + 1
        first, second = first + power / below, second + power / (below * below)
    whole = np.power(x, alpha)
    slope = (np.log(x) - digamma(alpha)) * whole * first - whole * second
    return np.nan_to_num(-slope / (np.power(x, alpha - 1) * np.exp(-x)), nan=0.0, posinf=np.inf, neginf=-np.inf)


def gamma_close(alpha, x):
    first = 1 + 24 * alpha * (1 + 12 * alpha)
    second = 1440 * alpha * alpha + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    return first * second / (1244160 * alpha**4)


def gamma_saddle(alpha, x):
    spread, distance = np.sqrt(8 * alpha), alpha - x
    bend = np.power(-distance - alpha * np.log(x / alpha), -1.5)
    both = spread / distance + np.where(x < alpha, -bend, bend)
    first = np.log(x / alpha) * both - np.sqrt(2 / alpha) * (alpha + x) / (distance * distance)
    return -(1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))) * x * first / spread


def gamma_fitted(alpha, x):
    rows = polynomial(np.log(x / alpha), GAMMA_FIT[..., None])
    return np.exp(polynomial(np.log(alpha), rows[:4]) / polynomial(np.log(alpha), rows[4:]))


# ---- Dirichlet


def dirichlet_gradient(x, alpha, total):
    """d share / d alpha of a share of a Dirichlet sample, `total` being the sum of all parameters."""
    x, alpha, total = np.broadcast_arrays(x, alpha, total)
    beta, boundary = total - alpha, total * x * (1 - x)
    regions = [
        ((x <= 0.5) & (boundary < 2.5), lambda x, alpha, total: beta_low(x, alpha, total - alpha)),
        ((x >= 0.5) & (boundary < 0.75), lambda x, alpha, total: -beta_high(1 - x, total - alpha, alpha)),
        ((alpha > 6) & (beta > 6), beta_middle),
    ]
    return choice(regions, beta_fitted, x, alpha, total)


def beta_low(x, alpha, beta):
    factor, power = digamma(alpha) - digamma(alpha + beta) - np.log(x), np.ones_like(x)
    series = 1 / alpha * (factor + 1 / alpha)
    for i in range(1, 11):
        power = power * (i - beta) * x / i
        series = series + power / (alpha + i) * (factor + 1 / (alpha + i))
    return np.nan_to_num(x * np.power(1 - x, -beta) * series, nan=0.0, posinf=np.inf, neginf=-np.inf)


def beta_high(x, alpha, beta):
    factor, power = digamma(alpha + beta) - digamma(beta), np.ones_like(x)
    product, slope, series = np.ones_like(x), np.zeros_like(x), factor / alpha
    for i in range(1, 9):
        power = power * -x / i
        slope = slope * (beta - i) + product
        product = product * (beta - i)
        series = series + power / (alpha + i) * (slope + factor * product)
    return np.nan_to_num(-np.power(1 - x, 1 - beta) * series, nan=0.0, posinf=np.inf, neginf=-np.inf)


def beta_middle(x, alpha, total):
    x, alpha, total = double(x, alpha, total)
    beta = total - alpha
    mean, spread = alpha / total, np.sqrt(alpha * beta / (total + 1)) / total
    near = (mean - 0.1 * spread <= x) & (x <= mean + 0.1 * spread)
    return np.where(near, beta_near(x, alpha, beta, total), beta_saddle(x, alpha, beta, total, mean))


def beta_near(x, alpha, beta, total):
    rows = [
        47 * x * beta**4,
        (43 + 20 * (16 + 27 * beta) * x) * beta**3,
        3 * (59 + 180 * beta - 90 * x) * beta**2,
        (453 + 1620 * beta * (1 - x) - 455 * x) * beta,
        8 * (1 - x) * (135 * beta - 11),
    ]
    above = (1 + 12 * alpha) * (1 + 12 * beta) / (total * total)
    return above / (1 - x) * polynomial(alpha, rows) / (12960 * alpha**3 * beta**2 * (1 + 12 * total))


def beta_saddle(x, alpha, beta, total, mean):
    distance = alpha * (x - 1) + beta * x
    first = 2 * alpha**2 * (x - 1) + alpha * beta * (x - 1) - x * beta**2
    first = first / (np.sqrt(2 * alpha / beta) * np.power(total, 1.5) * distance * distance)
    bend = np.power(beta * np.log(beta / (total * (1 - x))) + alpha * np.log(alpha / (total * x)), -1.5)
    both = np.sqrt(8 * alpha * beta / total) / distance + np.where(x < mean, bend, -bend)
    whole = first + 0.5 * np.log(alpha / (total * x)) * both
    return stirling(alpha) * stirling(beta) / stirling(total) * -x / np.sqrt(2 * alpha * beta / total) * whole


def beta_fitted(x, alpha, total):
    first = (digamma(total) - digamma(alpha)).astype(np.float64)
    x, alpha, total = double(x, alpha, total)
    u = np.log(x)
    a = np.log(alpha) - u
    b = np.log(total) - a
    above, below = [polynomial(u, [polynomial(a, [polynomial(b, cell) for cell in row]) for row in half]) for half in DIRICHLET_FIT]
    return above / below * x * first / (total - alpha)
