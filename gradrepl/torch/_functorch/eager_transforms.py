"""Functions from functions: grad, vjp, jvp and Jacobians of whole functions, by recorded backwards. Imports the public torch and its graph.

A transform gives the function new tensors. Where their originals are part of a graph, so are they, and derivatives nest; else they
are leaves of their own, and what depends on nothing but them is detached at the end.
"""

__name__ = __name__.removeprefix("gradrepl.")

import contextlib
from functools import wraps

from gradrepl import torch
from gradrepl.engine.batching.functions import mapping
from gradrepl.engine.batching.nests import bare, nested
from gradrepl.engine.batching.tensor import physical
from gradrepl.engine.modes import here
from gradrepl.engine.node import edge_of
from gradrepl.torch._functorch.vmap import vmap
from gradrepl.torch.utils._pytree import tree_flatten, tree_map, tree_map_only, tree_unflatten, treespec_pprint

NOT_TENSOR = "Thing passed to transform API must be Tensor, got {}"
NOT_SCALAR = (
    "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with {} dims. "
    "Maybe you wanted to use the vjp or jacrev APIs instead?"
)
NOT_A_TENSOR = "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {}"
NO_AUX = "{}: output of function f should be a tuple: (output, aux) if has_aux is True"
COTANGENTS = (
    "Expected pytree structure of cotangents to be the same as pytree "
    "structure of outputs to the function. cotangents: {}, primal output: {}"
)
NOT_FLOATING = "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype {}"
NOT_TUPLE = "jvp(f, primals, tangents): Expected {} to be a tuple. E.g. it should be valid to call f(*primals)."
STRUCTURE = (
    "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, if primals is a tuple of 3 "
    "tensors, tangents also must be. Got primals with structure {} and tangents with structure {}"
)
NO_PRIMALS = "jvp(f, primals, tangents): Expected primals to contain at least one Tensor."
TANGENT_SIZE = (
    "Trying to set a forward gradient that has a different size than that of the original Tensor, "
    "this is not supported. Tensor is of size {} while the given forward gradient is of size {}."
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


class Entry:
    """The tensors that a transform lets in: `given` is what the function sees, `leaves` what the graph ends at, under all vmaps."""

    def __init__(self, tree):
        self.levels = tuple([(level, size) for level, size, _ in here.batches if size is not None])
        flat, self.spec = tree_flatten(tree)
        self.leaves = [self.enter(x) for x in flat]
        self.given = tree_unflatten([nested(x, self.levels) for x in self.leaves], self.spec)

    def enter(self, x):
        if not isinstance(x, torch.Tensor):
            raise ValueError(NOT_TENSOR.format(type(x)))
        x = bare(x, self.levels) if self.levels else x
        return x.view_as(x) if x.requires_grad else leaf_of(x.detach())

    def gradients(self, outputs, vectors):
        """The gradients of what was let in, with their graph, zeros where nothing flows. Without a vector, a single number counts once."""
        outputs = [bare(x, self.levels) for x in outputs] if self.levels else outputs
        vectors = [
            v if v is None and not self.levels else torch.ones_like(x) if v is None else bare(v, self.levels)
            for x, v in zip(outputs, vectors)
        ]
        return [nested(x, self.levels) for x in flowing(outputs, self.leaves, vectors)]

    def pushed(self, outputs, vectors):
        """(the Jacobian times `vectors`, in the nest of the outputs; the leaves made on the way)"""
        every, spec = tree_flatten(outputs)
        flat = [bare(x, self.levels) for x in every if can_flow(x)]
        dummies = [leaf_of(torch.zeros_like(x)) for x in flat]
        back = flowing(flat, self.leaves, dummies)
        results = iter(flowing(back, dummies, [bare(v, self.levels) for v in vectors]))
        found = [nested(next(results), self.levels) if can_flow(x) else torch.zeros_like(x) for x in every]
        return tree_unflatten(found, spec), [*self.leaves, *dummies]


def can_flow(x):
    return x.is_floating_point() or x.is_complex()


def check_primals(primals):
    for x in primals:
        if not can_flow(x):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {x.dtype}")


def leaf_of(x):
    """A new end for the graph, which users may not make here."""
    if not can_flow(x):
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    x.requires_grad = True
    return x


def flowing(outputs, inputs, vectors):
    """autograd.grad with its graph, zeros where nothing flows."""
    pairs = [(x, v) for x, v in zip(outputs, vectors) if isinstance(x, torch.Tensor) and x.requires_grad]
    if not pairs or not inputs:
        return [torch.zeros_like(x) for x in inputs]
    outputs, vectors = zip(*pairs)
    found = torch.autograd.grad(outputs, inputs, vectors, create_graph=True, retain_graph=True, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(inputs, found)]


def left(tree, own, done=True):
    """Results without the graph that ends at nothing but these tensors; when done with it, without the views that let the others in."""
    leaves = {id(x) for x in own}
    doors = {x.node: x.node.next_edges[0] for x in own if x.node is not None} if done else {}

    def leave(x):
        return x if not x.needs_grad or reaches_others(physical(x), leaves, doors) else x.detach()

    found = tree_map_only(torch.Tensor, leave, tree)
    for x in own if done else ():
        if x.node is None:
            x.needs_grad = False  # an end that counts no more for the transforms round this one
    return found


def reaches_others(tensor, own, doors):
    """Whether the graph under a tensor ends at any live leaf but the given ones. Edges to doors are led past them."""
    seen, stack, found = set(), [edge_of(tensor)], False
    while stack:
        edge = stack.pop()
        if not edge or edge[0] in seen:
            continue
        end = edge[0]
        seen.add(end)
        if isinstance(end, torch.Tensor):
            found = found or end.needs_grad and id(end) not in own
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


# ---- grad


def grad_and_value(func, argnums=0, has_aux=False):
    """A function that gives the gradient of `func`, a function to a single number, and its value."""

    @wraps(func)
    def wrapper(*args, **kwargs):
        with transforming():
            entry = Entry(argnums_of(argnums, args))
            output, aux = split_aux(func(*with_arguments(argnums, args, entry.given), **kwargs), "grad_and_value(f)(*args)", has_aux)
            if not isinstance(output, torch.Tensor):
                raise RuntimeError(NOT_A_TENSOR.format(type(output)))
            if output.dim() != 0:
                raise RuntimeError(NOT_SCALAR.format(output.dim()))
            found = tree_unflatten(entry.gradients([output], [None]), entry.spec)
            found, output, aux = left((found, output, aux), entry.leaves)
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
        entry = Entry(args if argnums is None else argnums_of(argnums, args))
        result = func(*(entry.given if argnums is None else with_arguments(argnums, args, entry.given)))
        outputs, aux = split_aux(result, "vjp(f, *primals)", has_aux)
        flat, spec = tree_flatten(outputs)
        for x in flat:
            if not isinstance(x, torch.Tensor):
                raise RuntimeError(f"vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type {type(x)}")
            if not can_flow(x):
                raise RuntimeError(NOT_FLOATING.format(x.dtype))
        shown, aux = left((outputs, aux), entry.leaves, False)

    def wrapper(cotangents, retain_graph=True, create_graph=None):
        vectors, found_spec = tree_flatten(cotangents)
        if found_spec != spec:
            raise RuntimeError(COTANGENTS.format(treespec_pprint(found_spec), treespec_pprint(spec)))
        with transforming():
            return left(tree_unflatten(entry.gradients(flat, vectors), entry.spec), entry.leaves, False)

    wrapper.inputs = entry.leaves
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
    check_primals(flat)
    with transforming():
        entry = Entry(primals)
        outputs, aux = split_aux(func(*entry.given), "jvp(f, primals, tangents)", has_aux)
        results, own = entry.pushed(outputs, vectors)
        outputs, results, aux = left((outputs, results, aux), own)
    return (outputs, results, aux) if has_aux else (outputs, results)


def linearize(func, *primals):
    """(func(*primals), a function that multiplies the Jacobian there with tangents)"""
    flat, spec = tree_flatten(primals)
    check_primals(flat)
    with transforming():
        entry = Entry(primals)
        outputs = func(*entry.given)
        shown = left(outputs, entry.leaves, False)

    def jvp_fn(*tangents):
        vectors, found_spec = tree_flatten(tangents)
        if found_spec != spec:
            raise RuntimeError(f"Expected the tangents {found_spec} to have the same structure as the primals {spec}.")
        for i, (x, v) in enumerate(zip(flat, vectors)):
            if x.shape != v.shape:
                raise RuntimeError(LINEAR_SIZE.format(i, v.shape, x.shape))
        with transforming():
            results, own = entry.pushed(outputs, vectors)
            return left(results, own, False)

    return shown, jvp_fn


# ---- Jacobians


def basis_of(tensors):
    """Unit vectors in the space of all these tensors together: for each of them its part of every one, rows in front."""
    count = sum(x.numel() for x in tensors)
    parts, start = [], 0
    for x in tensors:
        part = x.new_zeros(count, x.numel())
        part.diagonal(-start).fill_(1)
        parts.append(part.view(count, *x.shape))
        start += x.numel()
    return parts


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    """A function that gives the Jacobian of `func`, its rows at once, or so many at once."""
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def wrapper(*args):
        check_real("jacrev", args, "inputs")
        outputs, pull, *aux = vjp_of(func, args, argnums, has_aux)
        flat, spec = tree_flatten(outputs)
        check_real("jacrev", flat, "outputs")
        basis = basis_of(flat)
        runs = [rows_of(pull, chunk, spec, chunk_size == 1) for chunk in zip(*[x.split(chunk_size or max(len(x), 1)) for x in basis])]
        leaves, input_spec = zip(*map(tree_flatten, runs))
        columns = [parts[0] if len(parts) == 1 else torch.cat(parts, 0) for parts in zip(*leaves)]
        blocks = [tree_unflatten(block, input_spec[0]) for block in zip(*[split_rows(x, flat) for x in columns])]
        found = left(tree_unflatten(blocks, spec), pull.inputs)
        return (found, aux[0]) if has_aux else found

    return wrapper


def check_real(who, args, what):
    """Jacobians are of real numbers."""
    for i, x in enumerate(tree_flatten(args)[0]):
        if isinstance(x, torch.Tensor) and x.is_complex():
            raise RuntimeError(f"{who}: Expected all {what} to be real but received complex tensor at flattened input idx: {i}")


def rows_of(pull, basis, spec, single):
    """Some rows of a Jacobian; who asks for single ones gets them without vmap."""
    if not single:
        return vmap(pull)(tree_unflatten(basis, spec))
    return tree_map(lambda x: x.unsqueeze(0), pull(tree_unflatten([x.squeeze(0) for x in basis], spec)))


def split_rows(rows, outputs):
    """The rows of all outputs, taken apart by output."""
    parts = rows.split([x.numel() for x in outputs], dim=0)
    return [part.view(x.shape + part.shape[1:]) for part, x in zip(parts, outputs)]


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    """A function that gives the Jacobian of `func`, its columns at once."""

    @wraps(func)
    def wrapper(*args):
        check_real("jacfwd", args, "inputs")
        chosen = argnums_of(argnums, args)
        flat, spec = tree_flatten(chosen)
        for x in flat:
            if not isinstance(x, torch.Tensor):
                raise AttributeError(f"{type(x).__name__!r} object has no attribute 'numel'")
        check_primals(flat)
        basis = basis_of(flat)
        with (
            mapping("error" if randomness == "error" else "same", None),
            transforming(),
        ):  # the vectors alone are batched, and the function does not see them
            entry = Entry(chosen)
            result = func(*with_arguments(argnums, args, entry.given))
            outputs, aux = split_aux(result, "jacfwd(f)(*args)", has_aux)
            check_real("jacfwd", outputs, "outputs")
        made = []

        def push(*vectors):
            results, own = entry.pushed(outputs, vectors)
            made.extend(own)
            return results

        with transforming():
            columns = vmap(push)(*basis)
        found = tree_map(lambda x: tree_unflatten(split_columns(x, flat), spec), columns)
        found, aux = left((found, aux), [*entry.leaves, *made])
        return (found, aux) if has_aux else found

    return wrapper


def split_columns(columns, inputs):
    """The columns of all inputs, taken apart by input."""
    parts = columns.movedim(0, -1).split([x.numel() for x in inputs], dim=-1)
    return [part.unflatten(-1, x.shape) if x.dim() else part.squeeze(-1) for part, x in zip(parts, inputs)]


def hessian(func, argnums=0):
    """A function that gives the second derivatives of `func`."""
    return jacfwd(jacrev(func, argnums), argnums)
