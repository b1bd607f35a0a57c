"""torch.autograd.functional: derivatives of functions of tensors, by one or two backwards. Imports the public torch and torch.func."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl import torch
from gradrepl.torch._functorch.eager_transforms import basis_of

__all__ = ["vjp", "jvp", "jacobian", "hessian", "hvp", "vhp"]

NOT_STRICT = " This is not allowed in strict mode."
# what strict mode says of something that does not require grad
CONSTANT = {
    "outputs": "Output {} of the user-provided function does not require gradients. The outputs must be computed in a differentiable "
    "manner "
    "from the input when running in strict mode.",
    "grad_inputs": "The gradient with respect to input {} is independent of the inputs of the user-provided function." + NOT_STRICT,
    "jacobian": "While computing the hessian, found that the jacobian of the user-provided function with respect to input {} is "
    "independent "
    "of the input."
    + NOT_STRICT
    + " You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a "
    "linear function for example).",
    "hessian": "The hessian of the user-provided function with respect to input {} is independent of the input."
    + NOT_STRICT
    + " You should ensure that your function is thrice differentiable and that the hessian depends on the inputs.",
}
# what strict mode says of a gradient that is not there, by what was being computed
MISSING = {
    "back": "The output of the user-provided function is independent of input {}." + NOT_STRICT,
    "back_trick": "The gradient with respect to the input is independent of entry {} in the grad_outputs when using the double backward "
    "trick "
    "to compute forward mode gradients." + NOT_STRICT,
    "double_back": "The jacobian of the user-provided function is independent of input {}." + NOT_STRICT,
    "double_back_trick": "The hessian of the user-provided function is independent of entry {} in the grad_jacobian. This is not allowed "
    "in "
    "strict mode as it prevents from using the double backward trick to replace forward mode AD.",
}
LINEAR = "The {} of the user-provided function is independent of input {}. This is not allowed in strict mode when create_graph=True."
NO_VECTOR = "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."
NO_VECTOR_OUT = "The vector v can only be None if the user-provided function returns a single Tensor with a single element."
STRATEGY = (
    'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" '
    'tends to be more performant. Otherwise, prefer to use "reverse-mode".'
)
NOT_TOGETHER = (
    "torch.autograd.functional.jacobian: `strict=True` and `{}` are not supported together{}. Please either set `strict=False` or `{}`."
)
GRAPH_FORWARD = (
    'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either '
    'set `create_graph=False` or `strategy="reverse-mode"`.'
)
VECTORIZE = "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`."


# ---- arguments and answers


def as_tuple(value, what, who):
    """(whether a tuple was given, the tensors)"""
    given = isinstance(value, tuple)
    for i, x in enumerate(value if given else (value,)):
        if not isinstance(x, torch.Tensor):
            found = f"the value at index {i} has type {type(x)}" if given else f"the given {what} has type {type(x)}"
            raise TypeError(f"The {what} given to {who} must be either a Tensor or a tuple of Tensors but {found}.")
    return given, value if given else (value,)


def unwrapped(values, given):
    return values if given else values[0]


def prepared(inputs, create_graph, need_graph=True):
    """New tensors for the function to see, so that the same tensors captured by it are something else."""
    return tuple(x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(need_graph) for x in inputs)


def finished(values, create_graph):
    """The answers, without history if none was asked for."""
    if isinstance(values, torch.Tensor):
        return values if create_graph else values.detach()
    return tuple(finished(value, create_graph) for value in values)


def check_depends(tensors, what, strict):
    for i, x in enumerate(tensors if strict else ()):
        if x is None:
            raise RuntimeError(MISSING["back"].format(i))
        if not x.requires_grad:
            raise RuntimeError(CONSTANT[what].format(i))


def grads_of(outputs, inputs, vectors=None, create_graph=False, retain_graph=None, batched=False):
    """autograd.grad, without the outputs that have no gradient."""
    vectors = (None,) * len(outputs) if vectors is None else vectors
    pairs = [(x, v) for x, v in zip(outputs, vectors) if x is not None and x.requires_grad]
    if not pairs:
        return (None,) * len(inputs)
    outputs, vectors = zip(*pairs)
    options = dict(create_graph=create_graph, retain_graph=retain_graph, is_grads_batched=batched, allow_unused=True)
    return torch.autograd.grad(outputs, inputs, vectors, **options)


def filled(grads, like, strict, create_graph, stage):
    """Zeros for the gradients that are not there, unless strict."""
    for i, grad in enumerate(grads if strict else ()):
        if grad is None:
            raise RuntimeError(MISSING[stage].format(i))
        if create_graph and not grad.requires_grad:
            raise RuntimeError(LINEAR.format("hessian" if "double" in stage else "jacobian", i))
    return tuple(torch.zeros_like(x) if grad is None else grad for grad, x in zip(grads, like))


def vector_for(v, like, given, who, missing, create_graph):
    """`v` checked against what it multiplies, or ones for a single element."""
    if v is None:
        if len(like) != 1 or like[0].nelement() != 1:
            raise RuntimeError(missing)
        return (torch.ones_like(like[0]),)
    v = prepared(as_tuple(v, "v", who)[1], create_graph, False)
    if len(v) != len(like):
        length = f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
        raise RuntimeError(length if given else "The given v should contain a single Tensor.")
    for i, (x, y) in enumerate(zip(v, like)):
        if x.size() != y.size():
            raise RuntimeError(f"Entry {i} in " * given + f"v has invalid size: should be {y.size()} but got {x.size()}.")
    return v


def single_output(outputs, given, who):
    if given:
        raise RuntimeError(f"The function given to {who} should return a single Tensor")
    if outputs[0].nelement() != 1:
        raise RuntimeError(f"The Tensor returned by the function given to {who} should contain a single element")


def recording(create_graph):
    """Whether what follows is recorded: if asked for, or if it is for the caller's own mode."""
    return torch.set_grad_enabled(create_graph or torch.is_grad_enabled())


OUTPUTS = "outputs of the user-provided function"


# ---- products


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of `v` with the Jacobian)"""
    with torch.enable_grad():
        several_inputs, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = prepared(inputs, create_graph)
        several_outputs, outputs = as_tuple(func(*inputs), OUTPUTS, "vjp")
        check_depends(outputs, "outputs", strict)
        v = vector_for(v, outputs, several_outputs, "vjp", NO_VECTOR_OUT, create_graph)
    with recording(create_graph):
        products = filled(grads_of(outputs, inputs, v, create_graph), inputs, strict, create_graph, "back")
    outputs, products = finished(outputs, create_graph), finished(products, create_graph)
    return unwrapped(outputs, several_outputs), unwrapped(products, several_inputs)


def evaluated(func, inputs, v, name, create_graph, strict):
    """What a product with a vector along the inputs begins with: the inputs made ready, the vector, and the outputs."""
    several_inputs, inputs = as_tuple(inputs, "inputs", name)
    v = vector_for(v, inputs, several_inputs, name, NO_VECTOR, create_graph)
    inputs = prepared(inputs, create_graph)
    several_outputs, outputs = as_tuple(func(*inputs), OUTPUTS, name)
    check_depends(outputs, "outputs", strict)
    return inputs, several_inputs, v, outputs, several_outputs


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of the Jacobian with `v`), by a backward through a backward"""
    with torch.enable_grad():
        inputs, _, v, outputs, several_outputs = evaluated(func, inputs, v, "jvp", create_graph, strict)
        dummies = tuple(torch.zeros_like(x).requires_grad_() for x in outputs)
        back = grads_of(outputs, inputs, dummies, create_graph=True)
        check_depends(back, "grad_inputs", strict)
    with recording(create_graph):
        products = grads_of(back, dummies, v, create_graph)
        products = filled(products, outputs, strict, create_graph, "back_trick")
    outputs, products = finished(outputs, create_graph), finished(products, create_graph)
    return unwrapped(outputs, several_outputs), unwrapped(products, several_outputs)


def vhp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of `v` with the Hessian)"""
    with torch.enable_grad():
        inputs, several_inputs, v, outputs, several_outputs = evaluated(func, inputs, v, "vhp", create_graph, strict)
        single_output(outputs, several_outputs, "vhp")
        jacobian = grads_of(outputs, inputs, create_graph=True)
        check_depends(jacobian, "jacobian", strict)
    with recording(create_graph):
        products = filled(grads_of(jacobian, inputs, v, create_graph), inputs, strict, create_graph, "double_back")
    return finished(outputs[0], create_graph), unwrapped(finished(products, create_graph), several_inputs)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """(func(*inputs), the product of the Hessian with `v`), by three backwards"""
    with torch.enable_grad():
        inputs, several_inputs, v, outputs, several_outputs = evaluated(func, inputs, v, "hvp", create_graph, strict)
        single_output(outputs, several_outputs, "hvp")
        jacobian = grads_of(outputs, inputs, create_graph=True)
        check_depends(jacobian, "jacobian", strict)
        dummies = tuple(torch.zeros_like(x).requires_grad_() for x in inputs)
        back = grads_of(jacobian, inputs, dummies, create_graph=True)
        check_depends(back, "hessian", strict)
    with recording(create_graph):
        products = filled(grads_of(back, dummies, v, create_graph), inputs, strict, create_graph, "double_back_trick")
    return finished(outputs[0], create_graph), unwrapped(finished(products, create_graph), several_inputs)


# ---- whole matrices


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    """The derivative of every element of the outputs with respect to every element of the inputs."""
    if strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError(STRATEGY)
    if strategy == "forward-mode":
        if create_graph:
            raise NotImplementedError(GRAPH_FORWARD)
        return jacobian_by_columns(func, inputs, strict, vectorize)
    with torch.enable_grad():
        several_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
        inputs = prepared(inputs, create_graph)
        several_outputs, outputs = as_tuple(func(*inputs), OUTPUTS, "jacobian")
        check_depends(outputs, "outputs", strict)
        if vectorize and strict:
            raise RuntimeError(NOT_TOGETHER.format("vectorized=True", "", "vectorize=False"))
        if vectorize:
            rows = jacobian_together(outputs, inputs, create_graph)
        else:
            rows = tuple(jacobian_rows(i, out, inputs, create_graph, strict) for i, out in enumerate(outputs))
        rows = finished(rows, create_graph)
    return unwrapped(tuple(unwrapped(row, several_inputs) for row in rows), several_outputs)


def jacobian_together(outputs, inputs, create_graph):
    """The Jacobians of all outputs by one backward of all unit vectors."""
    counts = [x.numel() for x in outputs]
    flat = tuple(x.reshape(-1) for x in outputs)
    found = grads_of(flat, inputs, basis_of(flat), create_graph, batched=True)
    rows = [x.new_zeros(sum(counts), *x.shape) if grad is None else grad for grad, x in zip(found, inputs)]
    parts = [[part.view(out.shape + x.shape) for part, out in zip(row.split(counts, dim=0), outputs)] for row, x in zip(rows, inputs)]
    return tuple(zip(*parts))


def jacobian_rows(i, out, inputs, create_graph, strict):
    """The Jacobian of one output: a backward for each of its elements."""
    flat, columns = out.reshape(-1), [[] for _ in inputs]
    for j in range(out.nelement()):
        found = grads_of((flat[j],), inputs, create_graph=create_graph, retain_graph=True)
        for k, (column, grad, x) in enumerate(zip(columns, found, inputs)):
            if strict and grad is None:
                raise RuntimeError(f"Output {i} of the user-provided function is independent of input {k}." + NOT_STRICT)
            if strict and create_graph and not grad.requires_grad:
                raise RuntimeError(LINEAR.format("jacobian", i))
            column.append(torch.zeros_like(x) if grad is None else grad)
    return tuple(torch.stack(column, dim=0).view(out.size() + x.size()) for column, x in zip(columns, inputs))


def jacobian_by_columns(func, inputs, strict, vectorize):
    """The Jacobian by forward products with the unit vectors."""
    if strict:
        raise RuntimeError(NOT_TOGETHER.format('strategy="forward-mode"', " (yet)", 'strategy="reverse-mode"'))
    if not vectorize:
        raise NotImplementedError(VECTORIZE)
    several_inputs, inputs = as_tuple(inputs, "inputs", "jacobian")
    zeros = [torch.zeros_like(x) for x in inputs]
    columns = []
    for i, x in enumerate(inputs):
        products = []
        for j in range(x.nelement()):
            unit = torch.zeros(x.nelement(), dtype=x.dtype)
            unit[j] = 1
            outputs, product = jvp(func, tuple(inputs), (*zeros[:i], unit.reshape(x.size()), *zeros[i + 1 :]))
            several_outputs, product = as_tuple(product, OUTPUTS, "jacobian")
            products.append(product)
        columns.append([torch.stack(each, dim=-1).reshape(each[0].size() + x.size()) for each in zip(*products)])
    rows = [unwrapped(list(row), several_inputs) for row in zip(*columns)]
    return unwrapped(rows, several_outputs)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    """The second derivatives of a function that gives a single number."""
    several, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in ("forward-mode", "reverse-mode"):
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')

    def single(*xs):
        outputs = func(*xs)
        given, outputs = as_tuple(outputs, OUTPUTS, "hessian")
        check_depends(outputs, "outputs", strict)
        single_output(outputs, given, "hessian")
        return outputs[0].squeeze()

    def gradient(*xs):
        if outer_jacobian_strategy == "forward-mode":
            xs = tuple(x.requires_grad_(True) for x in xs)
        found = jacobian(single, xs, create_graph=True)
        check_depends(found, "jacobian", strict)
        return found

    found = jacobian(gradient, inputs, create_graph=create_graph, strict=strict, vectorize=vectorize, strategy=outer_jacobian_strategy)
    return found if several else found[0][0]


def _construct_standard_basis_for(tensors, tensor_numels):
    """For each tensor, the rows of a unit matrix over all elements of all tensors that belong to its own."""
    total = sum(tensor_numels)
    chunks, start = [], 0
    for tensor, count in zip(tensors, tensor_numels):
        chunk = tensor.new_zeros(total, count)
        chunk.diagonal(-start).fill_(1)
        chunks.append(chunk)
        start += count
    return tuple(chunks)
