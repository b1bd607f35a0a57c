"""torch.cuda: what a CPU build of PyTorch answers."""

__name__ = __name__.removeprefix("gradrepl.")

import importlib

from gradrepl.engine.constructor import tensortype
from gradrepl.engine.dtypes import DTYPES

DISABLED = "Torch not compiled with CUDA enabled"


def is_available():
    return False


def is_initialized():
    return False


def is_bf16_supported(including_emulation=True):
    return False


def device_count():
    return 0


def _ignored(name):
    def ignored(*args, **kwargs):
        return None

    ignored.__name__, ignored.__doc__ = name, "Accepted; there is no CUDA device."
    return ignored


def _zero(name):
    def zero(device=None):
        return 0

    zero.__name__, zero.__doc__ = name, "0: there is no CUDA device."
    return zero


def _refused(name):
    def refused(*args, **kwargs):
        raise AssertionError(DISABLED)

    refused.__name__, refused.__doc__ = name, "Raises: there is no CUDA device."
    return refused


for _name in "manual_seed manual_seed_all seed seed_all empty_cache ipc_collect".split():
    globals()[_name] = _ignored(_name)
for _name in "memory_allocated max_memory_allocated memory_reserved max_memory_reserved memory_cached max_memory_cached".split():
    globals()[_name] = _zero(_name)
for _name in """current_device set_device get_device_name get_device_capability get_device_properties synchronize init get_rng_state
    set_rng_state current_stream default_stream mem_get_info initial_seed reset_peak_memory_stats""".split():
    globals()[_name] = _refused(_name)


class device:
    """The current CUDA device for the length of a block; without CUDA nothing changes."""

    def __init__(self, device):
        self.idx = device

    def __enter__(self):
        pass

    def __exit__(self, *_):
        return False


class Stream:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class Event:
    def __init__(self, *args, **kwargs):
        raise RuntimeError("Tried to instantiate dummy base class Event")


class _CudaType(tensortype):
    def __instancecheck__(cls, instance):
        return False

    def __call__(cls, *args, **kwargs):
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")


for _letter, _dtype in dict(
    Float="float32", Double="float64", Half="float16", Long="int64", Int="int32", Byte="uint8", Bool="bool"
).items():
    globals()[_letter + "Tensor"] = _CudaType(_letter + "Tensor", (), dict(__module__=__name__, dtype=DTYPES[_dtype]))


def __getattr__(name):
    if name != "amp":
        raise AttributeError(f"module 'torch.cuda' has no attribute {name!r}")
    return importlib.import_module("gradrepl.torch.cuda.amp")
