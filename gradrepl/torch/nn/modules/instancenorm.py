"""torch.nn.modules.instancenorm: normalisation of every channel of every sample by itself."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings

import gradrepl.torch.nn.functional as F
from gradrepl.torch.nn.modules.batchnorm import _LazyNormBase, _NormBase, needs

NO_MATCH = (
    "input's size at dim={} does not match num_features. "
    "You can silence this warning by not passing in num_features, which is not used because affine=False"
)


class _InstanceNorm(_NormBase):
    dims = 1

    def __init__(
        self, num_features, eps=1e-5, momentum=0.1, affine=False, track_running_stats=False, device=None, dtype=None, *, bias=True
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input):
        self._check_input_dim(input)
        place = input.dim() - self.dims - 1
        if input.size(place) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={place} to match num_features ({self.num_features}), but got: {input.size(place)}."
                )
            warnings.warn(NO_MATCH.format(place), stacklevel=2)
        return self.apply_to(input.unsqueeze(0)).squeeze(0) if input.dim() == self.dims + 1 else self.apply_to(input)

    def apply_to(self, input):
        by_input = self.training or not self.track_running_stats
        momentum = self.momentum if self.momentum is not None else 0.0
        return F.instance_norm(input, self.running_mean, self.running_var, self.weight, self.bias, by_input, momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    dims, _check_input_dim = 1, needs(2, 3)


class InstanceNorm2d(_InstanceNorm):
    dims, _check_input_dim = 2, needs(3, 4)


class InstanceNorm3d(_InstanceNorm):
    dims, _check_input_dim = 3, needs(4, 5)


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm1d
    dims, _check_input_dim = 1, needs(2, 3)


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm2d
    dims, _check_input_dim = 2, needs(3, 4)


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    cls_to_become = InstanceNorm3d
    dims, _check_input_dim = 3, needs(4, 5)
