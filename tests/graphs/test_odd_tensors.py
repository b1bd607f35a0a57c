"""Tensors that only PyTorch has: none may stop a drawing."""

import json

import pytest

import gradrepl
from tests.graphs.engines import installed_torch

torch = installed_torch()
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]


def random(*sizes, **more):
    return torch.randn(*sizes, requires_grad=True, **more)


def sparse_gradient():
    loss = torch.nn.Embedding(5, 3, sparse=True)(torch.tensor([1, 2])).sum()
    loss.backward(retain_graph=True)
    return loss


def kept_elsewhere():
    x = random(3)
    with torch.autograd.graph.save_on_cpu():
        return (x.exp() * x).sum()


class Own(torch.Tensor):
    pass


ODD = {
    "sparse gradient": sparse_gradient,
    "sparse": lambda: torch.sparse.mm(torch.eye(3).to_sparse().requires_grad_(), random(3, 3)).sum(),
    "complex": lambda: (random(3, dtype=torch.complex64) * 2j).abs().sum(),
    "bfloat16": lambda: (random(3, dtype=torch.bfloat16) * 2).sum(),
    "meta": lambda: (random(3, device="meta") * 2).sum(),
    "nested": lambda: torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], requires_grad=True) * 2,
    "nan": lambda: (random(3) * float("nan")).sum(),
    "kept elsewhere": kept_elsewhere,
    "a class of its own": lambda: (torch.ones(3, requires_grad=True).as_subclass(Own) * 2).sum(),
    "an edge": lambda: torch.autograd.graph.get_gradient_edge(random(3) * 2),
    "an AccumulateGrad": lambda: (random(3) * 2).grad_fn.next_functions[0][0],
    "vmap": lambda: torch.func.vmap(lambda x: x * x)(random(3)),
    "layers in one op": lambda: torch.nn.LSTM(3, 4)(torch.randn(5, 2, 3))[0].sum(),
    "a parametrization": lambda: torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(3, 2))(torch.ones(1, 3)).sum(),
}


@pytest.mark.parametrize("name", ODD)
def test_it_is_drawn(name, tmp_path):
    torch.manual_seed(0)
    graph = gradrepl.graph(ODD[name](), names={}, values=True, saved=True)
    assert str(graph.tree()) and graph.save(tmp_path / "y.svg").stat().st_size
    assert json.loads(graph.save(tmp_path / "y.json").read_text())["nodes"]
