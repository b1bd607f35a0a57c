"""explain: the listing, the chain rule, and LaTeX that parses."""

import re

import pytest

from gradrepl.insight.algebra import latex, local_derivative, substituted
from gradrepl.insight.explain import explain
from tests.insight.engines import torch  # noqa: F401, a fixture


def test_listing_and_chain_rule(torch):  # noqa: F811
    x = torch.tensor(3.0, requires_grad=True)
    b = torch.tensor(0.5, requires_grad=True)
    h = x * 2 + b
    y = h**2 / x
    assert re.sub(r" +$", "", str(explain(y, names={"x": x, "b": b, "h": h, "y": y})), flags=re.M) == EXPLAINED


EXPLAINED = """\
n6 = x * 2
     MulBackward0 n6, saved other
     ∂/∂x: grad * other
h  = n6 + b  = 6.5
     AddBackward0 n4
     ∂/∂n6: grad
     ∂/∂b: maybe_multiply(grad, alpha)  =  grad * alpha
n3 = h ** 2  = 42.25
     PowBackward0 n3, saved self = h
     ∂/∂h: pow_backward(grad, self, exponent)  =  grad * exponent * self ** (exponent - 1)
y  = n3 / x  = 14.08
     DivBackward0 n1, saved self, other = x
     ∂/∂n3: grad / other
     ∂/∂x: -grad * (self / other / other)

∂y/∂x = ∂y/∂n3 · ∂n3/∂h · ∂h/∂n6 · ∂n6/∂x + ∂y/∂x
      = (1 / x) · (2 * h) · 1 · 2 + -(n3 / x / x)
∂y/∂b = ∂y/∂n3 · ∂n3/∂h · ∂h/∂b
      = (1 / x) · (2 * h) · 1"""


def test_many_ways_are_counted_not_written(torch):  # noqa: F811
    x = torch.tensor(1.1, requires_grad=True)
    y = x
    for _ in range(40):
        y = y * x
    (chain,) = explain(y, names={"x": x, "y": y}).chains
    assert len(chain.paths) == 6 and chain.more == 35
    z = x
    for _ in range(60):
        z = z * z
    (chain,) = explain(z, names={"x": x, "z": z}).chains
    assert chain.more == 2**60 - 6


def test_latex_is_balanced(torch):  # noqa: F811
    x = torch.tensor([0.5, 1.5], requires_grad=True)
    w_1 = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    text = explain(torch.relu(w_1 @ x).exp().sum() / x.sum(), names={"x": x, "w_1": w_1}).latex
    assert text.startswith("\\begin{align*}") and text.endswith("\\end{align*}")
    assert balanced(text)


def balanced(text):
    depth = 0
    for piece in re.findall(r"\\[{}]|[{}]", text):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        assert depth >= 0
    return depth == 0 and text.count(r"\left") == text.count(r"\right")


@pytest.mark.parametrize(
    "source, expected",
    [
        ("2 * x ** 2", r"2 \, x^{2}"),
        ("(a + b) * c", r"\left(a + b\right) \, c"),
        ("a - (b - c)", r"a - \left(b - c\right)"),
        ("1 / (1 + exp(-theta))", r"\frac{1}{1 + \exp\left(-\theta\right)}"),
        ("x.sin()", r"\sin\left(x\right)"),
        ("grad @ mat2.T", r"\mathit{grad} \, \mathit{mat}_{2}^{T}"),
        ("result > 0", r"\mathbf{1}\left[\mathit{result} > 0\right]"),
        ("my_loss", r"\mathit{my\_loss}"),
        ("w_12", "w_{12}"),
        ("not python!", r"\mathrm{not python!}"),
    ],
)
def test_latex(source, expected):
    assert latex(source) == expected and balanced(latex(source))


@pytest.mark.parametrize(
    "formula, factor",
    [
        ("grad", "1"),
        ("-grad", "-1"),
        ("grad * other", "other"),
        ("grad / (2 * result)", "1 / (2 * result)"),
        ("-grad * (self / other)", "-(self / other)"),
        ("expand(grad) / n", "1 / n"),
        ("where(condition, grad, 0)", None),
        ("grad @ mat2.T", None),
    ],
)
def test_local_derivative(formula, factor):
    assert local_derivative(formula) == factor


def test_numbers_are_worked_in():
    assert substituted("exponent * self ** (exponent - 1)", {"exponent": "2", "self": "x + 1"}) == "2 * (x + 1)"


def test_notebooks_get_the_listing_and_the_formulas(torch):  # noqa: F811
    x = torch.tensor(2.0, requires_grad=True)
    shown = explain((x * 3).exp(), names={"x<": x})._repr_html_()
    assert "<pre>" in shown and "x<" not in shown and "x&lt;" in shown and r"$$\begin{aligned}" in shown
