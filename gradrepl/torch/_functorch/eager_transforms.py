"""Functions from functions: grad, vjp, jvp and Jacobians of whole functions, by recorded backwards. Imports the public torch and its graph.

A transform gives the function new tensors. Where their originals are part of a graph, so are they, and derivatives nest; else they
are leaves of their own, and what depends on nothing but them is detached at the end.
"""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
from functools import wraps

from gradrepl import torch
from gradrepl.engine.modes import here
from gradrepl.engine.node import edge_of
from gradrepl.torch.utils._pytree import tree_flatten, tree_map, tree_map_only, tree_unflatten, treespec_pprint

NOT_TENSOR = "Thing passed to transform API must be Tensor, got {}"
NOT_SCALAR = (
    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {} dims. Maybe you wanted to use the vjp or "
    "jacrev "
    "APIs instead?"
)
NOT_A_TENSOR = "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {}"
NO_AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"
COTANGENTS = (
    "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. cotangents: {}, primal "
    "output: {}"
)
NOT_TUPLE = "jvp(f, primals, tangents): Expected {} to be a tuple. E.g. it should be valid to call f(*primals)."
STRUCTURE = (
    "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
    "tensors, tangents also must be. Got primals with structure {} and tangents with structure {}"
)
NO_PRIMALS = "jvp(f, primals, tangents): Expected primals to contain at least one Tensor."
TANGENT_SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, this is not supported. Tensor is of "
    "size {} "
    "while the given forward gradient is of size {}."
)
LINEAR_SIZE = "tangent:{} with shape {} in flattened pytree doesn't match the shape {} of the corresponding primal."


@contextlib.contextmanager
def transforming():
    """Inside, ops are recorded, and what does not work in transforms says so."""
    with torch.enable_grad():
        here.transforms += 1
        try:
            yield
        finally:
            here.transforms -= 1


# ---- tensors in and out


def entered(tree):
    """New tensors for a function to see."""

    def enter(x):
        if not isinstance(x, torch.Tensor):
            raise ValueError(NOT_TENSOR.format(type(x)))
        return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()

    return tree_map(enter, tree)


def left(tree, own, done=True):
    """Results without the graph that ends at nothing but these tensors; when done with it, without the views that let the others in."""
    leaves = {id(x) for x in own}
    doors = {x.node: x.node.next_edges[0] for x in own if x.node is not None} if done else {}

    def leave(x):
        return x if not x.requires_grad or reaches_others(x, leaves, doors) else x.detach()

    return tree_map_only(torch.Tensor, leave, tree)


def reaches_others(tensor, own, doors):
    """Whether the graph under a tensor ends at any leaf but the given ones. Edges to doors are led past them."""
    seen, stack, found = set(), [edge_of(tensor)], False
    while stack:
        edge = stack.pop()
        if not edge or edge[0] in seen:
            continue
        end = edge[0]
        seen.add(end)
        if isinstance(end, torch.Tensor):
            found = found or id(end) not in own
        elif end not in doors:
            end.next_edges = tuple([doors.get(e[0], e) if e else e for e in end.next_edges])
            stack += end.next_edges
        else:
            found = True
    return found


def argnums_of(argnums, args):
    """The chosen arguments: one, or a tuple of them."""
    if isinstance(argnums, int):
        return args[checked_argnum(argnums, len(args))]
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    return tuple(args[checked_argnum(n, len(args))] for n in argnums)


def checked_argnum(n, count):
    if not -count <= n < count:
        raise RuntimeError(f"Got argnum={n}, but only {count} positional inputs")
    return n


def with_arguments(argnums, args, chosen):
    """The arguments with the chosen ones put in place."""
    args = list(args)
    for n, x in [(argnums, chosen)] if isinstance(argnums, int) else zip(argnums, chosen):
        args[n] = x
    return args


def split_aux(result, who, has_aux):
    if not has_aux:
        return result, None
    if not (isinstance(result, tuple) and len(result) == 2):
        raise RuntimeError(NO_AUX.format(who))
    return result


def gradients(outputs, inputs, vectors):
    """autograd.grad with its graph, zeros where nothing flows."""
    pairs = [(x, v) for x, v in zip(outputs, vectors) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not pairs or not inputs:
        return [torch.zeros_like(x) for x in inputs]
    outputs, vectors = zip(*pairs)
    found = torch.autograd.grad(outputs, inputs, vectors, create_graph=True, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]


# ---- grad


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, a function to a single number, and its value."""

    @wraps(func)
    def wrapper(*args, **kwargs):
        with transforming():
            chosen = entered(argnums_of(argnums, args))
            output, aux = split_aux(func(*with_arguments(argnums, args, chosen), **kwargs), "grad_and_value(f)(*args)", has_aux)
            if not isinstance(output, torch.Tensor):
                raise RuntimeError(NOT_A_TENSOR.format(type(output)))
            if output.dim() != 0:
                raise RuntimeError(NOT_SCALAR.format(output.dim()))
            leaves, spec = tree_flatten(chosen)
            found = tree_unflatten(gradients([output], leaves, [None]), spec)
            found, output, aux = left((found, output, aux), leaves)
        return (found, (output, aux)) if has_aux else (found, output)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, a function to a single number."""

    @wraps(func)
    def wrapper(*args, **kwargs):
        found, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


# ---- products


def vjp(func, *primals, has_aux=False):
    """(func(*primals), a function that multiplies with the Jacobian from the left)"""
    return vjp_of(func, primals, None, has_aux)


def vjp_of(func, args, argnums, has_aux):
    """vjp for all arguments, or for the chosen ones."""
    with transforming():
        chosen = entered(args if argnums is None else argnums_of(argnums, args))
        result = func(*(chosen if argnums is None else with_arguments(argnums, args, chosen)))
        outputs, aux = split_aux(result, "vjp(f, *primals)", has_aux)
        flat, spec = tree_flatten(outputs)
        for x in flat:
            if not isinstance(x, torch.Tensor):
                raise RuntimeError(f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(x)}")
        leaves, chosen_spec = tree_flatten(chosen)
        shown, aux = left((outputs, aux), leaves, False)

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        vectors, found_spec = tree_flatten(cotangents)
        if found_spec != spec:
            raise RuntimeError(COTANGENTS.format(treespec_pprint(found_spec), treespec_pprint(spec)))
        with transforming():
            return left(tree_unflatten(gradients(flat, leaves, vectors), chosen_spec), leaves, False)

    wrapper.inputs = leaves
    return (shown, wrapper, aux) if has_aux else (shown, wrapper)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """(func(*primals), the product of the Jacobian with `tangents`), by a backward through a backward"""
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple):
            raise RuntimeError(NOT_TUPLE.format(name))
    (flat, spec), (vectors, found_spec) = tree_flatten(primals), tree_flatten(tangents)
    if spec != found_spec:
        raise RuntimeError(STRUCTURE.format(spec, found_spec))
    if not flat:
        raise RuntimeError(NO_PRIMALS)
    for x, v in zip(flat, vectors):
        if x.shape != v.shape:
            raise RuntimeError(TANGENT_SIZE.format(list(x.shape), list(v.shape)))
    with transforming():
        inputs = entered(flat)
        outputs, aux = split_aux(func(*tree_unflatten(inputs, spec)), "jvp(f, primals, tangents)", has_aux)
        results, own = pushed(outputs, inputs, vectors)
        outputs, results, aux = left((outputs, results, aux), own)
    return (outputs, results, aux) if has_aux else (outputs, results)


def pushed(outputs, inputs, vectors):
    """(the Jacobian times `vectors`, in the nest of the outputs; the leaves made on the way)"""
    flat, spec = tree_flatten(outputs)
    dummies = [torch.zeros_like(x).requires_grad_() for x in flat]
    back = gradients(flat, inputs, dummies)
    return tree_unflatten(gradients(back, dummies, vectors), spec), [*inputs, *dummies]


def linearize(func, *primals):
    """(func(*primals), a function that multiplies the Jacobian there with tangents)"""
    flat, spec = tree_flatten(primals)
    with transforming():
        inputs = entered(flat)
        outputs = func(*tree_unflatten(inputs, spec))
        shown = left(outputs, inputs, False)

    def jvp_fn(*tangents):
        vectors, found_spec = tree_flatten(tangents)
        if found_spec != spec:
            raise RuntimeError(f"Expected the tangents {found_spec} to have the same structure as the primals {spec}.")
        for i, (x, v) in enumerate(zip(flat, vectors)):
            if x.shape != v.shape:
                raise RuntimeError(LINEAR_SIZE.format(i, v.shape, x.shape))
        with transforming():
            results, own = pushed(outputs, inputs, vectors)
            return left(results, own, False)

    return shown, jvp_fn


# ---- Jacobians


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of `func`, a row at a time."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def wrapper(*args):
        outputs, pull, *aux = vjp_of(func, args, argnums, has_aux)
        flat, spec = tree_flatten(outputs)
        rows = [jacobian_of(i, flat, spec, pull) for i in range(len(flat))]
        found = left(tree_unflatten(rows, spec), pull.inputs)
        return (found, aux[0]) if has_aux else found

    return wrapper


def jacobian_of(i, outputs, spec, pull):
    """The Jacobian of the output number `i`."""
    zeros = [torch.zeros_like(x) for x in outputs]
    found = [pull(tree_unflatten([*zeros[:i], unit, *zeros[i + 1 :]], spec)) for unit in units_of(outputs[i])]
    return stacked(found, lambda parts: torch.stack(parts).reshape(outputs[i].shape + parts[0].shape))


def units_of(tensor):
    """The unit vectors of a tensor's space."""
    for n in range(tensor.numel()):
        unit = torch.zeros(tensor.numel(), dtype=tensor.dtype)
        unit[n] = 1
        yield unit.reshape(tensor.shape)


def stacked(trees, join):
    """One nest whose leaves join those of several like it."""
    leaves, spec = zip(*map(tree_flatten, trees))
    return tree_unflatten([join(list(column)) for column in zip(*leaves)], spec[0])


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error", chunk_size=None):
    """A function that gives the Jacobian of `func`, a column at a time."""

    @wraps(func)
    def wrapper(*args):
        chosen = argnums_of(argnums, args)
        flat, spec = tree_flatten(chosen)
        for x in flat:
            if not isinstance(x, torch.Tensor):
                raise AttributeError(f"{type(x).__name__!r} object has no attribute 'numel'")
        with transforming():
            inputs = entered(flat)
            result = func(*with_arguments(argnums, args, tree_unflatten(inputs, spec)))
            outputs, aux = split_aux(result, "jacfwd(f)(*args)", has_aux)
            blocks, made = zip(*[columns_of(i, inputs, outputs) for i in range(len(inputs))])
            found = tree_map(lambda *each: tree_unflatten(each, spec), blocks[0], *blocks[1:])
            found, aux = left((found, aux), [*inputs, *[x for each in made for x in each]])
        return (found, aux) if has_aux else found

    return wrapper


def columns_of(i, inputs, outputs):
    """(the Jacobian by the input number `i`, the leaves made on the way)"""
    zeros, columns, made = [torch.zeros_like(x) for x in inputs], [], []
    for unit in units_of(inputs[i]):
        column, own = pushed(outputs, inputs, [*zeros[:i], unit, *zeros[i + 1 :]])
        columns.append(column)
        made += own
    return stacked(columns, lambda parts: torch.stack(parts, -1).reshape(parts[0].shape + inputs[i].shape)), made


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)
