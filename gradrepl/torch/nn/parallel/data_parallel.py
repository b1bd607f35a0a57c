"""torch.nn.parallel.data_parallel: a batch split over accelerators; without any, the module as it is."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn.modules.module import Module


class DataParallel(Module):
    """The module it is given, under the name `module`."""

    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module, self.device_ids = module, []

    def forward(self, *inputs, **kwargs):
        return self.module(*inputs, **kwargs)


def data_parallel(module, inputs, device_ids=None, output_device=None, dim=0, module_kwargs=None):
    raise RuntimeError("device type could not be determined")
