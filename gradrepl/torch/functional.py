"""torch.functional: the functions that PyTorch writes in Python, as torch shows them."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.public import FUNCTIONS

__all__ = [
    name
    for name in """atleast_1d atleast_2d atleast_3d broadcast_shapes broadcast_tensors cartesian_prod block_diag cdist chain_matmul einsum
        istft lu norm meshgrid pca_lowrank split stft svd_lowrank tensordot unique unique_consecutive unravel_index""".split()
    if name in FUNCTIONS
]
globals().update({name: FUNCTIONS[name] for name in __all__})
