"""torch.nn.utils.stateless: a module called with other parameters."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib


def place_of(module, path):
    """(the module that holds a tensor, its name there)"""
    prefix, _, name = path.rpartition(".")
    return module.get_submodule(prefix), name


def swapped_in(owner, name, tensor):
    """Put a tensor where a parameter or buffer is; returns what was there."""
    for table in (owner._parameters, owner._buffers):
        if name in table:
            before, table[name] = table[name], tensor
            return before
    raise AttributeError(f"'{type(owner).__name__}' object has no attribute '{name}'")


def tied_names(module):
    """Every name of every tensor -> all names of that tensor."""
    names: dict = {}
    for name, tensor in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]:
        names.setdefault(id(tensor), []).append(name)
    return {name: group for group in names.values() for name in group}


@contextlib.contextmanager
def _reparametrize_module(module, parameters_and_buffers, tie_weights=False, strict=False, stack_weights=False):
    given = dict(parameters_and_buffers)
    if strict:
        check_names(module, given)
    if tie_weights:
        groups = tied_names(module)
        for name in list(given):
            for other in groups.get(name, ()):
                if other in parameters_and_buffers and other != name and given[other] is not given[name]:
                    raise ValueError(
                        f"functional_call got multiple values for keys {sorted(groups[name])}, which are tied. "
                        "Consider using tie_weights=False"
                    )
                given.setdefault(other, given[name])
    before = []
    try:
        for path, tensor in given.items():
            owner, name = place_of(module, path)
            before.append((owner, name, swapped_in(owner, name, tensor)))
        yield
    finally:
        for owner, name, tensor in reversed(before):
            swapped_in(owner, name, tensor)


def check_names(module, given):
    known = {name for name, _ in [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]}
    errors = []
    for what, keys in (("Unexpected", [k for k in given if k not in known]), ("Missing", [k for k in known if k not in given])):
        if keys:
            errors.append(f"{what} key(s): " + ", ".join(f"'{key}'" for key in keys) + ".")
    if errors:
        raise RuntimeError("Error(s) in reparametrizing for {}:\n\t{}".format(module._get_name(), "\n\t".join(errors)))


def _functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


def functional_call(module, parameters_and_buffers, args=None, kwargs=None, *, tie_weights=True, strict=False):
    return _functional_call(module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict)
