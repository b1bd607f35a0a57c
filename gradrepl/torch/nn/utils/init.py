"""torch.nn.utils.init: modules made without drawing their parameters."""

__name__ = __name__.removeprefix("gradrepl.")

import inspect

from gradrepl import torch


def skip_init(module_cls, *args, **kwargs):
    if not issubclass(module_cls, torch.nn.Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    kwargs.pop("device", None)
    state = torch.get_rng_state()
    module = module_cls(*args, **kwargs)
    torch.set_rng_state(state)
    return module.to_empty(device="cpu")
