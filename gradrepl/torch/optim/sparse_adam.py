"""torch.optim.SparseAdam: for sparse gradients, which the embedded engine does not make."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.optim.adam import check_adam
from gradrepl.torch.optim.optimizer import Optimizer


class SparseAdam(Optimizer):
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_adam(lr, betas, eps, 0)
        super().__init__(params, dict(lr=lr, betas=betas, eps=eps, maximize=maximize))

    def update(self, parameter, grad, state, group):
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
