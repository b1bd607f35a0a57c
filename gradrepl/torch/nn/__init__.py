"""torch.nn: modules, parameters, functions, initialisation."""

__name__ = __name__.removeprefix("gradrepl.")

import importlib as _importlib

import gradrepl.torch.nn.functional as functional
import gradrepl.torch.nn.init as init
import gradrepl.torch.nn.parameter as parameter
from gradrepl.torch.nn.modules import *  # noqa: F403
from gradrepl.torch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

_SUBMODULES = {"utils", "attention", "grad", "parallel"}


def __getattr__(name):
    if name == "DataParallel":
        return _importlib.import_module("gradrepl.torch.nn.parallel").DataParallel
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'torch.nn' has no attribute {name!r}")
    return _importlib.import_module(f"gradrepl.torch.nn.{name}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES, "DataParallel"})
