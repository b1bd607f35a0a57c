"""Follow a result back through the source of a program to a tensor, and tell where on the way its history was lost.

The graph ends where it was cut, so what stands behind the cut is found in the source alone. Imports program, graphs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gradrepl.graphs.protocol import is_module, is_tensor
from gradrepl.insight.causes.program import Source, called

# what loses the history -> the kind of cut
METHODS = {
    **dict.fromkeys(("detach", "detach_"), "detach"),
    **dict.fromkeys(("numpy", "__array__", "asarray", "from_numpy"), "numpy"),
    **dict.fromkeys(("item", "tolist"), "number"),
    **dict.fromkeys(("long", "int", "short", "byte", "char"), "integer"),
    **dict.fromkeys(
        ("argmax", "argmin", "argsort", "nonzero", "bincount", "searchsorted", "multinomial", "bucketize", "one_hot"), "index"
    ),
    **dict.fromkeys(
        ("eq", "ne", "lt", "gt", "le", "ge", "isnan", "isfinite", "logical_and", "logical_or", "logical_not", "bool", "any", "all"),
        "comparison",
    ),
}  # fmt: skip
FUNCTIONS = {
    "tensor": "copy",
    "Tensor": "copy",
    "FloatTensor": "copy",
    "Parameter": "parameter",
    "deepcopy": "copy",
    "float": "number",
    "int": "number",
}
ARRAYS = ("np", "numpy", "math")  # functions of these modules know nothing of gradients
INTEGERS = ("int", "long", "int64", "int32", "int16", "int8", "uint8", "bool", "LongTensor")
FACTS = {"shape", "dtype", "device", "ndim", "grad", "grad_fn", "requires_grad", "is_leaf"}  # say nothing of the values' history
SHAPES = {
    "zeros_like", "ones_like", "full_like", "rand_like", "randn_like", "empty_like", "new_zeros", "new_ones", "new_full", "size", "dim",
    "numel", "stride", "len", "range", "isinstance", "type", "print", "arange",
}  # fmt: skip
NO_GRAD = {"no_grad", "inference_mode", "set_grad_enabled"}
MOST = 4000  # expressions looked at
DEPTH = 12  # functions entered


class Hop(NamedTuple):
    """A place where the history is lost."""

    kind: str
    node: ast.AST  # the expression, or the `with` statement
    statement: ast.stmt | None

    def source(self) -> ast.AST | None:
        """The expression whose history it was."""
        node = self.node
        if isinstance(node, ast.Call):
            method = isinstance(node.func, ast.Attribute) and called(node) in METHODS
            receiver = node.func.value if method else None  # type: ignore[attr-defined]
            if receiver is not None and not (isinstance(receiver, ast.Name) and receiver.id in ("torch", *ARRAYS)):
                return receiver
            return node.args[0] if node.args else None
        return node.value if isinstance(node, ast.Attribute) else node


class Context(NamedTuple):
    """In which call of which function an expression is read."""

    scope: ast.AST | None = None
    arguments: Mapping[str, tuple[ast.AST, Any]] = {}
    objects: Mapping[str, Any] = {}
    depth: int = 0


class Slice:
    """The ways from a result back to one tensor."""

    def __init__(self, source: Source, namespace: Mapping[str, Any], tensor: Any):
        self.source, self.namespace, self.tensor = source, namespace, tensor
        self.visited: set[tuple[int, int]] = set()
        self.contexts: list[Context] = []  # kept, for their ids are used
        self.left = MOST

    def context_of(self, node: ast.AST) -> Context:
        """How to read an expression that stands in a function: `self` is the only object of the class, arguments come from a call."""
        scope = self.source.scope(node)
        if not isinstance(scope, ast.FunctionDef):
            return TOP
        names = [a.arg for a in scope.args.args]
        owner = next((a for a in self.source.ancestors(scope) if isinstance(a, ast.ClassDef)), None)
        objects = {}
        if owner is not None and names:
            own = [thing for thing in self.namespace.values() if type(thing).__name__ == owner.name]
            objects = {names.pop(0): own[0]} if len(own) == 1 else {}
        call = next((c for c in self.source.calls(scope.name) if self.source.scope(c) is None), None)
        arguments = {name: (value, TOP) for name, value in zip(names, call.args)} if call else {}
        if call:
            arguments |= {k.arg: (k.value, TOP) for k in call.keywords if k.arg}
        self.contexts.append(Context(scope, arguments, objects))
        return self.contexts[-1]

    def paths(self, node: ast.AST, context: Context) -> Iterator[tuple[Hop, ...]]:
        """Yield, for each way from the expression to the tensor, what it loses its history at."""
        key = id(node), id(context)
        if key in self.visited or self.left <= 0:
            return
        self.visited.add(key)
        self.left -= 1
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and self.is_target(node, context):
            yield ()
            return
        hop = self.cut(node, context)
        for path in self.below(node, context):
            yield (hop, *path) if hop else path

    def is_target(self, node: ast.AST, context: Context) -> bool:
        if isinstance(node, ast.Name) and context.scope is None:
            every = [d for d in self.source.definitions.get((None, node.id), []) if not d.partial]
            reaching = [d for d in self.source.reaching(node.id, node, None) if not d.partial]
            last = max(every, key=lambda d: d.order) if every else None
            if last and reaching and reaching[0] is not last:
                return False  # the name means something else by now
        return self.resolve(node, context) is self.tensor

    def resolve(self, node: ast.AST, context: Context) -> Any:
        """The object an expression stands for, if that can be told without running anything."""
        if isinstance(node, ast.Name):
            if node.id in context.objects:
                return context.objects[node.id]
            if node.id in context.arguments:
                return self.resolve(*context.arguments[node.id])
            local = context.depth and self.source.definitions.get((context.scope, node.id))
            return None if local else self.namespace.get(node.id)
        if isinstance(node, ast.Attribute):
            return member(self.resolve(node.value, context), node.attr)
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            holder = self.resolve(node.value, context)
            if isinstance(holder, (list, tuple, dict)) or is_module(holder):
                try:
                    return holder[node.slice.value]
                except (KeyError, IndexError, TypeError):
                    return None
        return None

    def below(self, node: ast.AST, context: Context) -> Iterator[tuple[Hop, ...]]:
        if isinstance(node, ast.Name):
            yield from self.through_name(node, context)
        elif isinstance(node, ast.Call):
            yield from self.through_call(node, context)
        elif isinstance(node, ast.Attribute):
            yield from self.through_attribute(node, context)
        elif isinstance(node, (ast.ListComp, ast.GeneratorExp, ast.SetComp)):
            for part in (node.elt, *(g.iter for g in node.generators)):
                yield from self.paths(part, context)
        elif isinstance(node, ast.IfExp):
            for part in (node.body, node.orelse):
                yield from self.paths(part, context)
        elif not isinstance(node, (ast.Lambda, ast.Constant)):
            for child in ast.iter_child_nodes(node):
                yield from self.paths(child, context)

    def through_attribute(self, node: ast.Attribute, context: Context) -> Iterator[tuple[Hop, ...]]:
        if node.attr in FACTS:
            return
        if isinstance(node.value, ast.Name):
            yield from self.through_definitions(f"{node.value.id}.{node.attr}", node, context)
        yield from self.paths(node.value, context)

    def through_name(self, node: ast.Name, context: Context) -> Iterator[tuple[Hop, ...]]:
        yield from self.through_definitions(node.id, node, context)
        if node.id in context.arguments and not self.source.reaching_whole(node.id, node, context.scope):
            yield from self.paths(*context.arguments[node.id])

    def through_definitions(self, name: str, node: ast.AST, context: Context) -> Iterator[tuple[Hop, ...]]:
        for definition in self.source.reaching(name, node, context.scope):
            local = context if (context.scope, name) in self.source.definitions else TOP
            hop = None if isinstance(definition.value, ast.Name) else self.unrecorded(definition.statement)
            for path in self.paths(definition.value, local):
                yield (hop, *path) if hop else path
            for iteration in comprehension_sources(definition.statement, name):
                yield from self.paths(iteration, local)

    def through_call(self, node: ast.Call, context: Context) -> Iterator[tuple[Hop, ...]]:
        name = called(node)
        if name in SHAPES:
            return
        function = self.resolve(node.func, context)
        if is_module(function):
            yield from self.through_module(function, node, context)
            return
        inlined = self.function_called(node, context)
        if inlined and context.depth < DEPTH:
            yield from self.through_function(*inlined, node, context)
            return
        if isinstance(node.func, ast.Attribute):
            yield from self.paths(node.func.value, context)
        for argument in [*node.args, *(k.value for k in node.keywords)]:
            yield from self.paths(argument, context)

    def function_called(self, node: ast.Call, context: Context) -> tuple[ast.FunctionDef, Any] | None:
        """The user's function that a call runs, and the object it is a method of."""
        if isinstance(node.func, ast.Name):
            function = self.source.functions.get(node.func.id)
            return (function, None) if function is not None else None
        if isinstance(node.func, ast.Attribute):
            owner = self.resolve(node.func.value, context)
            found = self.method(owner, node.func.attr)
            return (found, owner) if found is not None else None
        return None

    def method(self, owner: Any, name: str) -> ast.FunctionDef | None:
        for kind in type(owner).__mro__ if owner is not None else ():
            body = self.source.classes.get(kind.__name__)
            for statement in body.body if body else ():
                if isinstance(statement, ast.FunctionDef) and statement.name == name:
                    return statement
        return None

    def through_function(self, function: ast.FunctionDef, owner: Any, node: ast.Call, context: Context) -> Iterator[tuple[Hop, ...]]:
        names = [a.arg for a in function.args.args]
        objects = {}
        if owner is not None and names:
            objects[names.pop(0)] = owner
        arguments = {name: (value, context) for name, value in zip(names, node.args)}
        arguments |= {k.arg: (k.value, context) for k in node.keywords if k.arg}
        inner = Context(function, arguments, objects, context.depth + 1)
        self.contexts.append(inner)
        for statement in ast.walk(function):
            if isinstance(statement, ast.Return) and statement.value is not None and self.source.scope(statement) is function:
                hop = self.unrecorded(statement)
                for path in self.paths(statement.value, inner):
                    yield (hop, *path) if hop else path

    def through_module(self, module: Any, node: ast.Call, context: Context) -> Iterator[tuple[Hop, ...]]:
        forward = self.method(module, "forward")
        if forward is not None and context.depth < DEPTH:
            yield from self.through_function(forward, module, node, context)
            return
        if any(p is self.tensor for p in module.parameters()):
            yield ()
        for argument in node.args:
            yield from self.paths(argument, context)

    def unrecorded(self, statement: ast.AST) -> Hop | None:
        """The no_grad that a statement stands in."""
        for above in (statement, *self.source.ancestors(statement)):
            if isinstance(above, ast.With):
                for item in above.items:
                    if turns_off(item.context_expr):
                        return Hop("no_grad", above, self.source.statement(statement))
            elif isinstance(above, ast.FunctionDef) and any(turns_off(d) for d in above.decorator_list):
                return Hop("no_grad", above, self.source.statement(statement))
        return None

    def cut(self, node: ast.AST, context: Context) -> Hop | None:
        kind = kind_of_cut(node)
        if kind == "copy" and isinstance(node, ast.Call) and self.function_called(node, context):
            kind = None
        return Hop(kind, node, self.source.statement(node)) if kind else None


TOP = Context()


def kind_of_cut(node: ast.AST) -> str | None:
    if isinstance(node, ast.Attribute):
        return {"data": "data", "indices": "index"}.get(node.attr)
    if isinstance(node, ast.Compare):
        return None if isinstance(node.ops[0], (ast.Is, ast.IsNot, ast.In, ast.NotIn)) else "comparison"
    if not isinstance(node, ast.Call):
        return None
    name = called(node)
    receiver = node.func.value if isinstance(node.func, ast.Attribute) else None
    if isinstance(receiver, ast.Name) and receiver.id in ARRAYS:
        return "numpy" if receiver.id != "math" else "number"
    if name in ("to", "type") and any(last_name(a) in INTEGERS for a in [*node.args, *(k.value for k in node.keywords)]):
        return "integer"
    if receiver is None and name in ("float", "int") or name not in ("float", "int"):
        if name in FUNCTIONS:
            return FUNCTIONS[name]
    if receiver is not None or name in ("one_hot",):
        return METHODS.get(name)
    return None


def last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def turns_off(node: ast.AST) -> bool:
    name = called(node) if isinstance(node, ast.Call) else last_name(node)
    if name == "set_grad_enabled":
        return isinstance(node, ast.Call) and bool(node.args) and isinstance(node.args[0], ast.Constant) and not node.args[0].value
    return name in NO_GRAD


def comprehension_sources(statement: ast.AST, name: str) -> Iterator[ast.expr]:
    """What a comprehension in a statement iterates over, under a name."""
    for node in ast.walk(statement):
        if isinstance(node, ast.comprehension) and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(node.target)):
            yield node.iter


def member(holder: Any, name: str) -> Any:
    """An attribute that is plainly there: nothing of a tensor, no property is run."""
    if holder is None or is_tensor(holder):
        return None
    own = getattr(holder, "__dict__", {})
    if name in own:
        return own[name]
    for table in ("_parameters", "_modules", "_buffers"):
        if is_module(holder) and name in own.get(table, {}):
            return own[table][name]
    return None
