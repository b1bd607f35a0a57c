"""torch.__config__: how this was built."""

__name__ = __name__.removeprefix("gradrepl.")


def show():
    return "PyTorch's interface on NumPy"


def parallel_info():
    return "ATen/Parallel:\n\tat::get_num_threads() : 1\n"
