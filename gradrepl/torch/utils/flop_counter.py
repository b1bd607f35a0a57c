"""torch.utils.flop_counter: how many multiplications and additions a stretch of program takes, by module and operation."""

__name__ = __name__.removeprefix("gradrepl.")

from collections import defaultdict
from math import prod

from gradrepl import torch
from gradrepl.torch.nn.modules import module as _module
from gradrepl.torch.utils._python_dispatch import TorchDispatchMode

__all__ = ["FlopCounterMode", "register_flop_formula"]
flop_registry: dict = {}
SUFFIXES = ["", "K", "M", "B", "T"]


def register_flop_formula(targets, get_raw=False):
    """Decorate a formula: what an operation takes, by the shapes of its arguments and `out_shape` (`get_raw`: by them and `out_val`)."""

    def register(formula):
        raw = formula if get_raw else _of_shapes(formula)
        flop_registry.update(dict.fromkeys(targets if isinstance(targets, tuple | list) else [targets], raw))
        return formula

    return register


def _of_shapes(formula):
    def raw(*args, out_val=None, **kwargs):
        return formula(*map(_shape, args), out_shape=_shape(out_val), **{name: _shape(value) for name, value in kwargs.items()})

    return raw


def _shape(value):
    if isinstance(value, torch.Tensor):
        return value.shape
    return type(value)(map(_shape, value)) if type(value) in (list, tuple) else value


aten = torch.ops.aten


@register_flop_formula(aten.mm)
def mm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    (m, k), (_, n) = a_shape, b_shape
    return m * n * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(self_shape, a_shape, b_shape, *args, out_shape=None, **kwargs):
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape, b_shape, *args, out_shape=None, **kwargs):
    (b, m, k), (_, _, n) = a_shape, b_shape
    return b * m * n * 2 * k


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(self_shape, a_shape, b_shape, *args, out_shape=None, **kwargs):
    return bmm_flop(a_shape, b_shape)


def conv_flop_count(x_shape, w_shape, out_shape, transposed=False):
    """One product with the whole kernel for every place of the result, or, transposed, of the input."""
    out_channels, in_channels, *kernel = w_shape
    return prod((x_shape if transposed else out_shape)[2:]) * prod(kernel) * x_shape[0] * out_channels * in_channels * 2


@register_flop_formula(aten.convolution)
def conv_flop(x_shape, w_shape, _bias, _stride, _padding, _dilation, transposed=False, *args, out_shape=None, **kwargs):
    return conv_flop_count(x_shape, w_shape, out_shape, transposed)


def sdpa_flop_count(query_shape, key_shape, value_shape):
    *batch, s_q, d_q = query_shape
    b, s_k, d_v = prod(batch), key_shape[-2], value_shape[-1]
    return bmm_flop((b, s_q, d_q), (b, d_q, s_k)) + bmm_flop((b, s_q, s_k), (b, s_k, d_v))


def convert_num_with_suffix(number, suffix):
    return f"{number / 1000 ** SUFFIXES.index(suffix):.3f}{suffix}"


def get_suffix_str(number):
    """The unit in which a number is shown: the largest that keeps it above 10, as far as there are some."""
    return SUFFIXES[max(0, min(len(SUFFIXES) - 1, (len(str(number)) - 2) // 3))]


class FlopCounterMode(TorchDispatchMode):
    """Counts what runs inside `with`, for the program as a whole and for the modules it calls."""

    def __init__(self, mods=None, depth=2, display=True, custom_mapping=None):
        super().__init__()
        self.depth, self.display = depth, display
        raw = {
            key: formula if getattr(formula, "_get_raw", False) else _of_shapes(formula) for key, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **raw}
        self.flop_counts: dict = defaultdict(lambda: defaultdict(int))
        self.parents = ["Global"]

    def get_total_flops(self):
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self):
        """Module -> operation -> how many."""
        return {module: dict(counts) for module, counts in self.flop_counts.items()}

    def get_table(self, depth=None):
        """The counts as text: modules down to a depth, and their operations."""
        total, rows = max(1, self.get_total_flops()), []
        unit = get_suffix_str(self.get_total_flops())
        for module, counts in self.flop_counts.items():
            level = module.count(".") + (module != "Global")
            if level > (self.depth if depth is None else depth):
                continue
            lines = [(module, sum(counts.values())), *[(f" - {op}", count) for op, count in counts.items()]]
            rows += [(" " * level + name, convert_num_with_suffix(count, unit), f"{count / total:.2%}") for name, count in lines]
        cells = [("Module", "FLOP", "% Total"), *rows]
        widths = [max(len(row[i]) for row in cells) for i in range(3)]
        lines = ["  ".join([f"{row[0]:<{widths[0]}}", f"{row[1]:>{widths[1]}}", f"{row[2]:>{widths[2]}}"]) for row in cells]
        return "\n".join([lines[0], "  ".join(["-" * width for width in widths]), *lines[1:]])

    def __enter__(self):
        self.flop_counts.clear()
        self.names: dict = {}
        self.handles = [
            _module.register_module_forward_pre_hook(self._enter_module),
            _module.register_module_forward_hook(self._leave_module, always_call=True),
        ]
        return super().__enter__()

    def __exit__(self, *args):
        super().__exit__(*args)
        for handle in self.handles:
            handle.remove()
        if self.display:
            print(self.get_table(self.depth))

    def _enter_module(self, module, inputs):
        for name, child in module.named_children():
            self.names[id(child)] = f"{self.names.get(id(module), type(module).__name__)}.{name}"
        self.parents.append(self.names.setdefault(id(module), type(module).__name__))

    def _leave_module(self, module, inputs, output):
        self.parents.pop()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **kwargs or {})
        formula = self.flop_registry.get(func.overloadpacket)
        if formula:
            count = formula(*args, **kwargs or {}, out_val=out)
            for parent in dict.fromkeys(self.parents):
                self.flop_counts[parent][func.overloadpacket] += count
        return out
