"""torch.func: functions from functions."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch._functorch.eager_transforms import grad, grad_and_value, hessian, jacfwd, jacrev, jvp, linearize, vjp
from gradrepl.torch._functorch.functional_call import functional_call, replace_all_batch_norm_modules_, stack_module_state
from gradrepl.torch._functorch.rearrange import rearrange
from gradrepl.torch._functorch.vmap import vmap

__all__ = [
    "grad",
    "grad_and_value",
    "vmap",
    "replace_all_batch_norm_modules_",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "linearize",
    "rearrange",
    "vjp",
    "functional_call",
    "stack_module_state",
]
