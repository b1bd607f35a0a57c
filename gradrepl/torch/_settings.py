"""What a program may set or ask of `torch` as a whole. Imports the engine's dtypes and tensor."""

__name__ = __name__.removeprefix("gradrepl.")

import functools

from gradrepl.engine.advice import Always
from gradrepl.engine.dtypes import CPU, Default
from gradrepl.engine.dtypes import device as _device
from gradrepl.engine.tensor import Tensor

_STATE = dict(deterministic=False, warn_only=False, precision="highest", threads=1, interop_threads=1)


def set_num_threads(int):
    """Accepted; NumPy's BLAS keeps its own number of threads."""
    if not hasattr(int, "__index__"):  # the parameter has the type's name
        raise TypeError(f"set_num_threads expects an int, but got {type(int).__name__}")
    if int < 1:
        raise RuntimeError("set_num_threads expects a positive integer")
    _STATE["threads"] = int


def get_num_threads():
    return _STATE["threads"]


def set_num_interop_threads(int):
    """Accepted; ops run one after the other."""
    _STATE["interop_threads"] = int


def get_num_interop_threads():
    return _STATE["interop_threads"]


def set_default_device(device):
    """The device of tensors made from here on; only the CPU can hold any."""
    Default.device = None if device is None else _device(device)


def get_default_device():
    return Default.device or CPU


def use_deterministic_algorithms(mode, *, warn_only=False):
    """Every op here is deterministic; memory that was not written is filled with what stands out."""
    _STATE.update(deterministic=bool(mode), warn_only=warn_only)
    Default.stands_out = bool(mode)


def are_deterministic_algorithms_enabled():
    return _STATE["deterministic"]


def is_deterministic_algorithms_warn_only_enabled():
    return _STATE["warn_only"]


def set_deterministic_debug_mode(debug_mode):
    levels = dict(default=0, warn=1, error=2)
    if isinstance(debug_mode, str) and debug_mode not in levels:
        raise RuntimeError(f"invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got {debug_mode}")
    level = levels.get(debug_mode, debug_mode)
    if level not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {level}")
    use_deterministic_algorithms(level > 0, warn_only=level == 1)


def get_deterministic_debug_mode():
    return 0 if not _STATE["deterministic"] else 1 if _STATE["warn_only"] else 2


def set_float32_matmul_precision(precision):
    """Accepted; products are always computed in full precision."""
    _STATE["precision"] = precision


def get_float32_matmul_precision():
    return _STATE["precision"]


def set_warn_always(b):
    """Give the warnings that come once a process each time."""
    Always.on = b


def is_warn_always_enabled():
    return Always.on


def set_flush_denormal(mode):
    """False: NumPy keeps denormal numbers."""
    return False


def compiled_with_cxx11_abi():
    return True


def typename(obj, /):
    """The name of a type with its module, or of a tensor its type."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None) or ""
    return kind.__qualname__ if module in ("", "builtins", "__builtin__") else f"{module}.{kind.__qualname__}"


MODES = "default", "lite", "reduce-overhead", "max-autotune-no-cudagraphs", "max-autotune"


def compile(model=None, *, fullgraph=False, dynamic=None, backend="inductor", mode=None, options=None, disable=False, **named):
    """The model itself, a module in the wrapper PyTorch puts around it: there is nothing to compile it to, and it means the same."""
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if model is None:
        return functools.partial(compile, backend=backend, mode=mode, options=options, disable=disable)
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    if backend == "inductor" and mode is not None and mode not in MODES:
        raise RuntimeError(f"Unrecognized mode={mode}, should be one of: {', '.join(MODES)}")
    from gradrepl.torch import _dynamo, nn

    return _dynamo.OptimizedModule(model) if isinstance(model, nn.Module) and not disable else model
