import torch, torch.distributions as D_
from torch.distributions import constraints
from torch.distributions import *

torch.manual_seed(0)
D = dict(
    Normal=lambda: Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0])),
    Normal0=lambda: Normal(0.0, 1.0),
    Uniform=lambda: Uniform(torch.tensor([0.0]), torch.tensor([5.0])),
    Bernoulli=lambda: Bernoulli(torch.tensor([0.3, 0.5])),
    Categorical=lambda: Categorical(torch.tensor([0.25, 0.25, 0.25, 0.25])),
    Cat2=lambda: Categorical(logits=torch.tensor([[1.0, 2.0, 3.0], [0.0, 0.0, 1.0]])),
    Beta=lambda: Beta(torch.tensor([0.5]), torch.tensor([0.5])),
    Gamma=lambda: Gamma(torch.tensor([1.0, 0.5]), torch.tensor([1.0, 2.0])),
    Dirichlet=lambda: Dirichlet(torch.tensor([0.5, 0.5])),
    Exponential=lambda: Exponential(torch.tensor([1.0])),
    MVN=lambda: MultivariateNormal(torch.zeros(2), torch.eye(2) * 2),
    MVN2=lambda: MultivariateNormal(torch.zeros(2), scale_tril=torch.tensor([[1.0, 0], [0.5, 2]])),
    Laplace=lambda: Laplace(torch.tensor([0.0]), torch.tensor([1.0])),
    LogNormal=lambda: LogNormal(torch.tensor([0.0]), torch.tensor([1.0])),
    Poisson=lambda: Poisson(torch.tensor([4.0, 20.0])),
    Binomial=lambda: Binomial(100, torch.tensor([0.0, 0.2, 0.8, 1.0])),
    Geometric=lambda: Geometric(torch.tensor([0.3])),
    Gumbel=lambda: Gumbel(torch.tensor([1.0]), torch.tensor([2.0])),
    Cauchy=lambda: Cauchy(torch.tensor([0.0]), torch.tensor([1.0])),
    HalfNormal=lambda: HalfNormal(torch.tensor([1.0])),
    HalfCauchy=lambda: HalfCauchy(torch.tensor([1.0])),
    StudentT=lambda: StudentT(torch.tensor([2.0])),
    Chi2=lambda: Chi2(torch.tensor([1.0])),
    FS=lambda: FisherSnedecor(torch.tensor([1.0]), torch.tensor([2.0])),
    Pareto=lambda: Pareto(torch.tensor([1.0]), torch.tensor([1.0])),
    Weibull=lambda: Weibull(torch.tensor([1.0]), torch.tensor([1.0])),
    Multinomial=lambda: Multinomial(100, torch.tensor([1.0, 1.0, 1.0, 1.0])),
    OHC=lambda: OneHotCategorical(torch.tensor([0.25, 0.25, 0.25, 0.25])),
    OHS=lambda: OneHotCategoricalStraightThrough(torch.tensor([0.25, 0.75])),
    Ind=lambda: Independent(Normal(torch.zeros(3), torch.ones(3)), 1),
    TD=lambda: TransformedDistribution(Uniform(0.0, 1.0), [SigmoidTransform().inv, AffineTransform(loc=1.0, scale=2.0)]),
    RB=lambda: RelaxedBernoulli(torch.tensor([2.2]), torch.tensor([0.1, 0.2, 0.3, 0.99])),
    ROH=lambda: RelaxedOneHotCategorical(torch.tensor([2.2]), torch.tensor([0.1, 0.2, 0.3, 0.4])),
    Mix=lambda: MixtureSameFamily(Categorical(torch.ones(5)), Normal(torch.arange(5.0), torch.ones(5))),
    NB=lambda: NegativeBinomial(torch.tensor([5.0]), torch.tensor([0.4])),
    LogitN=lambda: LogisticNormal(torch.tensor([0.0] * 3), torch.tensor([1.0] * 3)),
    Kuma=lambda: Kumaraswamy(torch.tensor([1.0]), torch.tensor([1.0])),
    IG=lambda: InverseGamma(torch.tensor([2.0]), torch.tensor([3.0])),
    CB=lambda: ContinuousBernoulli(torch.tensor([0.3])),
    VM=lambda: VonMises(torch.tensor([1.0]), torch.tensor([1.0])),
    LR=lambda: LowRankMultivariateNormal(torch.zeros(2), torch.tensor([[1.0], [0.0]]), torch.ones(2)),
    LKJ=lambda: LKJCholesky(3, 0.5),
    GP=lambda: GeneralizedPareto(torch.tensor([0.0]), torch.tensor([1.0]), torch.tensor([0.3])),
)
for n, f in D.items():
    torch.manual_seed(1)

    def t(g):
        try:
            print("  ", g())
        except Exception as e:
            print("  !", type(e).__name__, str(e)[:300])

    try:
        d = f()
    except Exception as e:
        print(n, "!!", type(e).__name__, e)
        continue
    print(n)
    t(lambda: d)
    t(lambda: (d.batch_shape, d.event_shape, d.has_rsample, d.support))
    t(lambda: d.sample())
    t(lambda: d.sample((2,)).shape)
    t(lambda: d.sample((2,)))
    torch.manual_seed(2)
    t(lambda: d.log_prob(d.sample()))
    t(lambda: d.entropy())
    t(lambda: d.mean)
    t(lambda: d.variance)
    t(lambda: d.stddev)
    t(lambda: d.mode)
    t(lambda: d.cdf(d.sample()))
    t(lambda: d.icdf(torch.tensor([0.3])))
    t(lambda: d.expand((3,)).batch_shape)
    t(lambda: d.enumerate_support()[:3])
    t(lambda: d.perplexity())
    t(lambda: kl_divergence(d, f()))
    t(lambda: d.log_prob(torch.tensor([100.0, -5.0])))


def t(g):
    try:
        print(g())
    except Exception as e:
        print("!", type(e).__name__, str(e)[:400])


t(lambda: Normal(torch.tensor([1.0]), torch.tensor([-1.0])))
t(lambda: Categorical(torch.tensor([-1.0, 2.0])))
t(lambda: Bernoulli(torch.tensor(1.5)))
t(lambda: Normal(0, 1).log_prob(3))
t(lambda: Bernoulli())
t(lambda: kl_divergence(Normal(0.0, 1.0), Gumbel(0.0, 1.0)))
t(lambda: kl_divergence(Normal(0.0, 1.0), Poisson(1.0)))
t(lambda: kl_divergence(Uniform(0.0, 1.0), Normal(0.0, 1.0)))
t(lambda: Uniform(torch.tensor(2.0), torch.tensor(1.0)))
mu = torch.tensor(0.5, requires_grad=True)
s = torch.tensor(2.0, requires_grad=True)
torch.manual_seed(0)
z = Normal(mu, s).rsample((3,))
print(z)
z.sum().backward()
print(mu.grad, s.grad)
a = torch.tensor([2.0, 0.5], requires_grad=True)
torch.manual_seed(0)
z = Gamma(a, torch.ones(2)).rsample()
print(z)
z.sum().backward()
print(a.grad)
print(
    biject_to(constraints.positive)(torch.tensor([0.0, 1.0])),
    transform_to(constraints.simplex)(torch.tensor([0.0, 1.0])),
    biject_to(constraints.interval(1.0, 3.0))(torch.tensor([0.0, 1.0])),
)
print(
    constraints.positive,
    constraints.interval(0, 1),
    constraints.simplex,
    constraints.real_vector,
    ExpTransform(),
    AffineTransform(0, 1).inv,
)
probs = torch.tensor([0.2, 0.8], requires_grad=True)
m = Categorical(probs)
torch.manual_seed(3)
ac = m.sample()
l = -m.log_prob(ac) * 2
l.backward()
print(ac, l, probs.grad)
print(torch.poisson(torch.rand(2, 2) * 5), torch.binomial(torch.tensor([10.0, 20.0]), torch.tensor([0.3, 0.9])))
