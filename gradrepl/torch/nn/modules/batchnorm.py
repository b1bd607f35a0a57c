"""torch.nn.modules.batchnorm: normalisation over the batch, with running statistics."""

__name__ = __name__.removeprefix("gradrepl.")

import gradrepl.torch.nn.functional as F
import gradrepl.torch.nn.init as init
from gradrepl import torch
from gradrepl.torch.nn.modules.lazy import LazyModuleMixin
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter, is_lazy


class _NormBase(Module):
    """What batch and instance normalisation share: weight and bias, and running statistics."""

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]

    def __init__(self, num_features, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        super().__init__()
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        like = dict(device=device, dtype=dtype)
        self.register_parameter("weight", Parameter(torch.empty(num_features, **like)) if affine else None)
        self.register_parameter("bias", Parameter(torch.empty(num_features, **like)) if affine and bias else None)
        self.register_buffer("running_mean", torch.zeros(num_features, **like) if track_running_stats else None)
        self.register_buffer("running_var", torch.ones(num_features, **like) if track_running_stats else None)
        self.register_buffer("num_batches_tracked", torch.tensor(0, dtype=torch.long) if track_running_stats else None)
        self.reset_parameters()

    def reset_running_stats(self):
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self):
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input):
        raise NotImplementedError

    def extra_repr(self):
        options = f"eps={self.eps}, momentum={self.momentum}, affine={self.affine}, bias={self.bias is not None}"
        return f"{self.num_features}, {options}, track_running_stats={self.track_running_stats}"

    def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
        """Version 1 had no num_batches_tracked."""
        version, key = local_metadata.get("version", None), prefix + "num_batches_tracked"
        if (version is None or version < 2) and self.track_running_stats and key not in state_dict:
            state_dict[key] = self.num_batches_tracked if self.num_batches_tracked is not None else torch.tensor(0)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _BatchNorm(_NormBase):
    def factor(self):
        """How much the running statistics move; counts the batch."""
        factor = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            factor = 1.0 / float(self.num_batches_tracked) if self.momentum is None else factor
        return factor

    def forward(self, input):
        self._check_input_dim(input)
        factor = self.factor()
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        running = not self.training or self.track_running_stats
        statistics = (self.running_mean, self.running_var) if running else (None, None)
        return F.batch_norm(input, *statistics, self.weight, self.bias, by_batch, factor, self.eps)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """A normalisation that learns its num_features from its first input."""

    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None, *, bias=True):
        like = dict(device=device, dtype=dtype)
        super().__init__(0, eps, momentum, False, False, **like, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        if affine:
            self.weight = UninitializedParameter(**like)
            if bias:
                self.bias = UninitializedParameter(**like)
        if track_running_stats:
            self.running_mean, self.running_var = UninitializedBuffer(**like), UninitializedBuffer(**like)
            self.num_batches_tracked = torch.tensor(0, dtype=torch.long)

    def reset_parameters(self):
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        if self.has_uninitialized_params():
            self.num_features = input.shape[1]
            for tensor in (self.weight, self.bias, self.running_mean, self.running_var):
                if tensor is not None and is_lazy(tensor):
                    tensor.materialize((self.num_features,))
            self.reset_parameters()


def needs(*dims):
    """A `_check_input_dim` for inputs of so many dimensions."""

    def _check_input_dim(self, input):
        if input.dim() not in dims:
            raise ValueError(f"expected {' or '.join(f'{d}D' for d in dims)} input (got {input.dim()}D input)")

    return _check_input_dim


class BatchNorm1d(_BatchNorm):
    _check_input_dim = needs(2, 3)


class BatchNorm2d(_BatchNorm):
    _check_input_dim = needs(4)


class BatchNorm3d(_BatchNorm):
    _check_input_dim = needs(5)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm1d
    _check_input_dim = needs(2, 3)


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm2d
    _check_input_dim = needs(4)


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    cls_to_become = BatchNorm3d
    _check_input_dim = needs(5)


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over several processes; here there is one."""

    def __init__(
        self,
        num_features,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input):
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module, process_group=None):
        """The module with its batch normalisations of this kind."""
        made = module
        if isinstance(module, _BatchNorm):
            options = module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats
            made = cls(*options, process_group)
            made.weight, made.bias = module.weight, module.bias
            made.running_mean, made.running_var = module.running_mean, module.running_var
            made.num_batches_tracked, made.training = module.num_batches_tracked, module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made
