"""The torch module on the embedded engine. Submodules, and what lives in them, are imported on first use."""

import importlib as _importlib
import os as _os
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
__version__ = "2.13.0+cpu"
_SUBMODULES = set(
    """_C _VF __config__ __future__ _dynamo _functorch _logging _ops _tensor_str _utils accelerator amp autograd backends compiler cpu cuda
    distributed distributions fft func functional jit linalg masked mps nn optim overrides profiler random return_types serialization
    special storage testing types utils version xpu""".split()
)
_OUT_OF_REACH = "the embedded engine has no {}; `gradrepl --engine torch` runs on the installed PyTorch"
# what PyTorch has beside, and this engine has not
_BEYOND = set(
    """ao compiled_autograd contrib export futures fx hub library monitor mtia multiprocessing nested onnx package quantization sparse
    sparse_bsc_tensor sparse_bsr_tensor sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor quantize_per_channel
    quantize_per_tensor quantized_batch_norm quantized_gru_cell quantized_lstm_cell""".split()
)
# name -> the submodule that defines it
_HOMES = {
    name: home
    for home, names in dict(
        serialization="save load",
        amp="autocast GradScaler",
        **{
            "amp.autocast_mode": """is_autocast_enabled is_autocast_cpu_enabled is_autocast_cache_enabled get_autocast_dtype
            get_autocast_cpu_dtype get_autocast_gpu_dtype clear_autocast_cache"""
        },
        _settings="""set_num_threads get_num_threads set_num_interop_threads get_num_interop_threads set_default_device get_default_device
            use_deterministic_algorithms are_deterministic_algorithms_enabled is_deterministic_algorithms_warn_only_enabled
            set_deterministic_debug_mode get_deterministic_debug_mode set_float32_matmul_precision get_float32_matmul_precision
            set_warn_always is_warn_always_enabled set_flush_denormal compiled_with_cxx11_abi typename compile""",
        _lobpcg="lobpcg",
        func="vmap",
        _ops="ops",
        **{"nn.functional": "rrelu rrelu_", "nn._grids": "grid_sampler grid_sampler_2d grid_sampler_3d"},
    ).items()
    for name in names.split()
}

_OF_NN = set(  # what torch.nn is built on loads with it
    """
    _native_batch_norm_legit _native_batch_norm_legit_no_training _safe_softmax _scaled_dot_product_flash_attention_for_cpu _trilinear
    _weight_norm _weight_norm_interface adaptive_avg_pool1d adaptive_max_pool1d affine_grid_generator alpha_dropout alpha_dropout_
    avg_pool1d batch_norm bilinear channel_shuffle conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d
    convolution ctc_loss dropout dropout_ embedding embedding_bag embedding_renorm_ feature_alpha_dropout feature_alpha_dropout_
    feature_dropout feature_dropout_ group_norm gru gru_cell instance_norm layer_norm lstm lstm_cell max_pool1d max_pool1d_with_indices
    max_pool2d max_pool3d mkldnn_rnn_layer native_batch_norm native_channel_shuffle native_dropout native_group_norm native_layer_norm
    norm_except_dim pixel_shuffle pixel_unshuffle rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell unsafe_split
    """.split()
)


def __getattr__(name):
    if name in _SUBMODULES:
        return _importlib.import_module(f"gradrepl.torch.{name}")
    if name in _OF_NN:
        _importlib.import_module("gradrepl.engine.nn")
        globals().update({published: FUNCTIONS[published] for published in _OF_NN})
        return FUNCTIONS[name]
    if name == "torch":  # PyTorch's module holds itself
        return _importlib.import_module("gradrepl.torch")
    if name in _BEYOND:
        raise AttributeError(_OUT_OF_REACH.format(f"torch.{name}"))
    if name.startswith("_foreach_"):
        _importlib.import_module("gradrepl.engine.ops.foreach")
        if name in FUNCTIONS:
            return FUNCTIONS[name]
    if name.startswith("_test_"):
        return getattr(_importlib.import_module("gradrepl.engine.probes"), name)
    if name not in _HOMES:
        raise AttributeError(f"module 'torch' has no attribute {name!r}")
    value = globals()[name] = getattr(_importlib.import_module(f"gradrepl.torch.{_HOMES[name]}"), name)
    return value


def __dir__():
    return sorted({*globals(), *_SUBMODULES, *_HOMES, *_OF_NN})


if "TORCH_LOGS" in _os.environ:
    _importlib.import_module("gradrepl.torch._logging")
