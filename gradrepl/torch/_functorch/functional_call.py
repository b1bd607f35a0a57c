"""Modules as functions of their parameters. Imports the public torch only."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib

from gradrepl import torch

NOT_DICTS = "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got {}"


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """Call a module with other tensors in the place of its parameters and buffers."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, (dict, list, tuple)):
        raise ValueError(NOT_DICTS.format(type(given)))
    tensors = dict(given) if isinstance(given, dict) else {name: x for each in given for name, x in each.items()}
    args = () if args is None else args if isinstance(args, tuple) else (args,)
    with replaced(module, with_ties(module, tensors) if tie_weights else tensors, strict):
        return module(*args, **(kwargs or {}))


def places(module):
    """Name -> (the module that holds the tensor, its table, its name there)."""
    found = {}
    for prefix, each in module.named_modules(remove_duplicate=False):
        for table in (each._parameters, each._buffers):
            for name, x in table.items():
                if x is not None:
                    found[f"{prefix}.{name}" if prefix else name] = table, name
    return found


def with_ties(module, tensors):
    """The same tensor under all names a parameter has."""
    by_tensor = {id(table[name]): tensors[full] for full, (table, name) in places(module).items() if full in tensors}
    ties = {full: by_tensor[id(table[name])] for full, (table, name) in places(module).items() if id(table[name]) in by_tensor}
    return ties | tensors


@contextlib.contextmanager
def replaced(module, tensors, strict):
    known = places(module)
    if strict:
        check_names(module, known, tensors)
    before = []
    try:
        for full, x in tensors.items():
            if full not in known:
                raise KeyError(full.rpartition(".")[2])
            table, name = known[full]
            before.append((table, name, table[name]))
            table[name] = x
        yield
    finally:
        for table, name, x in reversed(before):
            table[name] = x


def check_names(module, known, tensors):
    lines = [
        f"\t{what} key(s): {', '.join(map(repr, sorted(names)))}."
        for what, names in (("Unexpected", tensors.keys() - known.keys()), ("Missing", known.keys() - tensors.keys()))
        if names
    ]
    if lines:
        raise RuntimeError(f"Error(s) in reparametrizing for {type(module).__name__}:\n" + "\n".join(lines))


def stack_module_state(models):
    """(parameters, buffers) of several like modules, stacked name by name."""
    if not models:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    if len({model.training for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to have the same training/eval mode.")
    if len({type(model) for model in models}) > 1:
        raise RuntimeError("stack_module_state: Expected all models to be of the same class.")
    parameters = {name: stacked([dict(model.named_parameters())[name] for model in models]) for name, _ in models[0].named_parameters()}
    buffers = {name: stacked([dict(model.named_buffers())[name] for model in models]) for name, _ in models[0].named_buffers()}
    return parameters, buffers


def stacked(tensors):
    return torch.stack([x.detach() for x in tensors]).requires_grad_(tensors[0].requires_grad)


def replace_all_batch_norm_modules_(root):
    """Let batch norms inside a module keep no running statistics."""
    for each in root.modules():
        if isinstance(each, torch.nn.modules.batchnorm._BatchNorm) and each.track_running_stats:
            each.running_mean = each.running_var = each.num_batches_tracked = None
            each.track_running_stats = False
    return root
