"""What cannot be batched, in PyTorch's words. Imports dispatch."""

from gradrepl.engine.batching.dispatch import RULES
from gradrepl.engine.conversions import NO_BRANCH, NO_ITEM
from gradrepl.engine.tensor import DETACH_VIEW

REPORT = "Please file an issue at https://github.com/pytorch/pytorch/issues if you need this feature."
DYNAMIC = "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over aten::{}. " + REPORT
NO_RULE = "Batching rule not implemented for aten::{}. We could not generate a fallback."
NO_STORAGE = "Cannot access data pointer of Tensor that doesn't have storage"
REFUSED = {
    **{name: DYNAMIC.format(shown) for name, shown in dict(
        nonzero="nonzero", argwhere="nonzero", unique_flat="_unique2", unique_along="unique_dim", unique_neighbours="unique_consecutive",
        unique_neighbours_along="unique_dim_consecutive").items()},
    **{name: NO_RULE.format(name) for name in ("equal", "chain_matmul")},
    **dict.fromkeys(("tolist", "numpy", "data_ptr", "__array__"), NO_STORAGE),
    "is_nonzero": NO_BRANCH,
    "full": NO_ITEM,
    "allclose": f"vmap over torch.allclose isn't supported yet. {REPORT}",
}  # fmt: skip


def refusing(text):
    def refuse(call, *args, **named):
        raise RuntimeError(text)

    return refuse


def new_tensor(call, data, *args, **named):
    raise RuntimeError(DETACH_VIEW if call.holds(data) else NO_ITEM)


RULES["tensor"] = new_tensor
RULES.update({name: refusing(text) for name, text in REFUSED.items()})
