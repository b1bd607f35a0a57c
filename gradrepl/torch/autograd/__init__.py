"""torch.autograd: backward, grad, custom Functions, hooks on what is saved, and what is built on them."""

__name__ = __name__.removeprefix("gradrepl.")

import importlib as _importlib
import sys as _sys
import types as _types

from gradrepl.engine.backward import backward, grad
from gradrepl.engine.function import Function
from gradrepl.engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = """
    Function NestedIOFunction Variable backward detect_anomaly enable_grad enforce_grad_layout_policy grad grad_mode gradcheck gradgradcheck
    inference_mode no_grad set_detect_anomaly set_grad_enabled set_multithreading_enabled variable
""".split()
# what is imported when it is first asked for: submodules, and names of submodules
_SUBMODULES = {"anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler", "profiler_util", "variable"}
_HOMES = {
    "NestedIOFunction": "function",
    "SavedTensor": "graph",
    "Variable": "variable",
    "_calculate_shape": "graph",
    "_profiler_enabled": "profiler",
    "kineto_available": "profiler",
    "_force_original_view_tracking": "grad_mode",
    "_unsafe_preserve_version_counter": "grad_mode",
    "is_view_replay_enabled": "grad_mode",
    "detect_anomaly": "anomaly_mode",
    "enforce_grad_layout_policy": "grad_mode",
    "gradcheck": "gradcheck",
    "gradgradcheck": "gradcheck",
    "is_multithreading_enabled": "grad_mode",
    "set_detect_anomaly": "anomaly_mode",
    "set_multithreading_enabled": "grad_mode",
}


def __getattr__(name):
    if name == "torch":
        return _importlib.import_module("gradrepl.torch")
    if name in _SUBMODULES:
        return _importlib.import_module(f"gradrepl.torch.autograd.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'torch.autograd' has no attribute {name!r}")
    value = globals()[name] = getattr(_importlib.import_module(f"gradrepl.torch.autograd.{_HOMES[name]}"), name)
    return value


class _Package(_types.ModuleType):
    """A submodule that is imported does not hide the function of the same name."""

    def __setattr__(self, name, value):
        if name not in _HOMES or not isinstance(value, _types.ModuleType):
            super().__setattr__(name, value)


_sys.modules[f"gradrepl.{__name__}"].__class__ = _Package


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_HOMES})
