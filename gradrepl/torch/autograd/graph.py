"""torch.autograd.graph."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.backward import saved_tensors_hooks
