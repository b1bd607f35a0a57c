"""torch.optim.Muon: momentum made nearly orthogonal, for matrices."""

__name__ = "torch.optim._muon"

import math

import numpy as np

from gradrepl import torch
from gradrepl.torch.optim.optimizer import Optimizer, check_lr, value_of


def brief(tensor):
    """Rounded to the eight bits of bfloat16, in which PyTorch iterates here."""
    bits = tensor.to(torch.float32).numpy().view(np.uint32)
    kept = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return torch.from_numpy(np.asarray(kept, dtype=np.uint32).view(np.float32))


def orthogonalized(grad, coefficients, steps, eps):
    """Newton and Schulz's iteration towards the nearest orthogonal matrix."""
    a, b, c = coefficients
    x = brief(grad)
    flip = grad.size(0) > grad.size(1)
    x = x.T if flip else x
    x = brief(x / brief(x.norm()).clamp(min=eps))
    for _ in range(steps):
        gram = brief(x @ x.T)
        update = brief(torch.addmm(gram, gram, gram, beta=b, alpha=c))
        x = brief(torch.addmm(x, update, x, beta=a))
    return x.T if flip else x


class Muon(Optimizer):
    def __init__(
        self,
        params,
        lr=1e-3,
        weight_decay=0.1,
        momentum=0.95,
        nesterov=True,
        ns_coefficients=(3.4445, -4.7750, 2.0315),
        eps=1e-7,
        ns_steps=5,
        adjust_lr_fn=None,
    ):
        check_lr(lr)
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults = dict(lr=lr, weight_decay=weight_decay, momentum=momentum, nesterov=nesterov, ns_coefficients=ns_coefficients)
        super().__init__(params, {**defaults, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.dim() != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {parameter.size()}")

    def update(self, parameter, grad, state, group):
        buffer = state.setdefault("momentum_buffer", torch.zeros_like(grad))
        buffer.lerp_(grad, 1 - group["momentum"])
        update = grad.lerp(buffer, group["momentum"]) if group["nesterov"] else buffer
        update = orthogonalized(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        lr, (rows, columns) = value_of(group["lr"]), parameter.shape
        ratio = 0.2 * math.sqrt(max(rows, columns)) if group["adjust_lr_fn"] == "match_rms_adamw" else math.sqrt(max(1, rows / columns))
        parameter.mul_(1 - lr * group["weight_decay"])
        parameter.add_(update.to(parameter.dtype), alpha=-lr * ratio)
