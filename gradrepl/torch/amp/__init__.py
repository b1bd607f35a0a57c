"""torch.amp: mixed precision, which exists on other devices only."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.amp.autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from gradrepl.torch.amp.grad_scaler import GradScaler
