"""What a sample does in an engine, as plain data: values, gradients of both orders, node, saved fields, warnings, or the error.

A sample is Python text; its last expression is the result. It is run on the embedded engine by the tests, and on PyTorch by record.py,
which keeps the answers as JSON, so that the suite needs no PyTorch. A family is a file `tests/engine/samples_<family>.py` with a list
`SAMPLES`, and if it needs more than the tensors below, a text `SETUP`.

A program (`tests/engine/programs/<name>.py`) prints what it sees; what PyTorch printed stands beside it.
"""

import ast
import contextlib
import importlib
import io
import json
import math
import pathlib
import re
import warnings

HERE = pathlib.Path(__file__).parent
RECORDED = HERE / "engine" / "recorded"
PROGRAMS = HERE / "engine" / "programs"
# the tensors every sample can use: a, b, s, m, k, c, z are leaves that require grad
SETUP = """\
D, F, I = torch.float64, torch.float32, torch.int64
a = torch.tensor([[1.5, 0.25, 2.0], [0.75, 3.0, 1.25]], dtype=D, requires_grad=True)
b = torch.tensor([[0.5, 2.0, 1.0], [1.75, 0.375, 2.5]], dtype=D, requires_grad=True)
s = torch.tensor([[-1.5, 0.25, -2.0], [0.0, 3.0, -0.75]], dtype=D, requires_grad=True)
m = torch.tensor([[2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [-0.5, 0.75, 1.5]], dtype=D, requires_grad=True)
c = torch.tensor([0.5, -1.5, 2.25], dtype=D, requires_grad=True)
k = torch.tensor(0.625, dtype=D, requires_grad=True)
z = torch.tensor([[1.5 + 0.5j, -0.25j, 2.0], [0.75 - 1j, 3.0 + 2j, 1.25 + 0.125j]], dtype=torch.complex128, requires_grad=True)
g = torch.tensor([[1.5, -0.25], [2.0, 0.5]], requires_grad=True)
i = torch.tensor([[3, -1, 2], [0, 5, -4]])
t = torch.tensor([[True, False, True], [False, False, True]])
e = torch.ones(0, 3, dtype=D, requires_grad=True)
"""


def family(name):
    """The samples of a family and its SETUP."""
    module = importlib.import_module(f"tests.engine.samples_{name}")
    return module.SAMPLES, getattr(module, "SETUP", "")


def families():
    return sorted(path.stem.removeprefix("samples_") for path in (HERE / "engine").glob("samples_*.py"))


def recorded(name):
    return json.loads((RECORDED / f"{name}.json").read_text())


def answer(torch, sample, setup=""):
    """Run one sample and tell what can be seen of it."""
    space = {"torch": torch}
    exec(SETUP + setup, space)
    leaves = {name: x for name, x in space.items() if isinstance(x, torch.Tensor) and x.requires_grad}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_warn_always(True)  # else what an earlier sample was warned of is not said again
        try:
            found = observed(torch, result_of(sample, space), leaves)
        except Exception as error:
            found = {"error": f"{type(error).__name__}: {error}"}
        finally:
            torch.set_warn_always(False)
    notes = [f"{w.category.__name__}: {str(w.message).split(' (Triggered internally')[0]}" for w in caught]
    return json.loads(json.dumps(found | ({"warnings": notes} if notes else {})))


def result_of(sample, space):
    tree = ast.parse(sample)
    last = tree.body.pop()
    exec(compile(tree, "<sample>", "exec"), space)
    return eval(compile(ast.Expression(last.value), "<sample>", "eval"), space)


def observed(torch, result, leaves):
    """The result, and the gradients of a weighted sum of its differentiable parts, twice; the first must be the same without a graph."""
    outputs = [x for x in flattened(result) if isinstance(x, torch.Tensor)]
    found = {"result": plain(torch, result), "nodes": [node_of(torch, x) for x in outputs]}
    differentiable = [x for x in outputs if x.requires_grad]
    bare = plain(torch, gradients(torch, differentiable, leaves, create_graph=False, retain_graph=True))
    first = gradients(torch, differentiable, leaves)
    second = gradients(torch, [x for x in first.values() if x.requires_grad], leaves)
    answer = found | {"gradients": plain(torch, first), "second": plain(torch, second)}
    return answer | ({"without a graph": bare} if differences(answer["gradients"], bare) else {})


def flattened(value):
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in flattened(item)]
    return [value]


def gradients(torch, outputs, leaves, **options):
    if not outputs:
        return {}
    weights = [torch.tensor([0.5 + 0.25 * (n % 5) for n in range(x.numel())], dtype=x.dtype).reshape(x.shape) for x in outputs]
    found = torch.autograd.grad(outputs, list(leaves.values()), weights, **{"create_graph": True, "allow_unused": True, **options})
    return {name: gradient for name, gradient in zip(leaves, found) if gradient is not None}


def node_of(torch, tensor):
    """The grad_fn by name, its edges, and its saved fields."""
    node = tensor.grad_fn
    if node is None:
        return None
    fields = sorted(name for name in dir(node) if name.startswith("_saved_"))
    edges = [[node and node.name(), number] for node, number in node.next_functions]
    return [node.name(), tensor.output_nr, edges, {name: plain(torch, getattr(node, name)) for name in fields}]


def plain(torch, value):
    """Anything as JSON: tensors as dtype, shape and values; complex numbers as pairs."""
    if isinstance(value, torch.Tensor):
        value = value.detach().clone()  # a gradient that PyTorch knows to be zero has no storage
        return [str(value.dtype), list(value.shape), plain(torch, value.reshape(-1).tolist())]
    if isinstance(value, (tuple, list)):
        return [plain(torch, item) for item in value]
    if isinstance(value, dict):
        return {name: plain(torch, item) for name, item in value.items()}
    if isinstance(value, complex):
        return [value.real, value.imag]
    return value if isinstance(value, (bool, int, float, str, type(None))) else str(value)


def differences(expected, found, tolerance=1e-6, path=""):
    """Where two answers differ: numbers within a tolerance, all else exactly."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted(expected.keys() | found.keys())
        return [line for key in keys for line in differences(expected.get(key), found.get(key), tolerance, f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return [line for n, pair in enumerate(zip(expected, found)) for line in differences(*pair, tolerance, f"{path}[{n}]")]
    if isinstance(expected, float) and isinstance(found, (int, float)) and not isinstance(found, bool):
        if math.isclose(expected, found, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(expected) and math.isnan(found)):
            return []
    return [] if type(expected) is type(found) and expected == found else [f"{path}: expected {expected!r}, found {found!r}"]


def printed(torch, name):
    """The lines a program prints, with addresses and places in PyTorch's own sources left out."""
    import numpy

    def attempt(function):
        """Print what a function returns, or raises."""
        try:
            print(repr(function()))
        except Exception as error:
            print(type(error).__name__, "|", error)

    out = io.StringIO()
    with contextlib.redirect_stdout(out), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.manual_seed(0)
        space = {"__name__": "__main__", "torch": torch, "attempt": attempt, "warnings": warnings, "np": numpy}
        exec(compile((PROGRAMS / f"{name}.py").read_text(), name, "exec"), space)
    text = re.sub(r"0x[0-9a-f]+", "0x", out.getvalue())
    return re.sub(r" \(Triggered internally at [^)]*\)", "", text).splitlines()
