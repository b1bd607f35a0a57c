"""torch.fft: Fourier transforms."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine import algebra as _algebra  # noqa: F401  (declares what follows, with its derivatives)
from gradrepl.engine.ops.fourier import (
    fft,
    fft2,
    fftfreq,
    fftn,
    fftshift,
    hfft,
    hfft2,
    hfftn,
    ifft,
    ifft2,
    ifftn,
    ifftshift,
    ihfft,
    ihfft2,
    ihfftn,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftfreq,
    rfftn,
)
from gradrepl.engine.public import show as _show

_show(globals(), "fft")
