"""torch.nn.utils.prune: parameters multiplied by masks of zeros and ones."""

__name__ = __name__.removeprefix("gradrepl.")

import numbers
from collections.abc import Iterable

from gradrepl import torch

TWICE = "Avoid adding multiple pruning hooks to the same tensor {} of module {}. Use a PruningContainer."


class BasePruningMethod:
    """A hook before forward that puts the masked tensor in the place of the parameter; subclasses say what the mask is."""

    _tensor_name: str
    PRUNING_TYPE = "unstructured"

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError

    def apply_mask(self, module):
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = getattr(module, self._tensor_name + "_mask"), getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        old = hooks_on(module, name)
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if old is not None:
            method = combined(module, name, *old, method)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                f"importance_scores should have the same shape as parameter {name} "
                f"of {module}, got {importance_scores.shape} vs {original.shape}"
            )
        if not isinstance(method, PruningContainer):
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            default = torch.ones_like(original)
        else:
            default = getattr(module, name + "_mask").detach().clone(memory_format=torch.contiguous_format)
        try:
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask=default))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not isinstance(method, PruningContainer):
                module.register_parameter(name, getattr(module, name + "_orig"))
                del module._parameters[name + "_orig"]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """The tensor masked, without a module."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(f"importance_scores should have the same shape as tensor t, got {importance_scores.shape} vs {t.shape}")
        default_mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module):
        """Leave the masked values as the parameter."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned before pruning can be removed")
        weight = self.apply_mask(module)
        if hasattr(module, self._tensor_name):
            delattr(module, self._tensor_name)
        original = module._parameters[self._tensor_name + "_orig"]
        original.data = weight.data
        del module._parameters[self._tensor_name + "_orig"]
        del module._buffers[self._tensor_name + "_mask"]
        setattr(module, self._tensor_name, original)


def hooks_on(module, name):
    """(number, method) of the pruning on a tensor."""
    found = [
        (number, hook)
        for number, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]
    if len(found) > 1:
        raise AssertionError(TWICE.format(name, module))
    return found[0] if found else None


def combined(module, name, number, old, method):
    """The old method and the new one as a container; the old hook goes."""
    del module._forward_pre_hooks[number]
    if isinstance(old, PruningContainer):
        old.add_pruning_method(method)
        return old
    container = PruningContainer(old)
    container.add_pruning_method(method)
    return container


class PruningContainer(BasePruningMethod):
    """Methods one after the other on one tensor."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if not isinstance(args, Iterable) or len(args) == 1:
            self._tensor_name = args[0]._tensor_name
            self.add_pruning_method(args[0])
        elif args:
            self._tensor_name = args[0]._tensor_name
            for method in args:
                self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                f"Can only add pruning methods acting on the parameter named '{self._tensor_name}' to PruningContainer {self}."
                f" Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        """The last method on what the others left."""
        method, mask = self._pruning_methods[-1], default_mask.to(dtype=t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
        elif method.PRUNING_TYPE == "structured":
            left = self.channels_left(method, t, mask)
        elif method.PRUNING_TYPE == "global":
            left = slice(None)
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        partial = method.compute_mask(t[left], default_mask=mask[left])
        new = mask.clone()
        new[left] = partial.to(mask.dtype)
        return new

    def channels_left(self, method, t, mask):
        if not hasattr(method, "dim"):
            raise AttributeError('Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.')
        dims = t.dim()
        dim = method.dim + dims if method.dim < 0 else method.dim
        if dim < 0:
            raise IndexError(f"Index is out of bounds for tensor with dimensions {dims}")
        kept = mask.sum(dim=[d for d in range(dims) if d != dim]) != 0
        return tuple(kept if i == dim else slice(None) for i in range(dims))


class Identity(BasePruningMethod):
    """Prunes nothing, but puts the masks there."""

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """Any elements."""

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = checked_count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            chosen = torch.topk(torch.rand_like(t).view(-1), k=count)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """The smallest elements."""

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = checked_count(self.amount, t.nelement())
        mask = default_mask.clone(memory_format=torch.contiguous_format)
        if count:
            chosen = torch.topk(torch.abs(t).view(-1), k=count, largest=False)
            mask.view(-1)[chosen.indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def channel_mask(t, dim, channels, value):
    """A mask with a value at some channels, and the other one elsewhere."""
    mask = torch.zeros_like(t) if value else torch.ones_like(t)
    place = [slice(None)] * t.dim()
    place[dim] = channels
    mask[tuple(place)] = value
    return mask


class RandomStructured(BasePruningMethod):
    """Any channels."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        total = t.shape[self.dim]
        count = checked_count(self.amount, total)
        if count == 0:
            return default_mask
        chances = torch.rand(total)
        threshold = torch.kthvalue(chances, k=count).values
        kept = torch.nonzero(chances > threshold).squeeze(-1) if chances.dim() else chances
        return channel_mask(t, self.dim, kept, 1).to(dtype=default_mask.dtype) * default_mask

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """The channels of smallest norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        total = t.shape[self.dim]
        count = checked_count(self.amount, total)
        if count == 0:
            return default_mask
        kept = torch.topk(_compute_norm(t, self.n, self.dim), k=total - count, largest=True)
        return channel_mask(t, self.dim, kept.indices, 1).to(dtype=default_mask.dtype) * default_mask

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """A mask that is given."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"default_mask shape {default_mask.shape} must match self.mask shape {self.mask.shape}")
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        return super().apply(module, name, mask=mask)


# ---- what users call


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prune several tensors as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    importance_scores = importance_scores if importance_scores is not None else {}
    if not isinstance(importance_scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    vector = lambda tensors: torch.nn.utils.parameters_to_vector(list(tensors))
    scores = vector(importance_scores.get((module, name), getattr(module, name)) for module, name in parameters)
    masks = vector(getattr(module, name + "_mask", torch.ones_like(getattr(module, name))) for module, name in parameters)
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            f'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method {pruning_method} of type '
            f"{method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    final, at = container.compute_mask(scores, masks), 0
    for module, name in parameters:
        tensor = getattr(module, name)
        custom_from_mask(module, name, mask=final[at : at + tensor.numel()].view_as(tensor))
        at += tensor.numel()


def remove(module, name):
    found = hooks_on(module, name)
    if found is None:
        raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")
    number, hook = found
    hook.remove(module)
    del module._forward_pre_hooks[number]
    return module


def is_pruned(module):
    return any(isinstance(hook, BasePruningMethod) for _, part in module.named_modules() for hook in part._forward_pre_hooks.values())


# ---- checks


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, numbers.Integral) and amount < 0) or (not isinstance(amount, numbers.Integral) and not 0.0 <= amount <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def checked_count(amount, total):
    """How many of `total` to prune."""
    if isinstance(amount, numbers.Integral) and amount > total:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={total}")
    return amount if isinstance(amount, numbers.Integral) else round(amount * total)


def _validate_structured_pruning(t):
    if len(t.shape) <= 1:
        raise ValueError(
            f"Structured pruning can only be applied to multidimensional tensors. Found tensor of shape {t.shape} with {len(t.shape)} dims"
        )


def _validate_pruning_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _compute_norm(t, n, dim):
    dims = list(range(t.dim()))
    dim = dims[dim]
    return torch.norm(t, p=n, dim=[d for d in dims if d != dim])
