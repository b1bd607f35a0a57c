"""torch.amp.GradScaler: loss scaling, disabled where there is no CUDA device."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings


class GradScaler:
    """Without a CUDA device it scales by nothing, as PyTorch's does."""

    def __init__(self, device="cuda", init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
        if enabled and device == "cuda":
            text = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            warnings.warn(text, UserWarning, stacklevel=2)
        elif enabled:
            raise NotImplementedError(f"the embedded engine has no torch.amp.GradScaler({device!r})")

    def is_enabled(self):
        return False

    def scale(self, outputs):
        return outputs

    def unscale_(self, optimizer):
        return None

    def step(self, optimizer, *args, **kwargs):
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale=None):
        return None

    def get_scale(self):
        return 1.0

    def state_dict(self):
        return {}

    def load_state_dict(self, state_dict):
        return None
