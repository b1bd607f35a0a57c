"""Samples that move with their parameters: gamma and its kin, Dirichlet, beta, Wishart; and maps of vectors that refuse."""

import warnings

import torch
from torch import distributions as D

warnings.simplefilter("ignore")
a = torch.tensor([0.7, 1.5, 3.0], requires_grad=True)
MAKERS = {
    "Dirichlet": lambda a: D.Dirichlet(a),
    "Dirichlet of batches": lambda a: D.Dirichlet(a.expand(2, 3)),
    "Dirichlet, large": lambda a: D.Dirichlet(a * 20),
    "Beta": lambda a: D.Beta(a, a.flip(0)),
    "Beta, large": lambda a: D.Beta(a * 1000, a * 900),
    "Beta, uneven": lambda a: D.Beta(a * 30, a / 20),
    "Gamma": lambda a: D.Gamma(a, a),
    "Gamma, large": lambda a: D.Gamma(a * 50, 1.0),
    "Gamma, small": lambda a: D.Gamma(a / 50, 1.0),
    "Chi2": lambda a: D.Chi2(a),
    "StudentT": lambda a: D.StudentT(a),
    "FisherSnedecor": lambda a: D.FisherSnedecor(a, a * 2),
    "InverseGamma": lambda a: D.InverseGamma(a, a),
    "Wishart": lambda a: D.Wishart(a.sum() + 3, torch.eye(2)),
    "Wishart of batches": lambda a: D.Wishart(torch.tensor(4.0), torch.eye(3)).expand((2,)),
}
for seed, (name, make) in enumerate(MAKERS.items()):
    torch.manual_seed(seed)
    a.grad = None
    sample = make(a).rsample(() if name == "Wishart" else (2,))
    print(name, sample)
    if sample.requires_grad:
        (sample * torch.arange(1.0, sample.numel() + 1).view(sample.shape)).sum().backward()
    print(a.grad)

try:
    torch.autograd.grad(torch.autograd.grad(D.Gamma(a, 1.0).rsample().sum(), a, create_graph=True)[0].sum(), a)
except NotImplementedError as e:
    print(e)
try:
    torch.autograd.grad(torch.autograd.grad(D.Dirichlet(a).rsample().prod(), a, create_graph=True)[0].sum(), a)
except RuntimeError as e:
    print(str(e).split(".")[0])
drawn = torch._sample_dirichlet(a)
print(drawn.requires_grad, type(drawn.grad_fn).__name__, type(torch._standard_gamma(a).grad_fn).__name__)

w = D.Wishart(torch.tensor(3.0), torch.tensor([[2.0, 0.5], [0.5, 1.0]]))
print(w, w.expand((3,)), w.mean, w.variance, w.mode, w.entropy(), w.precision_matrix, w.scale_tril)
print(D.kl_divergence(w, D.Wishart(torch.tensor(4.0), torch.eye(2))), w.log_prob(torch.eye(2)))

x, square = torch.tensor([0.1, 0.5, 0.3]), torch.tensor([[0.3, 0.1], [0.2, 0.6]])
for refused in (
    lambda: D.CatTransform([D.ExpTransform(), D.ExpTransform()], lengths=[1, 2])(square),
    lambda: D.CatTransform([D.ExpTransform()], lengths=[1, 2]),
    lambda: D.StackTransform([D.ExpTransform(), D.TanhTransform()])(x),
    lambda: D.StackTransform([D.ExpTransform(), 3]),
    lambda: D.StackTransform([D.ExpTransform()], dim=2)(x),
    lambda: D.CorrCholeskyTransform()(square),
    lambda: D.CorrCholeskyTransform().forward_shape((2,)),
    lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), 3),
    lambda: D.TransformedDistribution(D.Normal(0.0, 1.0), [3]),
    lambda: D.Normal(0.0, 1.0).rsample(3),
    lambda: torch._standard_gamma(torch.tensor([1])),
):
    try:
        print(refused())
    except Exception as e:
        print(type(e).__name__, e)
print(D.transforms.ExpTransform, D.StickBreakingTransform()(x), D.CorrCholeskyTransform()(x), D.constraints.corr_cholesky)
