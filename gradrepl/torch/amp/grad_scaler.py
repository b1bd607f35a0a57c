"""torch.amp.GradScaler: losses scaled up, so that small gradients of half precision are not lost, and steps skipped that overflow."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings
from collections.abc import Iterable
from enum import Enum

from gradrepl import torch

NO_SCALE = (
    "Attempted {} but _scale is None.  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
)
NEW_SCALE = "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with requires_grad=False."
EMPTY = "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."


class OptState(Enum):
    """How far an optimizer is since the last update."""

    READY, UNSCALED, STEPPED = range(3)


def check(holds, text):
    if not holds:
        raise AssertionError(text)


class GradScaler:
    """Disabled without a CUDA device, if it is for one, as PyTorch's is."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        self._device, self._enabled = device, enabled
        if enabled and device == "cuda":
            text = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(text, UserWarning, stacklevel=2)
            self._enabled = False
        if self._enabled:
            check(growth_factor > 1.0, "The growth factor must be > 1.0.")
            check(backoff_factor < 1.0, "The backoff factor must be < 1.0.")
            self._init_scale, self._init_growth_tracker, self._scale, self._growth_tracker = init_scale, 0, None, None
            self._growth_factor, self._backoff_factor, self._growth_interval = growth_factor, backoff_factor, growth_interval
            self._per_optimizer_states: dict = {}

    def is_enabled(self):
        return self._enabled

    # ---- one iteration

    def scale(self, outputs):
        """A tensor, or each of several, times the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, torch.Tensor):
            if self._scale is None:
                self._scale = torch.full((), self._init_scale, dtype=torch.float32)
                self._growth_tracker = torch.full((), self._init_growth_tracker, dtype=torch.int32)
            return outputs * self._scale
        if isinstance(outputs, Iterable):
            scaled = map(self.scale, outputs)
            return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def state_of(self, optimizer, action):
        check(self._scale is not None, NO_SCALE.format(action))
        return self._per_optimizer_states.setdefault(id(optimizer), dict(stage=OptState.READY, overflows=None))

    def unscale_(self, optimizer):
        """Divide an optimizer's gradients by the scale, and look whether they are finite."""
        if not self._enabled:
            return
        state = self.state_of(optimizer, "unscale_")
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse = self._scale.double().reciprocal().float()
        state["overflows"] = False
        with torch.no_grad():
            for grad in [p.grad for group in optimizer.param_groups for p in group["params"] if p.grad is not None]:
                if grad.dtype == torch.float16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                state["overflows"] |= not bool(grad.isfinite().all())
                grad.mul_(inverse)
        state["stage"] = OptState.UNSCALED

    def step(self, optimizer, *args, **kwargs):
        """The optimizer's step, unless a gradient overflowed."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        state = self.state_of(optimizer, "step")
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        result = None if state["overflows"] else optimizer.step(*args, **kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def update(self, new_scale=None):
        """Lower the scale after an overflow; raise it after `growth_interval` iterations without one."""
        if not self._enabled:
            return
        check(self._scale is not None, NO_SCALE.format("update"))
        if isinstance(new_scale, torch.Tensor):
            check(new_scale.numel() == 1 and not new_scale.requires_grad, NEW_SCALE)
            self._scale.copy_(new_scale)
        elif new_scale is not None:
            self._scale.fill_(new_scale)
        else:
            found = [state["overflows"] for state in self._per_optimizer_states.values() if state["overflows"] is not None]
            check(found, "No inf checks were recorded prior to update.")
            self.follow(any(found))
        self._per_optimizer_states.clear()

    def follow(self, overflow):
        if overflow:
            self._scale.mul_(self._backoff_factor)
            self._growth_tracker.zero_()
        elif self._growth_tracker.add_(1).item() == self._growth_interval:
            grown = self._scale * self._growth_factor
            if grown.isfinite():
                self._scale.copy_(grown)
            self._growth_tracker.zero_()

    # ---- what it is set to

    def get_scale(self):
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def _get_growth_tracker(self):
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else self._growth_tracker.item()

    def get_growth_factor(self):
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        self._growth_interval = new_interval

    def state_dict(self):
        if not self._enabled:
            return {}
        factors = dict(growth_factor=self._growth_factor, backoff_factor=self._backoff_factor, growth_interval=self._growth_interval)
        return {"scale": self.get_scale(), **factors, "_growth_tracker": self._get_growth_tracker()}

    def load_state_dict(self, state_dict):
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(EMPTY)
        self._init_scale, self._init_growth_tracker = state_dict["scale"], state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
            self._growth_tracker.fill_(state_dict["_growth_tracker"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
