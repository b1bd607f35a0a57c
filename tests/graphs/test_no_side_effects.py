"""Looking at a graph, by any way, changes nothing of the program: on both engines."""

import gc
import sys

import pytest

import gradrepl
from gradrepl.graphs import graph
from tests.graphs.engines import load, on_both_engines, submodule


def plain(torch, seen):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    x.register_hook(lambda grad: seen.append("hook"))
    h = x.exp()
    y = (h * x).sum()
    return y, [x, h, y]


def freed(torch, seen):
    y, tensors = plain(torch, [])
    y.backward()
    return y, tensors


def broken(torch, seen):
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    h = x.exp()
    y = (h * x).sum()
    h.add_(1)
    return y, [x, h, y]


def packed(torch, seen):
    def pack(tensor):
        return tensor

    def unpack(tensor):
        seen.append("unpack")
        return tensor

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        h = x.exp()
        y = (h * x).sum()
    return y, [x, h, y]


def checkpointed(torch, seen):
    checkpoint = submodule(torch, "utils.checkpoint").checkpoint

    def block(x):
        seen.append("forward")
        return (x.exp() * x).sin()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = checkpoint(block, x, use_reentrant=False).sum()
    seen.clear()
    return y, [x, y]


def stale_view(torch, seen):
    x = torch.arange(4.0, requires_grad=True)
    y = x.clone()
    v = y[1:3]
    y.mul_(2)
    return y.sum(), [x, y, v]


def custom(torch, seen):
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            seen.append("backward")
            return grad

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = Square.apply(x).sum()
    return y, [x, y]


PROGRAMS = [plain, freed, broken, packed, checkpointed, stale_view, custom]


def look_at_everything(y, tensors, folder):
    names = {f"t{number}": tensor for number, tensor in enumerate(tensors)}
    for look in ({}, {"saved": True}, {"values": True}, {"fold": False}, {"constants": True}):
        graph(y, names=names, **look)
        str(gradrepl.tree(y, **look))
        gradrepl.listing(y)
    for suffix in ("svg", "dot", "html", "json", "mmd", "txt"):
        gradrepl.save(y, folder / f"y.{suffix}", names=names, values=True)


def state(torch, tensors):
    versions = [tensor._version for tensor in tensors]
    grads = [tensor.grad.tolist() if tensor.is_leaf and tensor.grad is not None else None for tensor in tensors]
    return versions, grads, torch.initial_seed(), torch.is_grad_enabled()


@on_both_engines
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_nothing_changes(engine, program, tmp_path):
    torch, seen = load(engine), []
    y, tensors = program(torch, seen)
    look_at_everything(y, tensors, tmp_path)  # what is made once and kept, such as caches
    before, references = state(torch, tensors), [sys.getrefcount(tensor) for tensor in tensors]
    number = next_sequence_number(torch)
    look_at_everything(y, tensors, tmp_path)
    assert next_sequence_number(torch) == number + 1
    gc.collect()
    assert state(torch, tensors) == before
    assert [sys.getrefcount(tensor) for tensor in tensors] == references
    assert seen == []


def next_sequence_number(torch):
    return (torch.ones(1, requires_grad=True) * 1).grad_fn._sequence_nr()


@on_both_engines
def test_the_first_look_takes_no_sequence_number(engine):
    torch = load(engine)
    y, tensors = stale_view(torch, [])
    number = next_sequence_number(torch)
    graph(y, names={"v": tensors[2]}, values=True)
    assert next_sequence_number(torch) == number + 1


@on_both_engines
def test_backward_still_works_afterwards(engine, tmp_path):
    torch = load(engine)
    y, (x, *_) = plain(torch, [])
    look_at_everything(y, [x, y], tmp_path)
    y.backward()
    z, (w, *_) = plain(torch, [])
    z.backward()
    assert x.grad.tolist() == w.grad.tolist()
