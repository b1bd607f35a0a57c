"""torch.autograd.gradcheck: derivatives against finite differences. Imports the public torch only."""

__name__ = __name__.removeprefix("gradrepl.")

import warnings
from typing import NamedTuple

from gradrepl import torch
from gradrepl.torch.autograd import forward_ad
from gradrepl.torch.autograd._gradcheck_errors import (
    BATCHED_MISMATCH,
    FAILED_BATCHED,
    FAILED_BATCHED_FORWARD,
    FAST_FAILED,
    FORWARD,
    IN_SLOW_MODE,
    NO_INPUT,
    NOT_DOUBLE,
    NOT_REENTRANT,
    OTHER_TANGENT,
    PERTURBED,
    PRIVATE,
    RANDOM,
    STRIDE_0,
    UNDEFINED_RAISES,
    UNDEFINED_TANGENT,
    UNDEFINED_VALUES,
    UNDEFINED_WARNING,
)

__all__ = ["gradcheck", "gradgradcheck", "GradcheckError"]


class GradcheckError(RuntimeError):
    """A derivative is not what finite differences say."""


class Options(NamedTuple):
    """How close and how strict a check is."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_grad_dtypes: bool
    fast: bool
    masked: bool


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

    `fast_mode` compares one random product with each Jacobian instead of all its entries.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    options = Options(eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode, bool(masked))
    checks = check_backward_ad, check_forward_ad, check_undefined_grad, check_batched_grad, check_batched_forward_grad
    if raise_exception:
        return checked(func, as_tuple(inputs), options, *checks)
    try:
        return checked(func, as_tuple(inputs), options, *checks)
    except GradcheckError:
        return False


def checked(func, inputs, options, backward, forward, undefined, batched, batched_forward):
    check_inputs(inputs)
    results = func(*inputs)
    outputs = differentiable(results)
    if backward:
        for part, function in parts(func, any(x.is_complex() for x in as_tuple(results))):
            check_backward(function, inputs, part, [i for i, x in enumerate(outputs) if x.is_complex()], options)
    if forward:
        check_forward(func, inputs, options, undefined)
    if batched_forward:
        check_batched_forward(func, inputs)
    if backward:
        for number, output in enumerate(outputs if batched else ()):
            check_batched(inputs, output, number)
        check_scales(outputs, inputs, options.masked)
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


def numerical_jacobian(func, inputs, eps):
    """[per input that requires grad] [per output] a matrix of (input elements, output elements)."""
    return [by_perturbing(func, inputs, i, eps) for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]


def by_perturbing(func, inputs, i, eps):
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
    place = tuple(int(i[0]) for i in torch.arange(inputs[i].numel()).view(inputs[i].shape).eq(n).nonzero(as_tuple=True))
    check_same(low, high, step, f"on index {place} ")
    return [((b - a) / (2 * abs(step))).reshape(-1) for a, b in zip(low, high)]


def check_same(low, high, step, place=""):
    for a, b in zip(low, high):
        for what, old, new in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype)):
            if old != new:
                raise AssertionError(PERTURBED.format(what, place, step, old, new))


def shifted(func, inputs, i, n, amount):
    shift = torch.zeros(inputs[i].numel(), dtype=inputs[i].dtype)
    shift[n] = amount
    return shifted_by(func, inputs, i, shift.view(inputs[i].shape))


def shifted_by(func, inputs, i, amount):
    changed = [x.detach() if isinstance(x, torch.Tensor) else x for x in inputs]
    changed[i] = changed[i] + amount.to(changed[i].dtype)
    changed = [c.requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) else c for c, x in zip(changed, inputs)]
    return [x.detach().clone() for x in as_tuple(func(*changed))]


# ---- backward


def check_backward(func, inputs, part, complex_outputs, options):
    results = as_tuple(func(*inputs))
    outputs = differentiable(results)
    if options.fast:
        return check_backward_fast(func, inputs, results, part, complex_outputs, options)
    numerical = numerical_jacobian(func, inputs, options.eps)
    if not outputs:
        return check_zero(numerical)
    wanted = [k for k, x in enumerate(results) if x.requires_grad]
    for i, (k, output) in enumerate(zip(wanted, outputs)):
        for j, (found, columns) in enumerate(zip(analytical_jacobian(inputs, output, options), numerical)):
            if not close(found, columns[k], options):
                raise GradcheckError(mismatch(found, columns[k], i, j, part if i in complex_outputs else "", "outputs", ""))
    return None


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


def analytical_jacobian(inputs, output, options, front=None):
    """A matrix for each input, computed twice: a backward must give the same each time. With `front` only its product with that."""
    found, same, sizes, dtypes = twice_differentiated(inputs, output, options.nondet_tol, front)
    if options.check_grad_dtypes and not dtypes:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not same:
        raise GradcheckError(NOT_REENTRANT.format(options.nondet_tol))
    return found


def twice_differentiated(inputs, output, tolerance, front=None):
    """The matrices, whether they came out the same again, and whether all gradients had the right sizes and dtypes."""
    targets = needing_grad(inputs)
    first, second = (rows_of(output, targets, front) for _ in range(2))
    found, again = ([matrix_of(rows, x) for rows, x in zip(side, targets)] for side in (first, second))
    grads = [(row, x) for rows, x in zip(first, targets) for row in rows if row is not None]
    same = not any(a.numel() and float((a - b).abs().max()) > tolerance for a, b in zip(found, again))
    return found, same, all(row.size() == x.size() for row, x in grads), all(row.dtype == x.dtype for row, x in grads)


def rows_of(output, targets, front=None):
    """For each input, the gradients of each element of the output, or of a product with the output."""
    rows = [[] for _ in targets]
    for vector in units(output.detach()) if front is None else [front.view(output.shape)]:
        found = torch.autograd.grad(output, targets, vector, retain_graph=True, allow_unused=True)
        for row, grad in zip(rows, found):
            row.append(None if grad is None else grad.clone())
    return rows


def matrix_of(rows, x):
    columns = [torch.zeros(x.numel(), dtype=x.dtype) if row is None or row.size() != x.size() else row.reshape(-1) for row in rows]
    return torch.stack(columns, 1) if columns else x.new_zeros(x.numel(), 0)


def check_scales(outputs, inputs, masked):
    """Zeros that flow back must arrive as zeros."""
    targets = needing_grad(inputs)
    if not outputs:
        return
    found = torch.autograd.grad(outputs, targets, [torch.zeros_like(x) for x in outputs], allow_unused=True)
    for grad, x in zip(found, targets):
        if grad is None:
            continue
        if not (torch.allclose(grad, torch.zeros_like(grad)) if masked else bool((grad == 0).all())):
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


def check_forward(func, inputs, options, undefined):
    complex_inputs = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.is_complex()]
    if not complex_inputs:
        check_forward_part(func, inputs, "", complex_inputs, options)
        return check_undefined_forward(func, inputs) if undefined else None
    halves = []
    for part in ("imaginary", "real"):

        def function(*given, part=part):
            whole = list(given)
            for i in complex_inputs:
                other = inputs[i].imag if part == "real" else inputs[i].real
                whole[i] = whole[i] + other * 1j if part == "real" else other + whole[i] * 1j
            return as_tuple(func(*whole))

        taken = tuple((x.imag if part == "imaginary" else x.real) if i in complex_inputs else x for i, x in enumerate(inputs))
        check_forward_part(function, taken, part, complex_inputs, options)
        halves.append((function, taken))
    for function, taken in halves if undefined else ():
        check_undefined_forward(function, taken)
    return None


def check_forward_part(func, inputs, part, complex_inputs, options):
    results = as_tuple(func(*inputs))
    if options.fast:
        return check_forward_fast(func, inputs, results, part, complex_inputs, options)
    numerical = numerical_jacobian(func, inputs, options.eps)
    if not differentiable(results):
        return check_zero(numerical)
    analytical = forward_jacobian(func, inputs, results, options)
    places = [k for k, x in enumerate(results) if x.requires_grad]
    for i, k in enumerate(places):
        for j, (found, columns) in enumerate(zip(analytical, numerical)):
            if not close(found[k], columns[k], options):
                text = mismatch(found[k], columns[k], i, j, part if j in complex_inputs else "", "inputs", FORWARD)
                raise GradcheckError(text)
    return None


def forward_jacobian(func, inputs, results, options, vectors=None):
    """[per input that requires grad] [per output] a matrix, by a forward derivative along each element, or only along `vectors`."""
    with forward_ad.dual_level():
        (duals, tangents), found = duals_of(inputs), []
        for j, tangent in enumerate(tangents):
            rows = []
            for unit in units(tangent) if vectors is None else [vectors[j].view_as(tangent)]:
                tangent.copy_(unit)
                rows.append(pushed(func, duals, options.check_grad_dtypes))
            tangent.zero_()
            columns = zip(*rows) if rows else [[]] * len(results)
            found.append([stacked(c, out) for c, out in zip(columns, results)])
    return found


def duals_of(inputs):
    """The inputs, those that require grad with tangents of zeros; and these tangents, which may be written."""
    duals, tangents = [], []
    for x in inputs:
        if isinstance(x, torch.Tensor) and x.requires_grad:
            x = forward_ad.make_dual(x.detach(), torch.zeros_like(x))
            tangents.append(forward_ad.unpack_dual(x).tangent)
        duals.append(x)
    return duals, tangents


def units(tangent):
    """Along each element."""
    for n in range(tangent.numel()):
        unit = torch.zeros(tangent.numel(), dtype=tangent.dtype)
        unit[n] = 1
        yield unit.view(tangent.shape)


def is_inexact(x):
    return isinstance(x, torch.Tensor) and (x.is_floating_point() or x.is_complex())


def pushed(func, duals, check_dtypes):
    """The tangents of what a function makes of dual inputs, flat."""
    found = []
    for out in filter(is_inexact, as_tuple(func(*duals))):
        primal, tangent = forward_ad.unpack_dual(out)
        if check_dtypes and tangent is not None and primal.is_complex() != tangent.is_complex():
            raise GradcheckError("Forward AD gradient has dtype mismatch.")
        found.append(torch.zeros_like(primal).detach().reshape(-1) if tangent is None else tangent.detach().reshape(-1).clone())
    return found


def stacked(rows, out):
    return torch.stack(list(rows)) if rows else out.new_zeros(0, out.numel())


def check_undefined_forward(func, inputs):
    """A missing tangent must count as zeros."""
    with forward_ad.dual_level():
        duals, tangents = duals_of(inputs)
        for tangent, vector in zip(tangents, input_vectors(needing_grad(inputs))):
            tangent.copy_(vector.view_as(tangent))
        for i, x in enumerate(inputs):
            if not (isinstance(x, torch.Tensor) and x.requires_grad):
                continue
            zeros, missing = ([*duals[:i], y, *duals[i + 1 :]] for y in (forward_ad.make_dual(x.detach(), torch.zeros_like(x)), x.detach()))
            for number, pair in enumerate(zip(*[filter(is_inexact, as_tuple(func(*args))) for args in (zeros, missing)])):
                first, second = (forward_ad.unpack_dual(out).tangent for out in pair)
                if first is not None and second is not None and not torch.allclose(first, second):
                    sides = " Got: ", first, " but expected: ", second
                    raise GradcheckError(OTHER_TANGENT, number, " when input: ", x, UNDEFINED_TANGENT, *sides)


# ---- random products with the Jacobians


def random_vector(x, generator, real=False):
    dtype = x.real.dtype if real and x.is_complex() else x.dtype
    vector = torch.rand(x.numel(), generator=generator).to(dtype)
    vector /= vector.norm()
    return vector


def input_vectors(tensors, generator=None):
    """A vector for each input, two for a complex one."""
    generator = generator or torch.Generator()
    return [tuple(random_vector(x, generator, True) for _ in range(2)) if x.is_complex() else random_vector(x, generator) for x in tensors]


def numerical_products(func, inputs, i, vector, eps, results):
    """The numerical derivative of each output along a vector in one input."""
    step = difference_along(func, inputs, i, vector[0] if isinstance(vector, tuple) else vector, eps)
    if isinstance(vector, tuple):
        step = [a + b * 1j for a, b in zip(step, difference_along(func, inputs, i, vector[1] * 1j, eps))]
    return [product for product, out in zip(step, results) if is_inexact(out)]


def difference_along(func, inputs, i, vector, eps):
    shift = vector.view(inputs[i].shape) * eps
    low, high = (shifted_by(func, inputs, i, amount) for amount in (-shift, shift))
    check_same(low, high, eps)
    return [((b - a) / (2 * eps)).reshape(-1) for a, b in zip(low, high)]


def check_backward_fast(func, inputs, results, part, complex_outputs, options):
    places, targets = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad], needing_grad(inputs)
    outputs, generator = differentiable(results), torch.Generator()
    sides = input_vectors(targets, generator)
    fronts = [random_vector(x, generator) for x in outputs]
    numerical = [numerical_products(func, inputs, i, u, options.eps, results) for i, u in zip(places, sides)]
    if not outputs:
        check_zero([[(column.abs().max() > options.nondet_tol) * 1.0 for column in columns if column.numel()] for columns in numerical])
    analytical = [analytical_products(inputs, x, v, sides, options) for x, v in zip(outputs, fronts)]
    wanted = [k for k, x in enumerate(filter(is_inexact, results)) if x.requires_grad]
    for j, (u, columns) in enumerate(zip(sides, numerical)):
        for i, (k, v) in enumerate(zip(wanted, fronts)):
            found, expected = analytical[i][j], (v * columns[k]).sum()
            if not close(found, expected, options._replace(atol=adjusted(options.atol, u, v))):
                text = mismatch(found, expected, i, j, part if i in complex_outputs else "", "outputs", "")
                raise GradcheckError(text + slowly(func, inputs, results, k, i, j, options, False))


def analytical_products(inputs, output, front, sides, options):
    """front × Jacobian × side, for each input."""
    found = analytical_jacobian(inputs, output, options, front)
    return [product_with(matrix.reshape(-1), side) for matrix, side in zip(found, sides)]


def product_with(row, side):
    if not row.is_complex():
        return row.dot(side)
    return row.real.dot(side[0]) + 1j * row.imag.dot(side[1])


def check_forward_fast(func, inputs, results, part, complex_inputs, options):
    places = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and x.requires_grad]
    sides = input_vectors(needing_grad(inputs))
    numerical = [numerical_products(func, inputs, i, u, options.eps, results) for i, u in zip(places, sides)]
    analytical = forward_jacobian(func, inputs, [x for x in results if is_inexact(x)], options, sides)
    for j, (u, columns) in enumerate(zip(sides, numerical)):
        for k, expected in enumerate(columns):
            found = analytical[j][k].reshape(-1)
            if not close(found, expected, options._replace(atol=adjusted(options.atol, u, None))):
                text = mismatch(found, expected, k, j, part if j in complex_inputs else "", "inputs", FORWARD)
                raise GradcheckError(text + slowly(func, inputs, results, k, k, j, options, True))


def adjusted(atol, side, front):
    """The tolerance of a product, from that of the entries."""
    sides = side if isinstance(side, tuple) else (side,)
    return (
        atol
        * sum(float(u.sum()) for u in sides)
        * (1.0 if front is None else float(abs(front.sum()) if front.is_complex() else front.sum()))
    )


def slowly(func, inputs, results, k, i, j, options, forward):
    """What the slow mode says about a pair of an output and an input."""
    numerical = numerical_jacobian(func, inputs, options.eps)[j][k]
    if forward:
        analytical = forward_jacobian(func, inputs, results, options)[j][k]
    else:
        analytical = analytical_jacobian(inputs, differentiable(results)[i], options)[j]
    largest = (numerical - analytical).abs().max()
    text = IN_SLOW_MODE.format(numerical, analytical, largest)
    return text + FAST_FAILED if close(analytical, numerical, options) else text


# ---- several gradients at once


def check_batched(inputs, output, number):
    """A backward must run under vmap."""
    targets = needing_grad(inputs)

    def vjp(vector):
        found = torch.autograd.grad(output, targets, vector, retain_graph=True, allow_unused=True)
        return tuple(torch.zeros([], dtype=x.dtype).expand(x.shape) if grad is None else grad for grad, x in zip(found, targets))

    vectors = [torch.randn_like(output) for _ in range(2)]
    expected = [torch.stack(rows) for rows in zip(*[vjp(vector) for vector in vectors])]
    try:
        found = torch.func.vmap(vjp)(torch.stack(vectors))
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{FAILED_BATCHED}") from error
    for i, (one, other) in enumerate(zip(found, expected)):
        if not torch.allclose(one, other):
            raise GradcheckError(BATCHED_MISMATCH.format(number, i, FAILED_BATCHED, one, other))


def check_batched_forward(func, inputs):
    """A forward derivative along a sum of tangents must be the sum of those along each, and draw no random numbers."""
    for i, x in enumerate(inputs):
        if not (isinstance(x, torch.Tensor) and x.requires_grad and is_inexact(x)):
            continue
        plain = [y.detach() if isinstance(y, torch.Tensor) else y for y in inputs]

        def jvp(tangent, i=i, plain=plain):
            with forward_ad.dual_level():
                return pushed(func, [*plain[:i], forward_ad.make_dual(plain[i], tangent), *plain[i + 1 :]], False)

        tangents = [torch.randn_like(x).detach() for _ in range(2)]
        expected = [first + second for first, second in zip(*map(jvp, tangents))]
        state = torch.get_rng_state()
        found = jvp(tangents[0] + tangents[1])
        if not torch.equal(state, torch.get_rng_state()):
            raise GradcheckError(f"While computing batched gradients, got: {RANDOM}\n\n{FAILED_BATCHED_FORWARD}")
        for number, (one, other) in enumerate(zip(found, expected)):
            if not torch.allclose(one, other):
                raise GradcheckError(BATCHED_MISMATCH.format(number, number, FAILED_BATCHED_FORWARD, one, other))


# ---- the Jacobians for all to ask, as PyTorch once let them


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """The Jacobian of the first output of `fn`, which takes its inputs as one tuple, for each input or for `target`."""
    warnings.warn(PRIVATE.format("get_numerical_jacobian"), FutureWarning, stacklevel=2)
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values of grad_out != 1.0.")
    wanted = [i for i, x in enumerate(inputs) if isinstance(x, torch.Tensor) and (x is target if target is not None else x.requires_grad)]
    return tuple(by_perturbing(lambda *given: fn(given), inputs, i, eps)[0] for i in wanted)


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """(the Jacobian for each input, whether a second backward gave the same, whether sizes and dtypes are right)."""
    warnings.warn(PRIVATE.format("get_analytical_jacobian"), FutureWarning, stacklevel=2)
    if grad_out != 1.0:
        raise ValueError("Expected grad_out to be 1.0. get_analytical_jacobian no longer supports values of grad_out != 1.0.")
    if output.is_complex():
        raise ValueError(
            "Expected output to be non-complex. get_analytical_jacobian no longer supports functions that return complex outputs."
        )
    found, same, sizes, dtypes = twice_differentiated(inputs, output, nondet_tol)
    return tuple(found), same, sizes, dtypes


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
    vectors = vectors_for(differentiable(func(*inputs)), gen_non_contig_grad_outputs) if grad_outputs is None else as_tuple(grad_outputs)
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
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        masked=masked,
    )


def vectors_for(outputs, spread=False):
    """Random tensors like the outputs, in [-1, 1)."""

    def vector(x):
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.double
        if dtype.is_complex:
            return torch.complex(*[torch.rand(x.shape, dtype=x.real.dtype) * 2 - 1 for _ in range(2)]).requires_grad_()
        return (torch.rand(x.shape, dtype=dtype) * 2 - 1).requires_grad_()

    return tuple(map(vector, outputs)) if not spread else tuple(map(spread_out, map(vector, outputs)))


def spread_out(vector):
    """With gaps in memory."""
    wide = vector.detach().new_zeros(*vector.shape, 2) if vector.numel() > 1 else None
    return vector if wide is None else wide.select(-1, 0).copy_(vector.detach()).requires_grad_()
