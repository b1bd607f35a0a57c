"""torch._C: the few names of it that programs use."""

__name__ = __name__.removeprefix("gradrepl.")

import weakref as _weakref
from types import SimpleNamespace

from gradrepl.engine import probes
from gradrepl.engine.barriers import DelayedError, Error, UndefinedGrad, UndefinedGradBackward
from gradrepl.engine.forward import set_enabled as _set_fwd_grad_enabled
from gradrepl.engine.keeping import make_saved_tensor
from gradrepl.engine.missing import NotImplementedNode
from gradrepl.engine.modes import enter_mode as _enter_mode
from gradrepl.engine.modes import here as _here
from gradrepl.engine.modes import is_grad_enabled, is_inference_mode_enabled
from gradrepl.engine.names import NAMES
from gradrepl.engine.node import AccumulateGrad, InputMetadata
from gradrepl.engine.random import Generator
from gradrepl.engine.replay import is_view_replay_enabled as _is_view_replay_enabled
from gradrepl.engine.replay import set_view_replay_enabled as _set_view_replay_enabled
from gradrepl.engine.running import _EngineBase, keeps_graph
from gradrepl.engine.running import current_node as _current_autograd_node
from gradrepl.engine.running import execution_order as _current_graph_task_execution_order
from gradrepl.engine.running import run_number as _current_graph_task_id
from gradrepl.engine.running import will_run_node as _will_engine_execute_node
from gradrepl.engine.saved import SavedTensor, disable_hooks, pop_hooks, push_hooks
from gradrepl.engine.subclasses import DisableTorchFunctionSubclass, _disabled_torch_function_impl
from gradrepl.engine.tensor import Tensor as TensorBase
from gradrepl.engine.views import CopySlices, set_versions

KNOWN = AccumulateGrad, CopySlices, NotImplementedNode, Error, UndefinedGradBackward, DelayedError, UndefinedGrad


class _Functions:
    """`torch._C._functions`: the classes of the nodes, by name."""

    def __getattr__(self, name):
        known = {node.__name__: node for node in KNOWN}
        for function in list(NAMES.values()):
            declaration = getattr(function, "declaration", None)
            if declaration is not None and declaration.node_name == name:
                return declaration.node
        if name not in known:
            raise AttributeError(f"module 'torch._C._functions' has no attribute {name!r}")
        return known[name]


class _CachedTensors:
    """Tensors that a program names as kept elsewhere, without keeping them."""

    on = False
    known: _weakref.WeakValueDictionary = _weakref.WeakValueDictionary()  # by id: tensors compare elementwise


def _set_cached_tensors_enabled(enabled):
    _CachedTensors.on = enabled


def _add_cached_tensor(tensor):
    _CachedTensors.known[id(tensor)] = tensor


def _remove_cached_tensor(tensor):
    _CachedTensors.known.pop(id(tensor), None)


def _is_cached_tensor(tensor):
    return _CachedTensors.on and _CachedTensors.known.get(id(tensor)) is tensor


class _WeakTensorRef:
    """Tells whether a tensor is still there, without keeping it."""

    def __init__(self, tensor):
        self._reference = _weakref.ref(tensor)

    def expired(self):
        return self._reference() is None


def _set_grad_enabled(enabled):
    _enter_mode(enabled, _here.inference)


def _is_fwd_grad_enabled():
    return _here.forward


class _NN:
    """`torch._C._nn`: what torch.nn.functional is made of."""

    def __getattr__(self, name):
        from gradrepl.torch.nn import functional

        return getattr(probes if hasattr(probes, name) else functional, name)


_nn = _NN()
_functions = _Functions()
_autograd = SimpleNamespace(
    _make_saved_tensor=make_saved_tensor,
    _push_saved_tensors_default_hooks=push_hooks,
    _pop_saved_tensors_default_hooks=pop_hooks,
    _top_saved_tensors_default_hooks=lambda ignore_is_tracing=False: _here.packing[-1] if _here.packing else None,
    _saved_tensors_hooks_disable=lambda message, fail_if_non_empty=True: disable_hooks(message),
    _saved_tensors_hooks_enable=lambda: setattr(_here, "no_packing", None),
    _saved_tensors_hooks_is_enabled=lambda: _here.no_packing is None,
    _saved_tensors_hooks_get_disabled_error_message=lambda: _here.no_packing,
    SavedTensor=SavedTensor,
    _InputMetadata=InputMetadata,
    _get_current_graph_task_keep_graph=keeps_graph,
    _unsafe_set_version_counter=set_versions,
)
