"""The guard around public functions: names it takes, errors it leaves alone, and that it closes no cycle."""

import gc
import weakref

import numpy as np
import pytest

from gradrepl import torch
from gradrepl.engine.signatures import Signature, signatures, table

x = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@pytest.mark.parametrize(
    ("by_name", "plain"),
    [
        (lambda: torch.sum(input=x, dim=0), lambda: x.sum(0)),
        (lambda: torch.sum(x, axis=0), lambda: x.sum(0)),
        (lambda: x.sum(axis=1, keepdims=True), lambda: x.sum(1, True)),
        (lambda: torch.add(input=x, other=x, alpha=2), lambda: x + 2 * x),
        (lambda: torch.exp(x=x), lambda: x.exp()),
        (lambda: torch.add(2, x), lambda: x + 2),
        (lambda: torch.transpose(input=x, dim0=0, dim1=1), lambda: x.t()),
    ],
)
def test_names_that_torch_knows(by_name, plain):
    assert torch.equal(by_name(), plain())


def test_out_works_for_every_function():
    out = torch.zeros(2, 3)
    assert torch.tanh(x, out=out) is out
    assert torch.equal(out, x.tanh())
    with pytest.raises(RuntimeError, match="functions with out=... arguments don't support automatic differentiation"):
        torch.tanh(x.clone().requires_grad_(), out=torch.zeros(2, 3))
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Int"):
        torch.tanh(x, out=torch.zeros(2, 3, dtype=torch.int32))


def test_arrays_and_lists_are_no_tensors():
    with pytest.raises(TypeError, match=r"exp\(\): argument 'input' \(position 1\) must be Tensor, not numpy.ndarray"):
        torch.exp(np.ones(2))
    with pytest.raises(TypeError, match=r"add\(\): argument 'other' \(position 2\) must be Tensor, not list"):
        torch.add(x, [1.0])


def test_an_error_in_the_program_is_left_alone():
    class Mine(TypeError):
        pass

    def hook(grad):
        raise Mine("my own")

    y = x.clone().requires_grad_()
    y.register_hook(hook)
    with pytest.raises(Mine, match="my own"):
        y.sum().backward()


def test_a_failed_call_closes_no_cycle():
    gc.disable()
    try:
        y = torch.ones(2)
        seen = weakref.ref(y)
        for call in (lambda t: t.sum("a"), lambda t: torch.exp(t, 1), lambda t: t.view(7), lambda t: t.sum(foo=1)):
            with pytest.raises((TypeError, RuntimeError)):
                call(y)
        del y
        assert seen() is None
    finally:
        gc.enable()


def test_every_signature_can_be_read():
    for home, name in table():
        for option in signatures(home, name):
            assert str(option).startswith("(")


def test_the_text_of_a_signature():
    option = Signature("sum(Tensor input, IntArrayRef[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None)")
    assert str(option) == "(Tensor input, tuple of ints dim, bool keepdim = False, *, torch.dtype dtype = None, Tensor out = None)"
    assert option.bind((x, 0), {"keepdims": True}) == {"input": x, "dim": 0, "keepdim": True}
