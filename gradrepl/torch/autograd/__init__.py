"""torch.autograd: backward, grad, custom Functions, hooks on what is saved."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.backward import backward, grad
from gradrepl.engine.function import Function
from gradrepl.engine.modes import enable_grad, inference_mode, no_grad, set_grad_enabled
from gradrepl.torch.autograd import function, graph
