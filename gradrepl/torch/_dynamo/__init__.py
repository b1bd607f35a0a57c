"""torch._dynamo: what is left of a compiler where there is none, the module in another one's clothes."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch._dynamo.eval_frame import OptimizedModule
from gradrepl.torch.compiler import list_backends, reset
