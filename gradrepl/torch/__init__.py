"""The torch module on the embedded engine. Submodules are imported on first use."""

import importlib as _importlib
import math as _math
from math import e, inf, nan, pi

import gradrepl.engine
from gradrepl.engine.dtypes import (
    ALIASES,
    DTYPES,
    FORMATS,
    LAYOUTS,
    Size,
    device,
    dtype,
    finfo,
    get_default_dtype,
    iinfo,
    layout,
    memory_format,
    set_default_dtype,
)
from gradrepl.engine.modes import enable_grad, inference_mode, is_grad_enabled, is_inference_mode_enabled, no_grad, set_grad_enabled
from gradrepl.engine.printing import set_printoptions
from gradrepl.engine.public import FUNCTIONS
from gradrepl.engine.tensor import Tensor

globals().update(FUNCTIONS)
globals().update(DTYPES | LAYOUTS | FORMATS)
globals().update({alias: DTYPES[name] for alias, name in ALIASES.items()})
newaxis = None
_SUBMODULES = {
    "_C", "__config__", "accelerator", "amp", "autograd", "backends", "cuda", "distributions", "fft", "func", "linalg", "mps", "nn", "optim", "overrides", "random",
    "return_types", "serialization", "special", "testing", "storage", "types", "utils", "version", "xpu", "_tensor_str",
}  # fmt: skip


def __getattr__(name):
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    return _importlib.import_module(f"gradrepl.torch.{name}")


def set_num_threads(int):
    """Accepted; NumPy's BLAS keeps its own number of threads."""


def get_num_threads():
    return 1
