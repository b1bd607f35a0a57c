"""torch.nn.parallel: modules over several devices, of which there is one."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn.parallel.data_parallel import DataParallel, data_parallel


class DistributedDataParallel:
    """Needs other processes."""

    def __init__(self, module, *args, **kwargs):
        raise ValueError("Default process group has not been initialized, please make sure to call init_process_group.")
