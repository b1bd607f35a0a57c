"""torch.distributions.kl: the Kullback-Leibler divergence of two distributions, by a table of pairs of families."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import warnings
from functools import total_ordering
from math import inf

from gradrepl import torch
from gradrepl.torch.distributions.bernoulli import Bernoulli
from gradrepl.torch.distributions.beta import Beta
from gradrepl.torch.distributions.binomial import Binomial
from gradrepl.torch.distributions.categorical import Categorical
from gradrepl.torch.distributions.cauchy import Cauchy
from gradrepl.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from gradrepl.torch.distributions.dirichlet import Dirichlet
from gradrepl.torch.distributions.distribution import Distribution, sum_rightmost
from gradrepl.torch.distributions.exp_family import ExponentialFamily
from gradrepl.torch.distributions.exponential import Exponential
from gradrepl.torch.distributions.gamma import Gamma
from gradrepl.torch.distributions.geometric import Geometric
from gradrepl.torch.distributions.gumbel import EULER, Gumbel
from gradrepl.torch.distributions.half_normal import HalfNormal
from gradrepl.torch.distributions.independent import Independent
from gradrepl.torch.distributions.laplace import Laplace
from gradrepl.torch.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis,
)
from gradrepl.torch.distributions.multivariate_normal import MultivariateNormal, _batch_mahalanobis
from gradrepl.torch.distributions.normal import Normal
from gradrepl.torch.distributions.one_hot_categorical import OneHotCategorical
from gradrepl.torch.distributions.pareto import Pareto
from gradrepl.torch.distributions.poisson import Poisson
from gradrepl.torch.distributions.transformed_distribution import TransformedDistribution
from gradrepl.torch.distributions.uniform import Uniform

__all__ = ["register_kl", "kl_divergence"]
_KL_REGISTRY: dict = {}
_KL_MEMOIZE: dict = {}


def register_kl(type_p, type_q):
    """Decorate the formula for a pair of families."""
    if not isinstance(type_p, type) and issubclass(type_p, Distribution):
        raise TypeError(f"Expected type_p to be a Distribution subclass but got {type_p}")
    if not isinstance(type_q, type) and issubclass(type_q, Distribution):
        raise TypeError(f"Expected type_q to be a Distribution subclass but got {type_q}")

    def decorator(function):
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return decorator


@total_ordering
class _Match:
    """Classes in order of generality."""

    __slots__ = ["types"]

    def __init__(self, *types):
        self.types = types

    def __eq__(self, other):
        return self.types == other.types

    def __le__(self, other):
        for x, y in zip(self.types, other.types):
            if not issubclass(x, y):
                return False
            if x is not y:
                break
        return True


def _dispatch_kl(type_p, type_q):
    """The most specific formula, seen from the left; a warning where the right would choose another."""
    matches = [(p, q) for p, q in _KL_REGISTRY if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return NotImplemented
    left_p, left_q = min(_Match(*match) for match in matches).types
    right_q, right_p = min(_Match(*reversed(match)) for match in matches).types
    left, right = _KL_REGISTRY[left_p, left_q], _KL_REGISTRY[right_p, right_q]
    if left is not right:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({left_p.__name__}, {right_q.__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return left


def kl_divergence(p, q):
    key = type(p), type(q)
    function = _KL_MEMOIZE.get(key)
    if function is None:
        function = _KL_MEMOIZE[key] = _dispatch_kl(*key)
    if function is NotImplemented:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {p.__class__.__name__} and q type {q.__class__.__name__}")
    return function(p, q)


def _infinite_like(tensor):
    return torch.full_like(tensor, inf)


def _x_log_x(tensor):
    return torch.special.xlogy(tensor, tensor)


# ---- the same family


@register_kl(Bernoulli, Bernoulli)
def _kl_bernoulli_bernoulli(p, q):
    softplus = torch.nn.functional.softplus
    t1 = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    t1[q.probs == 0] = inf
    t1[p.probs == 0] = 0
    t2 = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    t2[q.probs == 1] = inf
    t2[p.probs == 1] = 0
    return t1 + t2


@register_kl(Beta, Beta)
def _kl_beta_beta(p, q):
    total_p, total_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + total_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + total_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    return t1 - t2 + t3 + t4 + (total_q - total_p) * torch.digamma(total_p)


@register_kl(Binomial, Binomial)
def _kl_binomial_binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    more = p.total_count > q.total_count
    kl[more] = _infinite_like(kl[more])
    return kl


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _kl_continuous_bernoulli_continuous_bernoulli(p, q):
    norm = lambda d: d._cont_bern_log_norm() + torch.log1p(-d.probs)
    return p.mean * (p.logits - q.logits) + norm(p) - norm(q)


@register_kl(Categorical, Categorical)
def _kl_categorical_categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _kl_onehotcategorical_onehotcategorical(p, q):
    return _kl_categorical_categorical(p._categorical, q._categorical)


@register_kl(Dirichlet, Dirichlet)
def _kl_dirichlet_dirichlet(p, q):
    total_p, total_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = total_p.lgamma() - total_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - total_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _kl_exponential_exponential(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _kl_expfamily_expfamily(p, q):
    if type(p) is not type(q):
        gap = " " * 28
        raise NotImplementedError(
            f"The cross KL-divergence between different exponential families cannot {gap}be computed using Bregman divergences"
        )
    params = [param.detach().requires_grad_() for param in p._natural_params]
    normalizer = p._log_normalizer(*params)
    gradients = torch.autograd.grad(normalizer.sum(), params, create_graph=True)
    result = q._log_normalizer(*q._natural_params) - normalizer
    for p_param, q_param, gradient in zip(params, q._natural_params, gradients):
        result = result - sum_rightmost((q_param - p_param) * gradient, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _kl_gamma_gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    return t1 + t2 + t3 + (q.rate - p.rate) * (p.concentration / p.rate)


@register_kl(Gumbel, Gumbel)
def _kl_gumbel_gumbel(p, q):
    ct1, ct2, ct3 = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    t1, t2, t3 = -ct1.log() - ct2 + ct3, ct1 * EULER, torch.exp(ct2 + (1 + ct1).lgamma() - ct3)
    return t1 + t2 + t3 - (1 + EULER)


@register_kl(Geometric, Geometric)
def _kl_geometric_geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _kl_halfnormal_halfnormal(p, q):
    return _kl_normal_normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _kl_laplace_laplace(p, q):
    ratio, away = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + away / q.scale + ratio * torch.exp(-away / p.scale) - 1


@register_kl(MultivariateNormal, MultivariateNormal)
def _kl_multivariatenormal_multivariatenormal(p, q):
    if p.event_shape != q.event_shape:
        gap = " " * 25
        raise ValueError(f"KL-divergence between two Multivariate Normals with {gap}different event shapes cannot be computed")
    half = q.half_log_det() - p.half_log_det()
    batch = torch.broadcast_shapes(q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_scale_tril.shape[:-2])
    n = p.event_shape[0]
    q_tril, p_tril = (x._unbroadcasted_scale_tril.expand(batch + (n, n)) for x in (q, p))
    trace = torch.linalg.solve_triangular(q_tril, p_tril, upper=False).pow(2).sum(-1).sum(-1)
    distance = _batch_mahalanobis(q._unbroadcasted_scale_tril, (q.loc - p.loc))
    return half + 0.5 * (trace + distance - n)


def low_rank_trace(q, p):
    """tr(Q⁻¹ P), by Woodbury's formula."""
    factor, diagonal = q.parts()
    a = factor.mT / diagonal.unsqueeze(-2)
    if isinstance(p, LowRankMultivariateNormal):
        over = (p._unbroadcasted_cov_diag / diagonal).sum(-1)
        roots = p._unbroadcasted_cov_factor * diagonal.rsqrt().unsqueeze(-1)
        whole = over + roots.pow(2).sum(-1).sum(-1)
        parts = a * p._unbroadcasted_cov_diag.sqrt().unsqueeze(-2), a.matmul(p._unbroadcasted_cov_factor)
    else:
        whole = (p._unbroadcasted_scale_tril * diagonal.rsqrt().unsqueeze(-1)).pow(2).sum(-1).sum(-1)
        parts = (a.matmul(p._unbroadcasted_scale_tril),)
    solved = [torch.linalg.solve_triangular(q._capacitance_tril, part, upper=False).pow(2).sum(-1).sum(-1) for part in parts]
    return whole - sum(solved)


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _kl_lowrankmultivariatenormal_lowrankmultivariatenormal(p, q):
    half = _batch_lowrank_logdet(*q.parts(), q._capacitance_tril) - _batch_lowrank_logdet(*p.parts(), p._capacitance_tril)
    distance = _batch_lowrank_mahalanobis(*q.parts(), q.loc - p.loc, q._capacitance_tril)
    return 0.5 * (half + distance + low_rank_trace(q, p) - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _kl_multivariatenormal_lowrankmultivariatenormal(p, q):
    half = _batch_lowrank_logdet(*q.parts(), q._capacitance_tril) - 2 * p.half_log_det()
    distance = _batch_lowrank_mahalanobis(*q.parts(), q.loc - p.loc, q._capacitance_tril)
    return 0.5 * (half + distance + low_rank_trace(q, p) - p.event_shape[0])


@register_kl(Normal, Normal)
def _kl_normal_normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(Pareto, Pareto)
def _kl_pareto_pareto(p, q):
    scale, alpha = p.scale / q.scale, q.alpha / p.alpha
    result = q.alpha * scale.log() - alpha.log() + alpha - 1
    result[p.support.lower_bound < q.support.lower_bound] = inf
    return result


@register_kl(Poisson, Poisson)
def _kl_poisson_poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _kl_transformed_transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _kl_uniform_uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = inf
    return result


@register_kl(Cauchy, Cauchy)
def _kl_cauchy_cauchy(p, q):
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    return t1 - (4 * p.scale * q.scale).log()


@register_kl(Independent, Independent)
def _kl_independent_independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ---- different families


@register_kl(Exponential, Gamma)
def _kl_exponential_gamma(p, q):
    ratio = q.rate / p.rate
    return -q.concentration * torch.log(ratio) + ratio + torch.lgamma(q.concentration) + q.concentration * EULER - (1 + EULER)


@register_kl(Gamma, Exponential)
def _kl_gamma_exponential(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Exponential, Normal)
def _kl_exponential_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    t1 = 0.5 * torch.log(square * variance * 2 * math.pi)
    return t1 - 1 + (square.reciprocal() - q.loc / p.rate + q.loc.pow(2) * 0.5) / variance


@register_kl(Laplace, Normal)
def _kl_laplace_normal(p, q):
    variance = q.scale.pow(2)
    ratio = p.scale.pow(2) / variance
    t1 = 0.5 * torch.log(2 * ratio / math.pi)
    return -t1 + ratio + (0.5 * p.loc.pow(2) - p.loc * q.loc + 0.5 * q.loc.pow(2)) / variance - 1


@register_kl(Normal, Gumbel)
def _kl_normal_gumbel(p, q):
    shift, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    return -0.5 * ratio.log() + shift + torch.exp(-shift + 0.5 * ratio) - (0.5 * (1 + math.log(2 * math.pi)))


@register_kl(Normal, Laplace)
def _kl_normal_laplace(p, q):
    difference = p.loc - q.loc
    ratio, standard = p.scale / q.scale, difference / p.scale
    t1 = torch.log(ratio)
    t2 = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * standard.pow(2))
    t3 = difference * torch.erf(math.sqrt(0.5) * standard)
    return -t1 + (t2 + t3) / q.scale - (0.5 * (1 + math.log(0.5 * math.pi)))


@register_kl(Uniform, Normal)
def _kl_uniform_normal(p, q):
    width = p.high - p.low
    t1 = (math.sqrt(math.pi * 2) * q.scale / width).log()
    return t1 + 0.5 * (width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)) / q.scale.pow(2)


@register_kl(Bernoulli, Poisson)
def _kl_bernoulli_poisson(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Uniform, Gamma)
def _kl_uniform_gamma(p, q):
    width = p.high - p.low
    t1, t2 = width.log(), q.concentration.lgamma() - q.concentration * q.rate.log()
    mean_log = (_x_log_x(p.high) - _x_log_x(p.low) - width) / width
    result = -t1 + t2 + (1 - q.concentration) * mean_log + q.rate * (p.high + p.low) / 2
    result[p.low < q.support.lower_bound] = inf
    return result


@register_kl(Uniform, Exponential)
def _kl_uniform_exponetial(p, q):
    result = q.rate * (p.high + p.low) / 2 - ((p.high - p.low) * q.rate).log()
    result[p.low < q.support.lower_bound] = inf
    return result


def _register_infinite(*pairs):
    """Pairs where q has no mass on some of p's support."""
    for type_p, type_q, like in pairs:
        register_kl(type_p, type_q)(lambda p, q, like=like: _infinite_like(getattr(p, like)))


_register_infinite(
    (Beta, Pareto, "concentration1"), (Exponential, Beta, "rate"), (Exponential, Pareto, "rate"), (Exponential, Uniform, "rate"),
    (Gamma, Beta, "concentration"), (Gamma, Pareto, "concentration"), (Gamma, Uniform, "concentration"), (Laplace, Beta, "loc"),
    (Laplace, Exponential, "loc"), (Laplace, Gamma, "loc"), (Laplace, Pareto, "loc"), (Laplace, Uniform, "loc"), (Normal, Beta, "loc"),
    (Normal, Exponential, "loc"), (Normal, Gamma, "loc"), (Normal, Pareto, "loc"), (Normal, Uniform, "loc"), (Pareto, Beta, "scale"),
    (Pareto, Uniform, "scale"), (Poisson, Bernoulli, "rate"), (Poisson, Binomial, "rate"), (Gumbel, Beta, "loc"),
    (Gumbel, Exponential, "loc"), (Gumbel, Gamma, "loc"), (Gumbel, Pareto, "loc"), (Gumbel, Uniform, "loc"),
)  # fmt: skip
