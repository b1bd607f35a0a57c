"""check finds no disagreement in what the embedded engine differentiates, in float64."""

import pytest

from gradrepl import insight, torch
from gradrepl.insight.check import check

F = torch.nn.functional
# x, y: 2 by 3, between 0 and 1, no ties; s: with negative values; v: 3; m: 3 by 3, well conditioned; c: 1 by 2 by 5
UNARY = """
    abs acos acosh(x+1.5) asin asinh atan atanh ceil cos cosh deg2rad digamma(x+1) erf erfc erfinv(x*0.9) exp exp2 expm1 floor frac
    lgamma(x+1) log log10 log1p log2 logit neg positive rad2deg reciprocal round rsqrt sigmoid sign sin sinc sinh sqrt square tan tanh trunc
    i0 special.i0e special.i1 special.i1e special.ndtr special.log_ndtr special.ndtri special.erfcx special.entr special.xlog1py(x,y)
"""
TEXTS = """
    x + y; x - y; x * y; x / y; x ** 2; x ** 0.5; x ** y; 2 ** x; 3 - x; 1 / x; x + 2 * y; torch.add(x, y, alpha=3); -x
    torch.maximum(x, y); torch.minimum(x, y); torch.fmax(x, y); torch.atan2(x, y); torch.hypot(x, y); torch.logaddexp(x, y)
    torch.logaddexp2(x, y); torch.xlogy(x, y); torch.lerp(x, y, 0.3); torch.addcmul(x, y, y, value=2); torch.addcdiv(x, y, y + 1)
    torch.copysign(x, s); torch.where(s > 0, x, y); torch.clamp(s, -0.5, 0.5); torch.polygamma(1, x + 1); torch.mvlgamma(x + 2, 2)
    torch.nan_to_num(x); torch.float_power(x, 3); torch.ldexp(x, y); x.sum(); x.sum(1); x.sum(0, keepdim=True); x.mean(); x.mean(1)
    x.prod(); x.prod(1); x.var(); x.var(0); x.std(); x.std(1, correction=0); x.norm(); torch.linalg.vector_norm(x, 3)
    torch.linalg.norm(m); x.logsumexp(1); x.cumsum(1); x.cumprod(1); x.logcumsumexp(1); x.max(); x.max(1); x.min(0); x.amax(1)
    x.amin(); x.median(); x.nansum(); x.nanmean(); x.aminmax(); x.sort(1); x.topk(2, 1); x.kthvalue(2, 1); x.cummax(1)
    x.renorm(2, 0, 0.5); torch.dist(x, y); torch.trapezoid(x); x @ m; m @ m; v @ v; m @ v; torch.mv(m, v); torch.dot(v, v)
    torch.outer(v, v); torch.addmm(x, x, m, beta=0.5, alpha=2); torch.bmm(b, b); torch.einsum("ij,jk->ik", x, m); torch.kron(v, v)
    torch.trace(m); torch.det(m); torch.logdet(m @ m.T + m.new_ones(3).diag()); torch.inverse(m); torch.linalg.solve(m, v)
    torch.cross(v, 2 * v + 1, 0); torch.linalg.cholesky(m @ m.T + m.new_ones(3).diag()); torch.linalg.matrix_exp(m * 0.1)
    torch.linalg.multi_dot([m, m, v]); torch.cdist(x, y); torch.tensordot(x, m, 1); x.T; x.t().contiguous(); x.reshape(3, 2); x.view(6)
    x[0]; x[:, 1:]; x[..., ::2]; x[[0, 1], [2, 0]]; x[s > 0]; x.flip(1); x.roll(1, 1); x.repeat(2, 1); x.expand(2, 2, 3)
    torch.cat([x, y]); torch.stack([x, y]); x.unbind(); x.split(2, 1); x.chunk(3, 1); x.unsqueeze(1); x[None].squeeze(0)
    x.permute(1, 0); x.diag_embed(); m.diagonal(); m.tril(); m.triu(1); x.gather(1, i); x.index_select(1, i[0]); x.take(i[0])
    x.masked_fill(s > 0, 2.0); x.masked_select(s > 0); torch.scatter(x, 1, i, y); torch.scatter_add(x, 1, i, y); x.unfold(1, 2, 1)
    x.index_add(0, i[1, :2], y); x.clone().index_fill(1, i[0, :1], 0.0); torch.take_along_dim(x, i, 1); torch.broadcast_to(v, (2, 3))
    x.movedim(0, 1); x.flatten(); torch.tile(v, (2,)); F.relu(s); F.leaky_relu(s); F.elu(s); F.selu(s); F.celu(s); F.gelu(s); F.silu(s)
    F.mish(s); F.softplus(s); F.softsign(s); F.logsigmoid(s); F.hardtanh(s); F.hardsigmoid(s); F.hardswish(s); F.relu6(s)
    F.softshrink(s); F.hardshrink(s); F.tanhshrink(s); F.threshold(s, 0.1, 5.0); F.glu(b); F.prelu(s, v[:1]); F.softmax(x, 1)
    F.log_softmax(x, 1); F.softmin(x, 1); F.mse_loss(x, y); F.l1_loss(x, y); F.smooth_l1_loss(x, y); F.huber_loss(x, y)
    F.cross_entropy(x, i[:, 0]); F.nll_loss(x, i[:, 0]); F.binary_cross_entropy(x, y); F.binary_cross_entropy_with_logits(s, y)
    F.kl_div(x, y, reduction="batchmean"); F.poisson_nll_loss(x, y); F.gaussian_nll_loss(x, y, x + 1)
    F.soft_margin_loss(x, s.detach().sign()); F.cosine_similarity(x, y); F.linear(x, m); F.bilinear(x, y, b3); F.normalize(x)
    F.layer_norm(x, (3,), v, v); F.pad(x, (1, 1)); F.conv1d(c, w); F.avg_pool1d(c, 2); F.max_pool1d(c, 2); F.embedding(i, m)
    F.interpolate(c, scale_factor=2); F.pairwise_distance(x, y); F.cosine_embedding_loss(x, y, s[:, 0].detach().sign())
    F.margin_ranking_loss(v, 2 * v, v.detach().sign()); F.scaled_dot_product_attention(b, b, b)
"""


def expressions():
    for name in UNARY.split():
        yield f"torch.{name}" if "(" in name else f"torch.{name}(x)"
    for line in TEXTS.split("\n"):
        yield from (text.strip() for text in line.split(";") if text.strip())


def tensors():
    def double(values):
        return torch.tensor(values, dtype=torch.float64, requires_grad=True)

    return {
        "x": double([[0.31, 0.82, 0.56], [0.17, 0.93, 0.44]]),
        "y": double([[0.62, 0.25, 0.71], [0.88, 0.39, 0.53]]),
        "s": double([[-0.9, 0.4, -0.3], [0.7, -0.2, 0.95]]),
        "v": double([0.7, 0.2, 1.1]),
        "m": double([[2.0, 0.3, 0.1], [0.4, 1.5, 0.2], [0.15, 0.25, 1.8]]),
        "b": double([[[0.3, 0.8], [0.5, 0.1]], [[0.9, 0.2], [0.4, 0.6]]]),
        "b3": double([[[0.3, 0.8, 0.1], [0.5, 0.1, 0.9], [0.2, 0.6, 0.4]]]),
        "c": double([[[0.3, 0.8, 0.1, 0.95, 0.45], [0.5, 0.15, 0.9, 0.25, 0.7]]]),
        "w": double([[[0.5, -0.3], [0.2, 0.8]]]),
        "i": torch.tensor([[0, 2, 1], [1, 0, 2]]),
    }


@pytest.mark.parametrize("text", list(expressions()))
def test_derivatives_agree(text):
    insight.stop()
    every = tensors()
    code = compile(text, "<expression>", "eval")
    names = [name for name in code.co_names if name in every and every[name].requires_grad]
    space = {"torch": torch, "F": F, **every}

    def f(*values):
        found = eval(code, space | dict(zip(names, values, strict=True)))
        return [t for t in (found if isinstance(found, (tuple, list)) else [found]) if t.is_floating_point()]

    result = check(f, *(every[name] for name in names))
    assert all(c.ok or "kink" in c.hint for c in result.comparisons), result
