"""check, saved and diff, on both engines."""

import pytest

from gradrepl.graphs import graph
from gradrepl.graphs.errors import GraphError
from gradrepl.insight.check import check
from gradrepl.insight.diff import diff
from gradrepl.insight.saved import saved
from tests.insight.engines import torch  # noqa: F401, a fixture


def double(torch, *values):  # noqa: F811
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def test_right_derivatives_agree_in_both_orders(torch):  # noqa: F811
    x, w = double(torch, 0.5, 2.0), double(torch, 1.0, -1.5)
    assert check(lambda a, b: (a * b).sin().sum(), x, w, order=2)
    assert x.grad is None


def wrong(torch, backward):  # noqa: F811
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

    Wrong.backward = staticmethod(backward)
    return Wrong.apply


@pytest.mark.parametrize(
    "backward, hint",
    [
        (lambda ctx, g: g * 2 * ctx.saved_tensors[0] ** 2, "off by the factor 0.6667"),
        (lambda ctx, g: -g * 3 * ctx.saved_tensors[0] ** 2, "the sign of the formula is wrong"),
        (lambda ctx, g: g * 0, "the formula gives 0"),
        (lambda ctx, g: g * ctx.saved_tensors[0] ** 4, "wrong for these entries"),
    ],
)
def test_a_wrong_formula_is_shown_entry_by_entry(torch, backward, hint):  # noqa: F811
    result = check(wrong(torch, backward), double(torch, 0.5, 2.0))
    assert not result and hint in str(result)
    assert "d out[1] / d in[1]: analytic" in str(result) and "numeric 12" in str(result)


def test_kinks_and_single_precision_are_noted(torch):  # noqa: F811
    assert "a kink: the slope is -1 to the left and 1 to the right; 0 was chosen" in str(check(torch.abs, double(torch, 0.0, 1.0)))
    assert "float32" in str(check(torch.sin, torch.tensor([1.0], requires_grad=True)))
    with pytest.raises(GraphError, match="nothing to check"):
        check(torch.sin, torch.tensor([1.0]))


def test_saved_counts_each_storage_once(torch):  # noqa: F811
    big = torch.ones(10, 100, requires_grad=True)
    h = torch.tanh(big)
    loss = (h * h).sum()
    memory = saved(loss, names={"big": big, "h": h})
    assert (memory.bytes, memory.only_graph, memory.freed) == (4000, 0, 0)
    assert "shared" in str(memory)
    del h
    assert saved(loss, names={"big": big}).only_graph == 4000
    loss.backward()
    after = saved(loss, names={"big": big})
    assert after.bytes == 0 and after.freed and "freed by backward()" in str(after)


def test_a_view_counts_with_its_whole_storage(torch):  # noqa: F811
    big = torch.ones(1000, requires_grad=True)
    y = torch.tanh(big[:2])
    assert saved(torch.tanh(big)[:2] ** 2, names={}).bytes == 4000
    assert saved(y, names={}).bytes == 8


def test_diff_tells_what_detach_changed(torch):  # noqa: F811
    w, x = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    h = torch.tanh(w * 2)
    found = diff((h * x).sum(), (h.detach() * x).sum(), names={"w": w, "x": x})
    assert [change.before.name for change in found.of_kind("removed")] == ["AccumulateGrad", "MulBackward0", "TanhBackward0"]
    assert "w can no longer be reached" in str(found) and "input 0: an op -> a constant" in str(found)


def test_diff_sees_growth_shapes_and_nothing(torch):  # noqa: F811
    x = torch.ones(4, requires_grad=True)
    h = torch.tanh(x)
    before = graph(h, names={"x": x})
    grown = h
    for _ in range(2):
        grown = torch.tanh(grown)
    found = diff(before, graph(grown, names={"x": x}))
    assert len(found.of_kind("added")) == 2 and "has grown by 2 ops" in str(found)
    assert "(4, 1) -> (2, 2)" in str(diff(x.reshape(4, 1).sum(), x.reshape(2, 2).sum(), names={"x": x}))
    assert not diff(h, h, names={}) and "no difference" in str(diff(h, h, names={}))
    with pytest.raises(GraphError):
        diff(h, torch.ones(2))
