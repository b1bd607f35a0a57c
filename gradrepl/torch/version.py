"""torch.version: the PyTorch whose answers the embedded engine gives."""

__name__ = __name__.removeprefix("gradrepl.")

__version__ = "2.13.0+cpu"
debug = False
cuda = None
hip = None
xpu = None
rocm = None
git_version = "cf30192"
