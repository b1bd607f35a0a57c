"""torch.distributions: random variables with densities, samples and divergences."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.distributions.kl  # registers the divergences
from gradrepl.torch.distributions.bernoulli import Bernoulli
from gradrepl.torch.distributions.beta import Beta
from gradrepl.torch.distributions.binomial import Binomial
from gradrepl.torch.distributions.categorical import Categorical
from gradrepl.torch.distributions.cauchy import Cauchy
from gradrepl.torch.distributions.chi2 import Chi2
from gradrepl.torch.distributions.constraint_registry import biject_to, transform_to
from gradrepl.torch.distributions.continuous_bernoulli import ContinuousBernoulli
from gradrepl.torch.distributions.dirichlet import Dirichlet
from gradrepl.torch.distributions.distribution import Distribution
from gradrepl.torch.distributions.exp_family import ExponentialFamily
from gradrepl.torch.distributions.exponential import Exponential
from gradrepl.torch.distributions.fishersnedecor import FisherSnedecor
from gradrepl.torch.distributions.gamma import Gamma
from gradrepl.torch.distributions.generalized_pareto import GeneralizedPareto
from gradrepl.torch.distributions.geometric import Geometric
from gradrepl.torch.distributions.gumbel import Gumbel
from gradrepl.torch.distributions.half_cauchy import HalfCauchy
from gradrepl.torch.distributions.half_normal import HalfNormal
from gradrepl.torch.distributions.independent import Independent
from gradrepl.torch.distributions.inverse_gamma import InverseGamma
from gradrepl.torch.distributions.kl import kl_divergence, register_kl
from gradrepl.torch.distributions.kumaraswamy import Kumaraswamy
from gradrepl.torch.distributions.laplace import Laplace
from gradrepl.torch.distributions.lkj_cholesky import LKJCholesky
from gradrepl.torch.distributions.log_normal import LogNormal
from gradrepl.torch.distributions.logistic_normal import LogisticNormal
from gradrepl.torch.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from gradrepl.torch.distributions.mixture_same_family import MixtureSameFamily
from gradrepl.torch.distributions.multinomial import Multinomial
from gradrepl.torch.distributions.multivariate_normal import MultivariateNormal
from gradrepl.torch.distributions.negative_binomial import NegativeBinomial
from gradrepl.torch.distributions.normal import Normal
from gradrepl.torch.distributions.one_hot_categorical import OneHotCategorical, OneHotCategoricalStraightThrough
from gradrepl.torch.distributions.pareto import Pareto
from gradrepl.torch.distributions.poisson import Poisson
from gradrepl.torch.distributions.relaxed_bernoulli import RelaxedBernoulli
from gradrepl.torch.distributions.relaxed_categorical import RelaxedOneHotCategorical
from gradrepl.torch.distributions.studentT import StudentT
from gradrepl.torch.distributions.transformed_distribution import TransformedDistribution
from gradrepl.torch.distributions.transforms import *  # noqa: F403
from gradrepl.torch.distributions.uniform import Uniform
from gradrepl.torch.distributions.von_mises import VonMises
from gradrepl.torch.distributions.weibull import Weibull
from gradrepl.torch.distributions.wishart import Wishart
