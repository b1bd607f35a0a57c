"""torch.amp.autocast: a block in which products would run in a lower precision."""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
import warnings


class autocast(contextlib.ContextDecorator):
    """Switched off without CUDA, as in PyTorch; on the CPU it needs bfloat16, which the embedded engine has no tensors of."""

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type == "cuda" and enabled:
            warnings.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling", UserWarning, stacklevel=2)
            enabled = False
        self.device, self.enabled = device_type, enabled

    def __enter__(self):
        if self.enabled:
            raise NotImplementedError(f"the embedded engine has no torch.autocast({self.device!r}): it has no torch.bfloat16 tensors")
        return self

    def __exit__(self, *_):
        return False
