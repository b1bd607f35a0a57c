"""torch.autograd._functions.utils: a gradient back in its input's shape."""

__name__ = __name__.removeprefix("gradrepl.")


def maybe_view(tensor, size, check_same_size=True):
    """The tensor in this shape."""
    return tensor if check_same_size and tensor.size() == size else tensor.contiguous().view(size)


def maybe_unexpand(tensor, old_size, check_same_size=True):
    """Undo an expansion by summing."""
    if check_same_size and tensor.size() == old_size:
        return tensor
    lead = tensor.dim() - len(old_size)
    dims = [*range(lead), *[lead + i for i, n in enumerate(old_size) if n != tensor.size(lead + i)]]
    result = tensor.sum(dims, keepdim=True) if dims else tensor
    return result.view(old_size) if lead else result
