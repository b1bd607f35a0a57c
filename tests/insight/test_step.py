"""step: the numbers are backward's own, and nothing of the program changes."""

import pytest

import gradrepl
from gradrepl.graphs.errors import GraphError
from gradrepl.insight.explain import explain
from gradrepl.insight.history import HISTORY
from gradrepl.insight.observer import observe, stop
from gradrepl.insight.step import step
from gradrepl.insight.stepper import Stepper
from tests.insight.engines import torch  # noqa: F401, a fixture


def made(torch):  # noqa: F811
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    b = torch.tensor(0.5, requires_grad=True)
    h = torch.sin(x * 3) + b
    return x, b, h, (h**2).mean()


def test_moves_show_the_arithmetic(torch):  # noqa: F811
    x = torch.tensor([3.0, 4.0], requires_grad=True)
    b = torch.tensor(0.5, requires_grad=True)
    walk = step(((x + b) ** 2).sum(), names={"x": x, "b": b})
    assert str(walk) == STEPPED


STEPPED = """\
1. SumBackward0 n1
   grad  1
   self  grad.expand(self.sym_sizes())
         expand(grad)
         expand(1) = [1, 1]  -> n2
2. PowBackward0 n2
   grad  [1, 1]
   self  pow_backward(grad, self, exponent)
         grad * exponent * self ** (exponent - 1)
         [1, 1] * 2 * [3.5, 4.5] ** (2 - 1) = [7, 9]  -> n3
3. AddBackward0 n3
   grad   [7, 9]
   self   grad
          [7, 9] = [7, 9]  -> n4
   other  maybe_multiply(grad, alpha)
          grad * alpha
          [7, 9] * 1 = 16  (summed to ())  -> n5
4. leaf x n4
   gradient [7, 9]
   backward() would make x.grad of None: [7, 9]
5. leaf b n5
   gradient 16
   backward() would make b.grad of None: 16"""


def test_sums_are_those_of_backward_and_grad_is_left_alone(torch):  # noqa: F811
    x, b, h, loss = made(torch)
    h.retain_grad()
    x.grad = torch.ones(2)
    walk = step(loss, names={"x": x, "b": b})
    assert x.grad.tolist() == [1.0, 1.0] and b.grad is None
    x.grad = None
    loss.backward()
    ids = {node.title: node.id for node in walk.graph.nodes if node.leaf}
    assert walk.gradients[ids["x"]].tolist() == x.grad.tolist()
    assert walk.gradients[ids["b"]].tolist() == b.grad.tolist()


def test_keep_adds_to_grad(torch):  # noqa: F811
    x = torch.tensor(3.0, requires_grad=True)
    step(x * x, keep=True)
    step(x * x, keep=True)
    assert x.grad.item() == 12.0


def test_shared_leaf_arrives_once_with_the_whole_sum(torch):  # noqa: F811
    x = torch.tensor(3.0, requires_grad=True)
    walk = step(x * x + x, names={"x": x})
    arrived = [move for move in walk if move.node.leaf]
    assert len(arrived) == 1 and arrived[0].incoming[0].item() == 7.0


def test_custom_function_and_view_write(torch):  # noqa: F811
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, grad):
            return grad * 2

    x = torch.ones(3, requires_grad=True)
    y = Double.apply(x) * 1
    y[0] = 5.0
    walk = step(y.sum(), names={"x": x})
    assert "Double.backward(ctx, grad)" in str(walk)
    assert next(iter(walk.gradients.values())).tolist() == [0.0, 2.0, 2.0]


def test_stops_at_nan(torch):  # noqa: F811
    x = torch.tensor([0.0, 4.0], requires_grad=True)
    walk = step(torch.where(x > 0, torch.sqrt(x), torch.zeros(2)).sum(), names={"x": x})
    assert walk.first_bad.node.name == "SqrtBackward0"
    said = converse(walk, ["r", "q"])
    assert "stopped: a number that is not finite" in said and "▶ SqrtBackward0" in said


def converse(walk, words):
    lines, words = [], iter(words)

    def read(prompt):
        lines.append(prompt)
        return next(words)

    Stepper(walk, read, lines.append).run()
    return "\n".join(lines)


def test_prompt_walks_both_ways(torch):  # noqa: F811
    x, b, _, loss = made(torch)
    walk = step(loss, names={"x": x, "b": b, "loss": loss})
    said = converse(walk, ["", "back", "until n5", "until n99", "list", "help", "quit"])
    assert said.count("step 1 of 7> ") == 2
    assert "▶ MeanBackward0" in said and "no move of 'n99'" in said and "next (Enter)" in said


def test_files(torch, tmp_path):  # noqa: F811
    x, b, _, loss = made(torch)
    walk = step(loss, names={"x": x, "b": b})
    strip = walk.save(tmp_path / "walk.svg")
    assert [path.name for path in strip] == [f"walk-{number}.svg" for number in range(1, len(walk) + 1)]
    assert all("stroke-width:3.5px" in path.read_text() for path in strip)
    assert "expand(grad)" in strip[0].read_text() and "gradient" in strip[-1].read_text()
    (page,) = walk.save(tmp_path / "walk.html")
    assert "grad * exponent" in page.read_text()
    (text,) = walk.save(tmp_path / "walk.txt")
    assert text.read_text() == f"{walk}\n"
    with pytest.raises(GraphError, match="as .html, .svg or .txt"):
        walk.save(tmp_path / "walk.bmp")


def test_needs_a_gradient_where_backward_does(torch):  # noqa: F811
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="scalar outputs"):
        step(x * 2)
    walk = step(x * 2, torch.tensor([1.0, 10.0]))
    assert next(iter(walk.gradients.values())).tolist() == [2.0, 20.0]


def test_a_freed_graph_is_one_clear_line(torch):  # noqa: F811
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    y.backward()
    with pytest.raises(GraphError, match="has freed this graph: compute it again"):
        step(y)


def test_takes_nodes_and_nests(torch):  # noqa: F811
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y, z = (x * 2).sum(), (x**2).sum()
    [total] = step(y.grad_fn).gradients.values()
    assert total.tolist() == [2, 2] and str(step(y.grad_fn)).startswith("1. SumBackward0 n1")
    for asked in ([y, z], {"a": y, "b": [z, torch.ones(2)]}, (y, z.grad_fn)):
        [total] = step(asked).gradients.values()
        assert total.tolist() == [4, 6]
    for nothing in (5, [], torch.ones(2)):
        with pytest.raises(GraphError):
            step(nothing)


@pytest.mark.parametrize("name", ["steps.svg", "steps.txt", "steps.html"])
def test_a_missing_folder_is_one_clear_line(torch, name, tmp_path):  # noqa: F811
    with pytest.raises(GraphError, match="^there is no folder .*nowhere$"):
        step(torch.ones((), requires_grad=True) * 2).save(tmp_path / "nowhere" / name)


def test_several_numbers_are_refused_before_the_graph_is_read(torch, monkeypatch):  # noqa: F811
    x, _, h, _ = made(torch)
    monkeypatch.setattr("gradrepl.insight.step.capture", lambda *_, **__: pytest.fail("read"))
    for asked in (h, h.grad_fn, [h.sum(), h], (h, [None])):
        with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
            step(*asked) if isinstance(asked, tuple) else step(asked)


def test_what_a_question_reads_is_not_taken_for_the_programs(torch):  # noqa: F811
    engine = "torch" if torch.__name__ == "torch" and hasattr(torch._C, "_add_docstr") else "embedded"
    observe(engine)
    try:
        x, b, h, loss = made(torch)
        h.detach()
        seen = [event.kind for event in HISTORY.events]
        gradrepl.graph(loss, values=True, saved=True)
        str(explain(loss))
        step(loss)
        assert "detach" in seen and [event.kind for event in HISTORY.events] == seen and not HISTORY.passes
    finally:
        stop()
