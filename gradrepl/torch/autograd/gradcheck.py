"""torch.autograd.gradcheck: derivatives against finite differences. Imports the public torch only."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings
from typing import NamedTuple

from gradrepl import torch
from gradrepl.torch.autograd import forward_ad

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]

NOT_DOUBLE = (
    "Input #{} requires gradient and is not a double precision floating point or complex. "
    "This check will likely fail if all the inputs are not of double precision floating point or complex. "
)
STRIDE_0 = (
    "The {}th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to "
    "compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck."
)
NO_INPUT = "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True."
PERTURBED = "Expected `func` to return outputs with the same {0} when inputs are perturbed by {1}, but got: {0}s {2} and {3}."
NOT_REENTRANT = (
    "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, "
    "although analytical gradient matches numerical gradient.The tolerance for nondeterminism was {}.\n\nNOTE: "
    "If your op relies on non-deterministic operations i.e., it is listed here:\n"
    "https://pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html\nthis failure might be expected.\n"
    "\nIf you are adding a new operator, please file an issue and then use one of the\nworkarounds. "
    "The workaround depends on how your test invokes gradcheck/gradgradcheck.\nIf the test\n"
    "- manually invokes gradcheck/gradgradcheck, then call gradcheck/gradgradcheck\n  with `nondet_tol=<tol>` as a keyword argument.\n"
    "- is OpInfo-based (e.g., in test_ops_gradients.py), then modify the OpInfo for the test\n  to have `gradcheck_nondet_tol=<tol>`.\n"
    "- is a Module test (e.g., in common_nn.py), then modify the corresponding\n  module_test entry to have `gradcheck_nondet_tol=<tol>`\n"
)
UNDEFINED_WARNING = (
    "Backwards compatibility: New undefined gradient support checking feature is enabled by default, but it may break existing callers of "
    'this function. If this is true for you, you can call this function with "check_undefined_grad=False" to disable the feature'
)
UNDEFINED = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
UNDEFINED_RAISES = "Expected backward function to handle undefined output grads. " + UNDEFINED
UNDEFINED_VALUES = "Expected all input grads to be undefined or zero when all output grads are undefined or zero. " + UNDEFINED


class GradcheckError(RuntimeError):
    """A derivative is not what finite differences say."""


class Options(NamedTuple):
    """How close and how strict a check is."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool


def as_tuple(value):
    return value if isinstance(value, tuple) else tuple(value) if isinstance(value, list) else (value,)


def differentiable(outputs):
    return tuple(x for x in as_tuple(outputs) if x.requires_grad)


def needing_grad(inputs):
    return [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Check the gradients of `func` at `inputs` against finite differences; True, or raise GradcheckError.

    `fast_mode` checks as much as the slow mode does.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = Options(eps, atol, rtol, nondet_tol, check_grad_dtypes)
    checks = check_backward_ad, check_forward_ad, check_undefined_grad
    if raise_exception:
        return checked(func, as_tuple(inputs), options, *checks)
    try:
        return checked(func, as_tuple(inputs), options, *checks)
    except GradcheckError:
        return False


def checked(func, inputs, options, backward, forward, undefined):
    check_inputs(inputs)
    results = func(*inputs)
    outputs = differentiable(results)
    if backward:
        for part, function in parts(func, any(x.is_complex() for x in as_tuple(results))):
            check_backward(function, inputs, part, [i for i, x in enumerate(outputs) if x.is_complex()], options)
    if forward:
        check_forward(func, inputs, options)
    if backward:
        check_scales(outputs, inputs)
        if undefined:
            check_undefined(func, outputs, inputs)
    return True


def check_inputs(inputs):
    for i, x in enumerate(inputs):
        if isinstance(x, torch.Tensor) and x.requires_grad:
            if x.dtype not in (torch.float64, torch.complex128):
                warnings.warn(NOT_DOUBLE.format(i), stacklevel=2)
            if not all(stride > 0 or n <= 1 for stride, n in zip(x.stride(), x.size())):
                raise RuntimeError(STRIDE_0.format(i))
    if not needing_grad(inputs):
        raise ValueError(NO_INPUT)


def parts(func, is_complex):
    """The function itself, or the imaginary and the real part of what it gives."""
    if not is_complex:
        return [("", func)]

    def part_of(take):
        return lambda *inputs: tuple(take(x) if x.is_complex() else x for x in as_tuple(func(*inputs)))

    return [("imaginary", part_of(torch.imag)), ("real", part_of(torch.real))]


# ---- finite differences


def numerical_jacobian(func, inputs, eps, forward=False):
    """[per input that requires grad] [per output] a matrix of (input elements, output elements)."""
    return [by_perturbing(func, inputs, i, eps, forward) for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]


def by_perturbing(func, inputs, i, eps, forward):
    x, rows = inputs[i], []
    for n in range(x.numel()):
        row = difference(func, inputs, i, n, eps)
        if x.is_complex():
            other = difference(func, inputs, i, n, eps * 1j)
            row = [a + b * 1j for a, b in zip(row, other)]
        rows.append(row)
    outputs = as_tuple(func(*inputs))
    columns = zip(*rows) if rows else [[]] * len(outputs)
    return [torch.stack(list(c)) if c else x.new_zeros(0, out.numel()) for c, out in zip(columns, outputs)]


def difference(func, inputs, i, n, step):
    """The slope of every output along one element of an input, flat."""
    low, high = (shifted(func, inputs, i, n, amount) for amount in (-step, step))
    for a, b in zip(low, high):
        for what, old, new in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if old != new:
                raise AssertionError(PERTURBED.format(what, step, old, new))
    return [((b - a) / (2 * abs(step))).reshape(-1) for a, b in zip(low, high)]


def shifted(func, inputs, i, n, amount):
    moved = inputs[i].detach().clone(memory_format=torch.contiguous_format)
    moved.view(-1)[n] += amount
    changed = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]
    changed[i] = moved
    changed = [c.requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else c for c, x in zip(changed, inputs)]
    return [x.detach().clone() for x in as_tuple(func(*changed))]


# ---- backward


def check_backward(func, inputs, part, complex_outputs, options):
    results = as_tuple(func(*inputs))
    outputs = differentiable(results)
    numerical = numerical_jacobian(func, inputs, options.eps)
    if not outputs:
        return check_zero(numerical)
    wanted = [k for k, x in enumerate(results) if x.requires_grad]
    for i, (k, output) in enumerate(zip(wanted, outputs)):
        for j, (found, columns) in enumerate(zip(analytical_jacobian(inputs, output, options), numerical)):
            if not close(found, columns[k], options):
                raise GradcheckError(mismatch(found, columns[k], i, j, part if i in complex_outputs else "", "outputs", ""))


def check_zero(numerical):
    if any(bool((jacobian != 0).any()) for columns in numerical for jacobian in columns):
        raise GradcheckError("Numerical gradient for function expected to be zero")


def close(a, b, options):
    dtype = torch.promote_types(a.dtype, b.dtype)
    return torch.allclose(a.to(dtype), b.to(dtype), options.rtol, options.atol)


def mismatch(analytical, numerical, i, j, part, element, mode):
    before = f"While considering the {part} part of complex {element} only, " if part else ""
    head = f"{before}Jacobian {mode}mismatch for output {i} with respect to input {j},\n"
    return f"{head}numerical:{numerical}\nanalytical:{analytical}\n"


def analytical_jacobian(inputs, output, options):
    """A matrix for each input, computed twice: a backward must give the same each time."""
    targets = needing_grad(inputs)
    first, second = (rows_of(output, targets) for _ in range(2))
    found = [matrix_of(rows, x) for rows, x in zip(first, targets)]
    again = [matrix_of(rows, x) for rows, x in zip(second, targets)]
    grads = [(row, x) for rows, x in zip(first, targets) for row in rows if row is not None]
    if options.check_grad_dtypes and any(row.dtype != x.dtype for row, x in grads):
        raise GradcheckError("Gradient has dtype mismatch")
    if any(row.size() != x.size() for row, x in grads):
        raise GradcheckError("Analytical gradient has incorrect size")
    if any(a.numel() and float((a - b).abs().max()) > options.nondet_tol for a, b in zip(found, again)):
        raise GradcheckError(NOT_REENTRANT.format(options.nondet_tol))
    return found


def rows_of(output, targets):
    """For each input, the gradients of each element of the output."""
    rows = [[] for _ in targets]
    for n in range(output.numel()):
        unit = torch.zeros(output.numel(), dtype=output.dtype)
        unit[n] = 1
        found = torch.autograd.grad(output, targets, unit.reshape(output.shape), retain_graph=True, allow_unused=True)
        for row, grad in zip(rows, found):
            row.append(None if grad is None else grad.clone())
    return rows


def matrix_of(rows, x):
    columns = [torch.zeros(x.numel(), dtype=x.dtype) if row is None else row.reshape(-1) for row in rows]
    return torch.stack(columns, 1) if columns else x.new_zeros(x.numel(), 0)


def check_scales(outputs, inputs):
    """Zeros that flow back must arrive as zeros."""
    targets = needing_grad(inputs)
    if not outputs:
        return
    found = torch.autograd.grad(outputs, targets, [torch.zeros_like(x) for x in outputs], allow_unused=True)
    for grad, x in zip(found, targets):
        if grad is None:
            continue
        if not bool((grad == 0).all()):
            raise GradcheckError("backward not multiplied by grad_output")
        if grad.dtype != x.dtype:
            raise GradcheckError("grad is incorrect type")
        if grad.size() != x.size():
            raise GradcheckError("grad is incorrect size")


class Undefined(torch.autograd.Function):
    """Nothing flows back through it."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return None


def check_undefined(func, outputs, inputs):
    """A backward must do without any of its gradients."""
    targets, count = needing_grad(inputs), len(outputs)
    choices = [set(range(count))] + [{n} for n in range(count)] * (count > 1)
    for missing in choices:
        results = [Undefined.apply(x) if n in missing else x for n, x in enumerate(differentiable(func(*inputs)))]
        try:
            found = torch.autograd.grad(results, targets, [torch.zeros_like(x) for x in results], allow_unused=True) if results else ()
        except RuntimeError as error:
            warnings.warn(UNDEFINED_WARNING, stacklevel=2)
            raise GradcheckError(UNDEFINED_RAISES) from error
        if any(grad is not None and not bool((grad == 0).all()) for grad in found):
            warnings.warn(UNDEFINED_WARNING, stacklevel=2)
            raise GradcheckError(UNDEFINED_VALUES)


# ---- forward mode


def check_forward(func, inputs, options):
    complex_inputs = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.is_complex()]
    if not complex_inputs:
        return check_forward_part(func, inputs, "", complex_inputs, options)
    for part in ("imaginary", "real"):

        def function(*parts, part=part):
            whole = list(parts)
            for i in complex_inputs:
                other = inputs[i].detach().real if part == "imaginary" else inputs[i].detach().imag
                whole[i] = torch.complex(other, parts[i]) if part == "imaginary" else torch.complex(parts[i], other)
            return func(*whole)

        taken = [(x.imag if part == "imaginary" else x.real) if i in complex_inputs else x for i, x in enumerate(inputs)]
        check_forward_part(function, tuple(taken), part, complex_inputs, options)
    return None


def check_forward_part(func, inputs, part, complex_inputs, options):
    results = as_tuple(func(*inputs))
    numerical = numerical_jacobian(func, inputs, options.eps, forward=True)
    if not differentiable(results):
        return check_zero(numerical)
    analytical = forward_jacobian(func, inputs, results)
    places = [k for k, x in enumerate(results) if x.requires_grad]
    for i, k in enumerate(places):
        for j, (found, columns) in enumerate(zip(analytical, numerical)):
            if not close(found[k], columns[k], options):
                text = mismatch(found[k], columns[k], i, j, part if j in complex_inputs else "", "inputs", "computed with forward mode ")
                raise GradcheckError(text)
    return None


def forward_jacobian(func, inputs, results):
    """[per input that requires grad] [per output] a matrix, by a forward derivative along each element."""
    plain, found = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs], []
    for i, x in enumerate(inputs):
        if not (isinstance(x, torch.Tensor) and x.requires_grad):
            continue
        rows = []
        for n in range(x.numel()):
            unit = torch.zeros(x.numel(), dtype=x.dtype)
            unit[n] = 1
            with forward_ad.dual_level():
                dual = forward_ad.make_dual(plain[i], unit.reshape(x.shape))
                tangents = [forward_ad.unpack_dual(out).tangent for out in as_tuple(func(*plain[:i], dual, *plain[i + 1 :]))]
            rows.append([torch.zeros_like(out).detach() if t is None else t for t, out in zip(tangents, results)])
        columns = zip(*rows) if rows else [[]] * len(results)
        found.append([torch.stack([t.reshape(-1) for t in c]) if c else out.new_zeros(0, out.numel()) for c, out in zip(columns, results)])
    return found


# ---- second derivatives


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """Check the gradients of the gradients of `func` against finite differences; True, or raise GradcheckError."""
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    inputs = as_tuple(inputs)
    vectors = vectors_for(differentiable(func(*inputs))) if grad_outputs is None else as_tuple(grad_outputs)
    needs = [isinstance(x, torch.Tensor) and x.requires_grad for x in (*inputs, *vectors)]

    def gradients(*args):
        args = [x.requires_grad_() if need else x for x, need in zip(args, needs)]
        own, given = args[: len(inputs)], args[len(inputs) :]
        targets = [x for x, need in zip(own, needs) if need]
        found = torch.autograd.grad(differentiable(func(*own)), targets, given, create_graph=True, allow_unused=True)
        return tuple(x for x in found if x is not None)

    return gradcheck(
        gradients,
        (*inputs, *vectors),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
    )


def vectors_for(outputs):
    """Random tensors like the outputs, in [-1, 1)."""

    def vector(x):
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.double
        if dtype.is_complex:
            return torch.complex(*[torch.rand(x.shape, dtype=x.real.dtype) * 2 - 1 for _ in range(2)]).requires_grad_()
        return (torch.rand(x.shape, dtype=dtype) * 2 - 1).requires_grad_()

    return tuple(map(vector, outputs))
