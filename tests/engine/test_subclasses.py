"""Subclasses of Tensor, and objects with `__torch_function__`: who sees which call, and what comes back."""

import pytest

from gradrepl import torch


class Plain(torch.Tensor):
    pass


class Disabled(torch.Tensor):
    __torch_function__ = torch._C._disabled_torch_function_impl


class Logged(torch.Tensor):
    seen: list = []

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})


class Wrapper:
    """No tensor, but at home in torch's functions."""

    def __init__(self, tensor):
        self.tensor = tensor

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__, func(*[a.tensor if isinstance(a, Wrapper) else a for a in args], **(kwargs or {}))


@pytest.mark.parametrize(
    "compute",
    [
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: torch.ones(2) * x,
        lambda x: torch.exp(x),
        lambda x: torch.add(torch.ones(2), x),
        lambda x: x.sum(),
        lambda x: x[0],
        lambda x: torch.stack([x, x]),
        lambda x: x.split(1)[1],
        lambda x: x.detach(),
    ],
)
def test_results_are_of_the_subclass(compute):
    assert type(compute(Plain([1.0, 2.0]))) is Plain
    assert type(compute(Disabled([1.0, 2.0]))) is torch.Tensor
    assert type(compute(torch.tensor([1.0, 2.0]))) is torch.Tensor


def test_a_subclass_shows_its_name_and_keeps_its_graph():
    x = Plain([1.0, 2.0])
    assert repr(x) == "Plain([1., 2.])"
    assert repr((x.requires_grad_() * 2).sum()) == "Plain(6., grad_fn=<AliasBackward0>)"
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0, 2.0]


def test_plain_attributes_of_a_subclass():
    x = Plain(2, 3)
    assert x.shape == (2, 3)
    assert type(x.shape) is torch.Size
    assert x.dtype is torch.float32


def test_calls_are_seen_by_name():
    Logged.seen.clear()
    x = Logged([1.0, 2.0])
    x + 1
    torch.add(x, 1)
    x.sum()
    x.shape  # noqa: B018
    torch.cat([x, x])
    assert Logged.seen == ["add", "add", "sum", "__get__", "cat"]


def test_other_objects_are_asked():
    name, found = torch.add(Wrapper(torch.ones(2)), 1)
    assert (name, found.tolist()) == ("add", [2.0, 2.0])
    assert torch.mean(Wrapper(torch.ones(2)))[1].item() == 1.0


def test_as_subclass_and_make_subclass():
    x = torch.ones(2)
    assert repr(x.as_subclass(Plain)) == "Plain([1., 1.])"
    made = torch.Tensor._make_subclass(Plain, x, True)
    assert repr(made) == "Plain([1., 1.], requires_grad=True)"
    made.data[0] = 5
    assert x.tolist() == [5.0, 1.0]


def test_a_constructor_with_more_arguments():
    class Tagged(torch.Tensor):
        @staticmethod
        def __new__(cls, data, tag):
            return super().__new__(cls, data)

        def __init__(self, data, tag):
            self.tag = tag

    x = Tagged([1.0], "t")
    assert (x.tag, repr(x)) == ("t", "Tagged([1.])")


def test_parameters_give_plain_tensors():
    p = torch.nn.Parameter(torch.ones(2))
    assert type(p * 2) is torch.Tensor
    assert type(p[0]) is torch.Tensor
