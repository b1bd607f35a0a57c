"""Checkpoints that keep the results of some operations and compute the others anew, as a policy says."""

__name__ = __name__.removeprefix("gradrepl.")

import enum
import weakref
from collections import defaultdict

from gradrepl import torch
from gradrepl.engine.names import listen, unlisten
from gradrepl.engine.views import owner
from gradrepl.torch._ops import OpOverload, OpOverloadPacket
from gradrepl.torch.utils._python_dispatch import TorchDispatchMode
from gradrepl.torch.utils._pytree import tree_map

CHANGED = (
    "This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that changed between "
    "forward and backward."
)
UNKNOWN = "{} encountered during backward but not found in storage. " + CHANGED
ONE_MORE = "{} invocation index {} encountered during backward but not found in storage. " + CHANGED
TWICE = (
    "Trying to backward an extra time. You are only allowed to backward once on any region computed under selective activation checkpoint."
)
NOT_AN_OP = "Expected op in `op_list` to be an OpOverload but got: {} of type {}. {}"
ONE_FORM = (
    "Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, change it to "
    "`torch.ops.aten.mm.default`."
)
MUTATED = "Tensor cached during selective activation checkpoint has been mutated"
RECOMPUTED, TAKEN = object(), object()


class CheckpointPolicy(enum.Enum):
    """What a policy may say of an operation."""

    MUST_SAVE, PREFER_SAVE, MUST_RECOMPUTE, PREFER_RECOMPUTE, MUST_CPU_OFFLOAD, PREFER_CPU_OFFLOAD = range(6)


CheckpointPolicy.__module__ = "torch.utils.checkpoint"


class SelectiveCheckpointContext:
    """What a policy is told besides the operation."""

    __module__ = "torch.utils.checkpoint"

    def __init__(self, *, is_recompute, op_output=None):
        self.is_recompute, self.op_output = is_recompute, op_output


class Kept:
    """A result that is kept, and whether its memory was written since."""

    live: weakref.WeakSet = weakref.WeakSet()
    listening = False

    def __init__(self, func, out):
        several = out if isinstance(out, tuple | list) else (out,)
        self.val, self.memories = out, {id(owner(x.array)) for x in several if isinstance(x, torch.Tensor)}
        self.mutated = func.overloadpacket.__name__.endswith("_")  # what is written in place is written after it was kept
        self.live.add(self)
        if not Kept.listening:
            Kept.listening = True
            listen("wrote", Kept.heard)

    @staticmethod
    def heard(tensor, node):
        """A tensor was written."""
        memory = id(owner(tensor.array))
        for kept in Kept.live:
            kept.mutated |= memory in kept.memories
        if not Kept.live:
            Kept.listening = False
            unlisten("wrote", Kept.heard)


class _CachingTorchDispatchMode(TorchDispatchMode):
    """The first time: keeps what the policy says."""

    def __init__(self, policy_fn, storage):
        self.policy_fn, self.storage, self.func_counter = policy_fn, storage, defaultdict(int)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        if func == torch.ops.aten.detach.default:
            return out
        place = self.func_counter[func]
        self.func_counter[func] += 1
        policy = self.policy_fn(SelectiveCheckpointContext(is_recompute=False, op_output=out), func, *args, **kwargs or {})
        if isinstance(policy, bool):
            policy = CheckpointPolicy.MUST_SAVE if policy else CheckpointPolicy.PREFER_RECOMPUTE
        recomputed = policy not in (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
        self.storage[func][place] = RECOMPUTED if recomputed else Kept(func, out)
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """The second time: answers with what was kept."""

    def __init__(self, policy_fn, storage, allow_cache_entry_mutation=False):
        self.storage, self.allow_cache_entry_mutation, self.func_counter = storage, allow_cache_entry_mutation, defaultdict(int)

    def __enter__(self):
        self.func_counter.clear()
        return super().__enter__()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func == torch.ops.aten.detach.default:
            return func(*args, **kwargs or {})
        place, known = self.func_counter[func], self.storage.get(func)
        self.func_counter[func] += 1
        if known is None:
            raise RuntimeError(UNKNOWN.format(func))
        if place not in known:
            raise RuntimeError(ONE_MORE.format(func, place))
        kept = known[place]
        if kept is TAKEN:
            raise RuntimeError(TWICE)
        if kept is RECOMPUTED:
            return func(*args, **kwargs or {})
        known[place] = TAKEN
        if kept.mutated and not self.allow_cache_entry_mutation:
            raise RuntimeError(MUTATED)
        return kept.val


def create_selective_checkpoint_contexts(policy_fn_or_list, allow_cache_entry_mutation=False):
    """The two contexts that `checkpoint(context_fn=…)` wants, for a policy or a list of operations to keep."""
    policy = policy_fn_or_list
    if isinstance(policy, list):
        for op in policy:
            if not isinstance(op, OpOverload):
                raise ValueError(NOT_AN_OP.format(op, type(op), ONE_FORM if isinstance(op, OpOverloadPacket) else ""))
        kept = set(policy)
        policy = lambda ctx, op, *args, **kwargs: op in kept  # noqa: E731
    elif not callable(policy):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict = defaultdict(dict)
    return _CachingTorchDispatchMode(policy, storage), _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation)
