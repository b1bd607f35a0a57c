"""torch.distributions.distribution: the base of all distributions: shapes, parameters checked against constraints."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings

import gradrepl.torch.distributions.constraints as constraints
from gradrepl import torch

__all__ = ["Distribution"]


class Distribution:
    """A distribution over tensors: `batch_shape` independent ones, each over `event_shape`."""

    has_rsample = False
    has_enumerate_support = False
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value):
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=torch.Size(), event_shape=torch.Size(), validate_args=None):  # noqa: B008
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self):
        try:
            arg_constraints = self.arg_constraints
        except NotImplementedError:
            arg_constraints = {}
            warnings.warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the distribution "
                "with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
        for name, constraint in arg_constraints.items():
            if constraints.is_dependent(constraint) or name not in self.__dict__ and is_lazy(type(self), name):
                continue  # computed from the others when asked for
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} to satisfy "
                    f"the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None):
        raise NotImplementedError

    batch_shape = property(lambda self: self._batch_shape)
    event_shape = property(lambda self: self._event_shape)

    @property
    def arg_constraints(self):
        raise NotImplementedError

    @property
    def support(self):
        raise NotImplementedError

    @property
    def mean(self):
        raise NotImplementedError

    @property
    def mode(self):
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self):
        raise NotImplementedError

    @property
    def stddev(self):
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):  # noqa: B008
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):  # noqa: B008
        raise NotImplementedError

    def sample_n(self, n):
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", FutureWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value):
        raise NotImplementedError

    def cdf(self, value):
        raise NotImplementedError

    def icdf(self, value):
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        raise NotImplementedError

    def entropy(self):
        raise NotImplementedError

    def perplexity(self):
        return torch.exp(self.entropy())

    def _extended_shape(self, sample_shape=torch.Size()):  # noqa: B008
        return torch.Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value):
        if not isinstance(value, torch.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        start = value.dim() - len(self._event_shape)
        if value.size()[start:] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {value.size()} vs {self._event_shape}.")
        actual, expected = value.size(), self._batch_shape + self._event_shape
        for i, j in zip(reversed(actual), reversed(expected)):
            if i != 1 and j != 1 and i != j:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {actual} vs {expected}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the distribution with "
                "`validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support ({support!r}) of "
                f"the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls, _instance=None):
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines "
                "a custom __init__ method must also define a custom .expand() method."
            )
        return self.__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls, batch_shape, _instance, names, event_dims=None, event_shape=None):
        """A copy whose tensors of these names have another batch shape."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                dims = (event_dims or {}).get(name, 0)
                tensor = self.__dict__[name]
                new.__dict__[name] = (
                    tensor.expand(batch_shape + tensor.shape[tensor.dim() - dims :]) if dims else tensor.expand(batch_shape)
                )
        Distribution.__init__(new, batch_shape, self._event_shape if event_shape is None else event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        tell = lambda value: value if value.numel() == 1 else value.size()
        return f"{self.__class__.__name__}({', '.join(f'{name}: {tell(self.__dict__[name])}' for name in names)})"


def is_lazy(cls, name):
    return isinstance(getattr(cls, name, None), lazy_property)


class lazy_property:  # noqa: N801
    """A property that is computed once, with gradients, and then an attribute."""

    def __init__(self, wrapped):
        self.wrapped, self.__doc__, self.__name__ = wrapped, wrapped.__doc__, wrapped.__name__

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def broadcast_all(*values):
    """Numbers and tensors in one shape."""
    if not all(isinstance(value, (torch.Tensor, int, float, bool)) for value in values):
        raise ValueError("Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    if not all(isinstance(value, torch.Tensor) for value in values):
        like = next((value for value in values if isinstance(value, torch.Tensor)), None)
        dtype = torch.get_default_dtype() if like is None else like.dtype
        values = [value if isinstance(value, torch.Tensor) else torch.tensor(value, dtype=dtype) for value in values]
    return torch.broadcast_tensors(*values)


def batch_of(given, tensor):
    """The batch shape: none where only numbers were given."""
    return torch.Size() if all(isinstance(value, (int, float)) for value in given) else tensor.size()


def sum_rightmost(value, dim):
    return value if dim == 0 else value.reshape(value.shape[: value.dim() - dim] + (-1,)).sum(-1)


def clamp_probs(probs):
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs, is_binary=False):
    clamped = clamp_probs(probs)
    return torch.log(clamped) - torch.log1p(-clamped) if is_binary else torch.log(clamped)


def logits_to_probs(logits, is_binary=False):
    return torch.sigmoid(logits) if is_binary else torch.nn.functional.softmax(logits, dim=-1)


def normal_draws(shape, like):
    return torch.normal(torch.zeros(shape, dtype=like.dtype), torch.ones(shape, dtype=like.dtype))
