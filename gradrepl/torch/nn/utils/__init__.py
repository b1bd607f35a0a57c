"""torch.nn.utils: gradients clipped, parameters as one vector, and (as submodules) parametrizations, pruning, packed sequences."""

__name__ = __name__.removeprefix("gradrepl.")

import importlib as _importlib

import gradrepl.torch.nn.utils.rnn  # becomes the attribute `rnn`
from gradrepl.torch.nn.utils.clip_grad import clip_grad_norm, clip_grad_norm_, clip_grad_value_, clip_grads_with_norm_, get_total_norm
from gradrepl.torch.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from gradrepl.torch.nn.utils.init import skip_init

# submodule -> the names it gives to this module; they load when first asked for
_LATE = {
    "fusion": ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"],
    "parametrizations": [],
    "parametrize": [],
    "prune": [],
    "spectral_norm": ["spectral_norm", "remove_spectral_norm"],
    "stateless": [],
    "weight_norm": ["weight_norm", "remove_weight_norm"],
}


def __getattr__(name):
    for home, names in _LATE.items():
        if name in names:
            value = getattr(_importlib.import_module(f"gradrepl.torch.nn.utils.{home}"), name)
            globals()[name] = value  # the function, also where its module has the same name
            return value
    if name in _LATE:
        return _importlib.import_module(f"gradrepl.torch.nn.utils.{name}")
    raise AttributeError(f"module 'torch.nn.utils' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *_LATE, *[name for names in _LATE.values() for name in names]})
