"""The torch module on the embedded engine. Submodules are imported on first use."""

import importlib as _importlib

import numpy as _np

import gradrepl.engine
from gradrepl.engine.dtypes import ALIASES, DTYPES, Size, dtype
from gradrepl.engine.modes import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from gradrepl.engine.public import FUNCTIONS
from gradrepl.engine.tensor import Tensor

globals().update(FUNCTIONS)
globals().update(DTYPES)
globals().update({alias: DTYPES[name] for alias, name in ALIASES.items()})
_SUBMODULES = {"autograd"}


def __getattr__(name):
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    return _importlib.import_module(f"gradrepl.torch.{name}")
