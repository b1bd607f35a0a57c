"""Backward that cannot begin, or not a second time: what the error means in this program. Imports failure, answer, missing, slicing."""

from __future__ import annotations

import ast
import re
from typing import Any

from gradrepl.graphs.protocol import is_module, is_tensor
from gradrepl.insight.algebra import from_library, in_brackets
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.cuts import EXPLAINED, FIXES, nearest, words
from gradrepl.insight.causes.failure import Failure, operand_names
from gradrepl.insight.causes.program import base_name
from gradrepl.insight.causes.slicing import Hop, Slice
from gradrepl.insight.history import Pass
from gradrepl.insight.observer import seen


def backward_twice(f: Failure) -> Answer | None:
    root, name = f.subject, f.receiver or "the result"
    keys = node_keys(f, root)
    failed = f.passes[-1] if f.passes else None
    earlier = [p for p in f.passes[:-1] if p.kind and any(s.key in keys for s in p.steps)] if keys else f.passes[:-1]
    first = earlier[-1] if earlier else None
    same = first is None or not keys or not first.steps or first.steps[0].key == max(keys)
    return same_graph(f, name, root, first) if same else shared_part(f, name, keys, first, failed)  # type: ignore[arg-type]


def node_keys(f: Failure, root: Any) -> dict[int, Any]:
    graph = f.graph(root)
    if graph is None:
        return {}
    return {n._sequence_nr(): n for n in graph.functions.values() if hasattr(n, "_sequence_nr") and not hasattr(n, "variable")}


def same_graph(f: Failure, name: str, root: Any, first: Pass | None) -> Answer:
    freed = freed_node(f, root)
    calls = [c for c in f.backward_calls if f.text(c).startswith(name)]
    where = f.where(first.where) if first else f.where(calls[0]) if calls else ""
    loop = "" if where != f.line else ", in an earlier round of the loop"
    what = (
        f"the value of {freed[1]} that {freed[0]} had saved"
        if freed and freed[1]
        else f"what {freed[0]} had saved"
        if freed
        else "the saved values"
    )
    return answer(
        "backward twice",
        f"{name}.backward() ran a second time on the same graph ({f.line}): the first call{f' ({where}{loop})' if where else ''} freed "
        f"{what}, so compute {name} again before it, or pass retain_graph=True to the first call.",
        freed and f"{freed[0]}{freed[2]}._saved_{freed[3]} is freed",
        where and f"first backward on {where}, second on {f.line}",
        fix=f"compute {name} again, or {name}.backward(retain_graph=True) the first time",
    )


def freed_node(f: Failure, root: Any) -> tuple[str, str, str, str] | None:
    """(node, name of what it had saved, its id, the slot) of the first freed node."""
    graph = f.graph(root)
    for node in graph.graph.nodes if graph else ():
        for saved in node.saved:
            if saved.state == "freed":
                kept = seen(graph.functions[node.id])  # type: ignore[union-attr]
                slot = saved.slots[0]
                names = saved.names or operand_names(kept.where.text if kept else "", slot)
                return node.name, names[0] if names else "", f" {node.id}", slot
    return None


def shared_part(f: Failure, name: str, keys: dict[int, Any], first: Pass, failed: Pass | None) -> Answer:
    """An older part of the graph, freed by an earlier backward: a hidden state, or a common piece."""
    shared = max(k for k in keys if any(s.key == k for s in first.steps))
    step = next(s for s in first.steps if s.key == shared)
    kept = step.seen
    into = f.target_of(kept.where.statement) if kept else ""
    into = into or (kept.where.text if kept else step.name)
    again = f.where(first.where) == f.line
    story = (
        f"{into}, computed by {kept.where.text if kept else step.name} ({f.where(kept.where) if kept else '?'}) in an earlier step, "
        "still carries its history along: a state kept between steps"
        if again
        else f"{into} ({f.where(kept.where) if kept else '?'}) is shared by both results"
    )
    fix = (
        f"{into} = {into}.detach() between the steps"
        if again
        else f"add the results and call backward() once, or backward(retain_graph=True) on {f.where(first.where)}"
    )
    return answer(
        "backward twice",
        f"{name}.backward() on {f.line} went a second time through a part of the graph that backward() had freed already "
        f"({f.where(first.where)}): {story}; {'detach it' if again else 'keep the graph'} ({fix}).",
        f"{step.name.rpartition('::')[2]} was visited by both passes",
        fix=fix,
    )


def not_scalar(f: Failure) -> Answer:
    name, tensor = f.receiver or "the result", f.subject
    shape = f"it has shape {tuple(tensor.shape)}, {tensor.numel()} elements" if is_tensor(tensor) else "it has more than one element"
    kind = "complex" if "real scalar" in f.message else "not a scalar"
    call = "backward()" if "backward" in f.said else "autograd.grad()"
    whole = in_brackets(name)
    return answer(
        "not a scalar",
        f"{name} is {kind}: {shape}, and {call} on {f.line} can start by itself only from a single number; reduce it first ({whole}.sum() "
        f"or {whole}.mean()), or say what to start with: gradient=torch.ones_like({name}).",
        f"{name}: shape {tuple(tensor.shape)}, made on {f.where(f.made_at(tensor))}" if is_tensor(tensor) and f.made_at(tensor) else None,
        fix=f"{whole}.sum().backward(), or {whole}.backward(torch.ones_like({name}))",
    )


def no_history(f: Failure) -> Answer:
    name = f.receiver or "the result"
    expression = root_of(f)
    grad_call = without_create_graph(f, name)
    if grad_call is not None:
        return answer(
            "no create_graph",
            f"{name} has no grad_fn because the gradient it is computed from came out of {f.text(grad_call)} on {f.where(grad_call)} "
            f"without create_graph=True: backward itself was not recorded, so there is no graph to differentiate a second time ({f.line}).",
            f"{name}.requires_grad is False",
            fix="create_graph=True in that call",
        )
    for other, leaf in wanted_leaves(f):
        slice = Slice(f.source, f.namespace, leaf)
        ways = [w for w in slice.paths(expression, slice.context_of(expression)) if w] if expression is not None else []
        if ways:
            return no_history_by(f, name, nearest(min(ways, key=len)), other)
    undone = [e for e in f.events if e.kind in ("set requires_grad", "requires_grad_") and e.detail is False]
    if undone:
        return answer(
            "nothing requires grad",
            f"{name} has no grad_fn because {undone[-1].where.text} on {f.where(undone[-1].where)} switched requires_grad off: nothing "
            f"that {name} is computed from requires grad.",
            f"{name}.requires_grad is False, {name}.grad_fn is None",
            fix="switch requires_grad on before the forward pass",
        )
    return answer(
        "nothing requires grad",
        f"{name} has no grad_fn: nothing that it is computed from requires grad, so no graph was recorded and backward() on {f.line} has "
        f"nowhere to go; make the input with requires_grad=True before computing {name}.",
        f"{name}.requires_grad is False, {name}.grad_fn is None",
        fix="requires_grad=True where the tensor to differentiate by is made",
    )


def no_history_by(f: Failure, name: str, hop: Hop, leaf: str) -> Answer:
    said = words(f, hop)
    return answer(
        hop.kind,
        f"{name} has no grad_fn because {EXPLAINED[hop.kind].format(**said)}: "
        f"backward() on {f.line} finds no way from {name} back to {leaf}.",
        f"{name}.requires_grad is False, {name}.grad_fn is None",
        f"{f.where(hop.statement)}: {f.text(hop.statement)}" if isinstance(hop.statement, (ast.Assign, ast.Expr, ast.Return)) else None,
        fix=FIXES[hop.kind].format(**said),
    )


def wanted_leaves(f: Failure) -> list[tuple[str, Any]]:
    """Tensors of the program that require grad: variables, then parameters of modules."""
    found = [(n, t) for n, t in f.namespace.items() if is_tensor(t) and t.requires_grad and t.is_leaf]
    for n, m in f.namespace.items():
        if is_module(m):
            found += [(f"{n}.{p}", t) for p, t in m.named_parameters() if t.requires_grad]
    return found


def root_of(f: Failure) -> ast.AST | None:
    node = f.node
    if not isinstance(node, ast.Call):
        return None
    if not from_library(node.func):
        return node.func.value  # type: ignore[attr-defined]
    return node.args[0] if node.args else None


def without_create_graph(f: Failure, name: str) -> ast.Call | None:
    for call in f.source.calls("grad"):
        if "autograd" in f.text(call) and not any(k.arg == "create_graph" for k in call.keywords):
            statement = f.source.statement(call)
            targets = (
                {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
                if statement is not None
                else set()
            )
            definition = f.definition_of(name)
            used = {n.id for n in ast.walk(definition if definition is not None else f.node or statement) if isinstance(n, ast.Name)}  # type: ignore[arg-type]
            if targets & (used | {name}):
                return call
    return None


def not_used(f: Failure) -> Answer | None:
    """autograd.grad with respect to something that is not in the graph."""
    node = f.parsed
    if not isinstance(node, ast.Call) or not node.args:
        return None
    keywords = {k.arg: k.value for k in node.keywords}
    inputs: Any = node.args[1] if len(node.args) > 1 else keywords.get("inputs")
    index = int(found[1]) if (found := re.search(r"at index (\d+)", f.message)) else 0
    elements = inputs.elts if isinstance(inputs, (ast.List, ast.Tuple)) else [inputs]
    expression = elements[index] if index < len(elements) else elements[0]
    name, root = ast.unparse(expression), ast.unparse(node.args[0])
    tensor, result = f.value_of(name), f.value_of(root)
    meant = meant_instead(f, expression, tensor, result)
    made = f.made_at(tensor) if is_tensor(tensor) else None
    definition = f.definition_of(name)
    how = (
        f"{name} was made {'from ' + meant + ' ' if meant else ''}({f.where(made or definition) or f.line})"
        if made or definition is not None or meant
        else f"{name}"
    )
    leaves = f.leaf_names(f.graph(result))
    return answer(
        "not in the graph",
        f"{how} and is not part of the graph of {root}, so {root} has no gradient with respect to "
        f"it{f': differentiate with respect to {meant} (did you mean {meant}?)' if meant else ''}.",
        f"leaves under {root}: {', '.join(leaves)}" if leaves else None,
        f"{name} is the output of {tensor.grad_fn.name()} ({f.where(made)}), which is not among the nodes under {root}"
        if is_tensor(tensor) and tensor.grad_fn is not None
        else None,
        fix=f"torch.autograd.grad({root}, {meant})" if meant else f"compute {root} from {name}, or pass allow_unused=True",
    )


def meant_instead(f: Failure, expression: ast.AST, tensor: Any, result: Any) -> str:
    """A leaf of the result's graph that the tensor was made from, or else one that is alike."""
    leaves = f.leaves(f.graph(result))
    if is_tensor(tensor) and tensor.grad_fn is not None:
        own = [v for v in leaves if f.reaches(tensor.grad_fn, v)]
        if own:
            return f.name_of(own[0])
    variable = f.variable(base_name(expression))
    if any(v is variable for v in leaves):
        return base_name(expression)
    alike = [v for v in leaves if is_tensor(tensor) and v.shape == tensor.shape and f.name_of(v)]
    return f.name_of(alike[0]) if len(alike) == 1 else ""


def not_differentiated(f: Failure) -> Answer | None:
    node = f.parsed
    inputs = node.args[1] if isinstance(node, ast.Call) and len(node.args) > 1 else None
    name = ast.unparse(inputs) if inputs is not None else "one of the inputs"
    made = f.definition_of(name)
    return answer(
        "requires_grad is False",
        f"{name} does not require grad{f' (made on {f.where(made)})' if made is not None else ''}, so nothing can be differentiated "
        f"with respect to it ({f.line}): make it with requires_grad=True before the forward pass.",
        f"{name}.requires_grad is False",
        fix=f"{name}.requires_grad_() before the forward pass",
    )


def mismatch(f: Failure) -> Answer:
    shapes = re.findall(r"torch\.Size\((\[.*?\])\)", f.message)
    name = f.receiver or "the result"
    given, wanted = (shapes + ["?", "?"])[:2]
    return answer(
        "gradient of the wrong shape",
        f"The gradient given to backward() on {f.line} has shape {given}, but {name} has shape {wanted}: it must have the shape of the "
        "tensor it is the gradient of.",
        f"{f.line}: {f.said}",
        fix=f"gradient=torch.ones_like({name})",
    )
