"""What a graph tells: nodes, edges, names, roots, what is saved, what is wrong."""

import dataclasses
import gc
import weakref
from collections import namedtuple

import pytest

import gradrepl
from gradrepl.graphs import Graph, GraphError, capture, graph
from tests.graphs.engines import load, on_both_engines


def leaf(torch, *numbers):
    return torch.tensor(numbers or [1.0, 2.0, 3.0], requires_grad=True)


def names_of(captured):
    return [node.name for node in captured.nodes]


@on_both_engines
def test_nodes_and_edges_in_print_order(engine):
    torch = load(engine)
    x = leaf(torch)
    y = (x * x + x.sin()).sum()
    captured = graph(y)
    assert [node.id for node in captured.nodes] == ["n1", "n2", "n3", "n4", "n5"]
    assert names_of(captured) == ["SumBackward0", "AddBackward0", "MulBackward0", "AccumulateGrad", "SinBackward0"]
    edges = [(edge.source, edge.target, edge.input, edge.output) for edge in captured.edges]
    assert edges == [("n1", "n2", 0, 0), ("n2", "n3", 0, 0), ("n2", "n5", 1, 0), ("n3", "n4", 0, 0), ("n3", "n4", 1, 0), ("n5", "n4", 0, 0)]
    assert captured["n4"].names == ("x",) and captured["n4"].uses == 3 and captured["n4"].leaf
    assert captured["n1"].names == ("y",) and captured["n3"].outputs[0].shape == (3,)


def test_the_model_is_frozen_and_holds_nothing_alive():
    torch = load("embedded")
    x = leaf(torch)
    y = x.exp()
    captured, alive = graph(y), weakref.ref(y)
    with pytest.raises(dataclasses.FrozenInstanceError):
        captured.nodes[0].name = "other"
    gc.disable()
    try:
        del y
        assert alive() is None
    finally:
        gc.enable()


@on_both_engines
def test_live_nodes_by_id(engine):
    torch = load(engine)
    x = leaf(torch)
    y = x.exp()
    found = capture(y)
    assert found.functions["n1"] is y.grad_fn and found.functions["n2"].variable is x


@on_both_engines
def test_all_names_of_a_tensor(engine):
    torch = load(engine)
    W = leaf(torch)
    encoder = decoder = W
    y = (encoder * decoder).sum()
    assert graph(y).nodes[-1].names == ("W", "encoder", "decoder")
    assert graph(y, names={"a": W}).nodes[-1].names == ("a",)
    parameters = [W]
    del W, encoder, decoder
    assert graph(y).nodes[-1].names == ("parameters[0]",)
    assert parameters


@on_both_engines
def test_names_of_a_module(engine):
    torch = load(engine)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh())
    y = model(torch.ones(1, 2)).sum()
    assert {name for node in graph(y, names=model).nodes for name in node.names} == {"0.weight", "0.bias", "y"}
    assert {name for node in graph(y).nodes for name in node.names} == {"model.0.weight", "model.0.bias", "y"}


def test_names_that_fit_nothing_are_said_so():
    torch = load("embedded")
    x = leaf(torch)
    captured = graph((x * 2).sum(), names={"z": torch.ones(3)})
    assert captured.notes == ("none of the 1 tensors in names= is in this graph",)
    assert "none of the 1" in str(captured.tree())


def test_the_namespace_of_a_program():
    x = leaf(load("embedded"))
    assert graph(x * 2, names={"__name__": "__main__", "_": x, "x": x}).nodes[-1].names == ("x",)
    empty = graph(x * 2, names={"__name__": "__main__", "number": 3})
    assert empty.nodes[-1].names == () and empty.notes == ()


@pytest.mark.parametrize(
    "names, message", [(3, "names= takes a dict of tensors or a Module, not int"), ({"a": 1}, "names= holds no tensor")]
)
def test_names_of_the_wrong_kind(names, message):
    x = leaf(load("embedded"))
    with pytest.raises(GraphError, match=message):
        graph(x * 2, names=names)


@dataclasses.dataclass
class Result:
    loss: object
    extra: object


@on_both_engines
def test_nested_outputs(engine):
    torch = load(engine)
    x = leaf(torch)
    y, z = x.exp(), x.sin()
    paths = lambda asked: [root.path for root in graph(asked).roots]
    assert paths([y, (z, {"a": y})]) == ["[0]", "[1][0]", "[1][1]['a']"]
    assert paths({"loss": y, "n": 3}) == ["['loss']"]
    assert paths(Result(y, [z])) == [".loss", ".extra[0]"]
    assert paths(namedtuple("Pair", "one two")(y, z)) == [".one", ".two"]
    assert paths(y.grad_fn) == [""]
    cycle = [y]
    cycle.append(cycle)
    assert paths(cycle) == ["[0]"]


@on_both_engines
def test_a_leaf_is_a_graph_of_one_node(engine):
    torch = load(engine)
    x = leaf(torch)
    captured = graph(x)
    assert [node.kind for node in captured.nodes] == ["leaf"] and captured.roots[0].node == 0
    both = graph([x, x.exp()])
    assert [node.kind for node in both.nodes] == ["op", "leaf"] and both.roots[0].node == 1


@on_both_engines
@pytest.mark.parametrize("asked", ["torch.ones(3)", "[]", "None", "'text'", "[1, 2]", "{}", "x.detach()", "torch.tensor(3)"])
def test_nothing_to_see_is_one_line(engine, asked):
    torch = load(engine)
    x = leaf(torch)  # noqa: F841
    with pytest.raises(GraphError) as raised:
        graph(eval(asked, {"torch": torch, "x": x}))
    assert "\n" not in str(raised.value) and len(str(raised.value)) < 160


@pytest.mark.parametrize(
    "look, message", [({"flow": "up"}, "flow='up' is not one of"), ({"colour": 1}, "no option colour="), ({"group": "x"}, "group='x'")]
)
def test_options_that_do_not_exist(look, message):
    x = leaf(load("embedded"))
    with pytest.raises(GraphError, match=message):
        graph(x * 2, **look)


@on_both_engines
def test_several_outputs(engine):
    torch = load(engine)
    x = torch.arange(6.0, requires_grad=True)
    a, b, c = x.split(2)
    captured = graph([a + c, b])
    split = next(node for node in captured.nodes if node.name.startswith("Split"))
    assert len(split.outputs) == 3 and [output.names for output in split.outputs] == [("a",), ("b",), ("c",)]
    assert captured.roots[1].output == 1 and captured.nodes[0].inputs == ((1, 0), (1, 2))


@on_both_engines
def test_what_is_saved(engine):
    torch = load(engine)
    x = leaf(torch)
    h = x.exp()
    y = h * x
    mul, _, exp = graph(y).nodes
    assert [(saved.slots, saved.names, saved.shape, saved.bytes, saved.source) for saved in mul.saved] == [
        (("self",), ("h",), (3,), 12, (2, 0)),
        (("other",), ("x",), (3,), 12, (1, 0)),
    ]
    assert [(saved.slots, saved.state) for saved in exp.saved] == [(("result",), "held")]
    y.sum().backward()
    assert [saved.state for saved in graph(y).nodes[0].saved] == ["freed"]


@on_both_engines
def test_one_tensor_in_two_places_is_one_entry(engine):
    torch = load(engine)
    x = leaf(torch)
    assert [saved.slots for saved in graph(x * x).nodes[0].saved] == [("self", "other")]


@on_both_engines
def test_a_saved_tensor_that_was_written_to(engine):
    torch = load(engine)
    x = leaf(torch)
    h = x.exp()
    y = h * x
    h.add_(1)
    mul, _, exp = graph(y).nodes
    assert mul.faults == ("saved self was at version 0, is now at 1",) and mul.saved[0].expected == 0 and mul.saved[0].version == 1
    assert exp.faults == ("saved result was at version 0, is now at 1",)


@on_both_engines
def test_numbers_among_the_arguments(engine):
    torch = load(engine)
    x = torch.ones(2, 3, requires_grad=True)
    arguments = lambda y: dict(graph(y).nodes[0].arguments)
    assert arguments(x * 2.5)["other"] == 2.5
    assert arguments(x**3)["exponent"] == 3
    assert arguments(x.sum(-1))["dim"] in ((-1,), (1,))
    assert arguments(x.transpose(0, 1)) == {"dim0": 0, "dim1": 1}


@on_both_engines
def test_hooks_and_gradients(engine):
    torch = load(engine)
    x = leaf(torch)
    h = x * 2
    h.retain_grad()
    h.register_hook(lambda grad: grad)
    y = h.sum()
    assert graph(y).nodes[-1].has_grad is False
    y.backward()
    captured = graph(y, values=True)
    output = captured.nodes[1].outputs[0]
    assert output.retains_grad and output.hooks and output.grad.text == "[1, 1, 1]" and output.value.text == "[2, 4, 6]"
    assert captured.nodes[-1].has_grad is True


@on_both_engines
def test_values_of_scalars_are_read_unasked(engine):
    torch = load(engine)
    a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = a * b + a
    assert [node.outputs[0].value.text for node in graph(y).nodes if node.leaf] == ["2", "3"]
    assert graph(y, values=False).nodes[-1].outputs[0].value is None
    assert graph(y * torch.ones(3)).nodes[-1].outputs[0].value is None


@on_both_engines
def test_not_a_number(engine):
    torch = load(engine)
    x = torch.tensor([-1.0, 4.0], requires_grad=True)
    y = x.sqrt().sum()
    assert graph(y).nodes[0].faults == ("value holds 1 NaN",)
    assert graph(y).nodes[1].faults == ("value holds 1 NaN",)


@on_both_engines
def test_a_custom_function(engine):
    torch = load(engine)

    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = leaf(torch)
    node = graph(Square.apply(x)).nodes[0]
    assert (node.kind, node.name) == ("custom", "SquareBackward")
    assert node.defined.filename == __file__ and node.saved[0].names == ("x",)


@on_both_engines
def test_a_write_through_a_view(engine):
    torch = load(engine)
    x = torch.arange(4.0, requires_grad=True)
    y = x.clone()
    y[1:3].mul_(10)
    assert [(node.kind, node.name) for node in graph(y).nodes] == [
        ("inplace", "CopySlices"),
        ("op", "CloneBackward0"),
        ("leaf", "AccumulateGrad"),
    ]


@on_both_engines
def test_odd_sizes(engine):
    torch = load(engine)
    empty = torch.ones(0, 3, requires_grad=True)
    assert graph(empty.sum(), values=True).nodes[-1].outputs[0].shape == (0, 3)
    scalar = torch.tensor(2.0, requires_grad=True)
    assert graph(scalar * 1).nodes[0].outputs[0].shape == ()


def test_a_chain_of_any_length():
    torch = load("embedded")
    y = leaf(torch)
    for _ in range(30_000):
        y = y + 1
    captured = graph(y)
    assert len(captured.nodes) == 30_001 and captured.nodes[-1].leaf
    assert len(str(gradrepl.tree(captured)).splitlines()) < 10


def test_a_graph_is_returned_as_it_is():
    x = leaf(load("embedded"))
    captured = graph(x * 2)
    assert graph(captured) == captured and graph(captured, flow="forward").look.flow == "forward"
    assert isinstance(captured, Graph) and repr(captured) == "<Graph: 1 op, 1 leaf, 1 root>"
