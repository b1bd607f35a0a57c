"""torch.fft: Fourier transforms."""

__name__ = __name__.removeprefix("gradrepl.")

from types import FunctionType

from gradrepl.engine.arguments import guard
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

globals().update({
    name: guard(function, f"fft_{name}", "fft")
    for name, function in list(globals().items())
    if isinstance(function, FunctionType) and name != "guard"
})  # fmt: skip
