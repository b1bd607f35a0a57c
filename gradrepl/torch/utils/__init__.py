"""torch.utils: data loading, checkpointing, hooks. Imports the torch modules only."""

import importlib as _importlib

__name__ = __name__.removeprefix("gradrepl.")
_SUBMODULES = {"benchmark", "data", "checkpoint", "hooks", "dlpack", "_pytree", "_python_dispatch", "_mode_utils", "flop_counter"}


def __getattr__(name):
    if name == "swap_tensors":
        return _importlib.import_module("gradrepl.torch.utils._swapping").swap_tensors
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'torch.utils' has no attribute {name!r}")
    return _importlib.import_module(f"gradrepl.torch.utils.{name}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES, "swap_tensors"})
