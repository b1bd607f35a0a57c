"""torch.backends: what the libraries under a CPU build can do."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.backends import cpu, cuda, cudnn, mkl, mkldnn, mps, openmp
