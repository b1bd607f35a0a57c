"""torch.nn.modules.utils: one number as a tuple of several."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn._windows import tuple_of


def _ntuple(count, name="parse"):
    def parse(value):
        return tuple_of(value, count)

    parse.__name__ = name
    return parse


_single, _pair = _ntuple(1, "_single"), _ntuple(2, "_pair")
_triple, _quadruple = _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(values, times):
    """The values from last to first, each as often as asked for."""
    return tuple(value for value in reversed(values) for _ in range(times))
