"""What an error of autograd means in this program: which tensor, which line, what to write instead. Imports question, answer, slicing."""

from __future__ import annotations

import ast
import re
from types import FrameType
from typing import Any

from gradrepl.graphs.protocol import is_module, is_tensor
from gradrepl.insight import places
from gradrepl.insight.algebra import from_library, operands
from gradrepl.insight.causes.answer import Answer, answer
from gradrepl.insight.causes.missing import EXPLAINED, FIXES, nearest, words
from gradrepl.insight.causes.program import base_name
from gradrepl.insight.causes.question import Question, call_at
from gradrepl.insight.causes.slicing import TOP, Hop, Slice
from gradrepl.insight.history import Pass, Write
from gradrepl.insight.observer import engine_of, seen
from gradrepl.insight.places import Place, foreign, source_of


class Failure(Question):
    """An error, with the place in the user's program that raised it."""

    def __init__(self, error: BaseException, frame: FrameType):
        self.error, self.message = error, str(error)
        frames = []
        trace = error.__traceback__
        while trace is not None:
            if not foreign(trace.tb_frame.f_code.co_filename) and trace.tb_frame.f_globals is not places.generated:
                frames.append((trace.tb_frame, Place(trace.tb_frame.f_code, trace.tb_lasti)))
            trace = trace.tb_next
        self.frames = frames
        super().__init__(None, frames[-1][0] if frames else frame)
        self.place = frames[-1][1] if frames else None

    @property
    def line(self) -> str:
        return self.where(self.place) if self.place else "the last line"

    @property
    def said(self) -> str:
        return self.place.text if self.place else self.message

    @property
    def node(self) -> Any:
        """The expression that was running, in the tree of the source."""
        return call_at(self.source, self.place) if self.place else None

    @property
    def parsed(self) -> ast.AST | None:
        """The expression or statement that was running, parsed by itself."""
        try:
            statement = ast.parse(self.said).body[0]
        except (SyntaxError, IndexError):
            return None
        return statement.value if isinstance(statement, ast.Expr) else statement

    @property
    def receiver(self) -> str:
        """What the method was called on: `loss` in `loss.backward()`; the argument of a function of torch."""
        node = self.parsed
        if isinstance(node, ast.AugAssign):
            return ast.unparse(node.target)
        if not isinstance(node, ast.Call):
            return ast.unparse(node.value) if isinstance(node, (ast.Subscript, ast.Attribute)) else ""
        if not from_library(node.func):
            return ast.unparse(node.func.value)
        first = node.args[0] if node.args else None
        if isinstance(first, (ast.List, ast.Tuple)) and first.elts:
            first = first.elts[0]
        return ast.unparse(first) if first is not None else ""

    @property
    def subject(self) -> Any:
        """The tensor that the receiver means, if it is a variable."""
        return self.value_of(self.receiver)

    @property
    def roots(self) -> list:
        """The tensors that backward was called on: the variable, or those in the expression."""
        if is_tensor(self.subject):
            return [self.subject]
        try:
            names = [n.id for n in ast.walk(ast.parse(self.receiver)) if isinstance(n, ast.Name)]
        except SyntaxError:
            return []
        return [t for n in names if is_tensor(t := self.namespace.get(n)) and t.grad_fn is not None]

    def value_of(self, name: str) -> Any:
        if name in self.namespace:
            return self.namespace[name]
        try:
            node = ast.parse(name, mode="eval").body
        except SyntaxError:
            return None
        return Slice(self.source, self.namespace, None).resolve(node, TOP)

    def statement_text(self) -> str:
        statement = self.place.statement if self.place else None
        return self.text(statement) if statement is not None and statement in self.source.owner else self.said

    def definition_of(self, name: str) -> ast.AST | None:
        """The statement that a variable of this frame comes from."""
        scope = next((f for f in self.source.functions.values() if f.name == self.frame.f_code.co_name), None)
        found = self.source.definitions.get((scope, name), []) or self.source.definitions.get((None, name), [])
        found = [d for d in found if not d.partial and (self.place is None or d.statement.lineno <= self.place.line or scope is None)]  # type: ignore[attr-defined]
        return found[-1].statement if found else None


def explain_error(error: BaseException, frame: FrameType) -> Answer:
    f = Failure(error, frame)
    for pattern, rule in RULES:
        if re.search(pattern, f"{type(error).__name__}: {f.message}", re.DOTALL):
            found = rule(f)
            if found is not None:
                return found
    return answer(
        "error",
        f"{f.said} on {f.line} raised {type(error).__name__}: {f.message.splitlines()[0].rstrip('.') if f.message else 'no message'}.",
        "this error is not one that autograd raises about its graph, so only the place is known",
    )


def failed_backward(q: Question) -> Answer | None:
    """A tensor whose backward raised: the error explains it."""
    import sys

    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None or q.tensor.grad_fn is None or "backward" not in "".join(map(str, user_lines(error))):
        return None
    f = Failure(error, q.frame)
    return explain_error(error, q.frame) if f.subject is q.tensor else None


def user_lines(error: BaseException) -> list[str]:
    trace, found = error.__traceback__, []
    while trace is not None:
        found.append(Place(trace.tb_frame.f_code, trace.tb_lasti).text)
        trace = trace.tb_next
    return found


# ---- backward twice


def backward_twice(f: Failure) -> Answer | None:
    root, name = f.subject, f.receiver or "the result"
    keys = node_keys(f, root)
    failed = f.passes[-1] if f.passes else None
    earlier = [p for p in f.passes[:-1] if p.kind and any(s.key in keys for s in p.steps)] if keys else f.passes[:-1]
    first = earlier[-1] if earlier else None
    same = first is None or not keys or not first.steps or first.steps[0].key == max(keys)
    return same_graph(f, name, root, first) if same else shared_part(f, name, keys, first, failed)  # type: ignore[arg-type]


def node_keys(f: Failure, root: Any) -> dict[int, Any]:
    graph = f.graph(root) if is_tensor(root) else None
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
        f"{what}, so compute {name} again "
        f"before it, or pass retain_graph=True to the first call.",
        freed and f"{freed[0]}{freed[2]}._saved_{freed[3]} is freed",
        where and f"first backward on {where}, second on {f.line}",
        fix=f"compute {name} again, or {name}.backward(retain_graph=True) the first time",
    )


def freed_node(f: Failure, root: Any) -> tuple[str, str, str, str] | None:
    """(node, name of what it had saved, its id, the slot) of the first freed node."""
    graph = f.graph(root) if is_tensor(root) else None
    for node in graph.graph.nodes if graph else ():
        for saved in node.saved:
            if saved.state == "freed":
                kept = seen(graph.functions[node.id])
                slot = saved.slots[0]
                names = saved.names or operand_names(kept.where.text if kept else "", slot)
                return node.name, names[0] if names else "", f" {node.id}", slot
    return None


def operand_names(text: str, slot: str) -> list[str]:
    """The variable that a slot of an op means: `w` for self in `w ** 2`."""
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    sides = operands(node)
    index = 1 if slot in ("other", "mat2") else 0
    return [sides[index].id] if len(sides) > index and isinstance(sides[index], ast.Name) else []


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
        f"({f.where(first.where)}): {story}; "
        f"{'detach it' if again else 'keep the graph'} ({fix}).",
        f"{step.name.rpartition('::')[2]} was visited by both passes",
        fix=fix,
    )


# ---- writes in place


def modified(f: Failure) -> Answer | None:
    found = re.search(
        r"\[torch\.\w+ \[(.*?)\]\](?:, which is output (\d+) of ([\w:]+),)? is at version (\d+); expected version (\d+)", f.message
    )
    if not found:
        return None
    now, then = int(found[4]), int(found[5])
    spoilt = spoilt_node(f, then, now)
    node, slot, names, place, id = spoilt or (failed_name(f), "", [], failed_place(f), "")
    write = write_between(f, names, then, now, place)
    name = names[0] if names else written_name(write) or "a saved tensor"
    if write is not None and write.where.text.endswith(".step()"):
        how = f"{write.where.text} on {f.where(write.where)} changed {name} in place"
    elif write is not None:
        how = f"{one_line(write)} on {f.where(write.where)} changed {name} in place"
    else:
        statement = static_write(f, name)
        how = (
            f"{f.text(statement)} on {f.where(statement)} changed {name} in place"
            if statement is not None
            else f"{name} was changed in place"
        )
    producer = f"{node}" + (f" ({f.where(place)})" if place else "")
    fix = out_of_place(f, write, name)
    return answer(
        "saved tensor modified",
        f"{how}, but {producer} had saved {name} for its derivative: it was saved at version {then} and is now at version {now}, so "
        f"{instead(fix)}.",
        f"{node}{id}._saved_{slot or 'self'} is {name}: version {then} when saved{f' ({f.where(place)})' if place else ''}, version "
        f"{now} now",
        f"output {found[2]} of {found[3]}" if found[3] else None,
        fix=fix,
    )


def instead(fix: str) -> str:
    return f"write {fix} instead" if "=" in fix and not fix.startswith(("call", "compute", "write")) else fix


def one_line(write: Write) -> str:
    """A write as the program writes it: the statement, or the call."""
    whole = isinstance(write.where.statement, (ast.AugAssign, ast.Assign)) and "(" not in write.where.text
    return write.where.statement_text if whole else write.where.text


def spoilt_node(f: Failure, then: int, now: int) -> tuple[str, str, list[str], Place | None, str] | None:
    """The node whose saved tensor was changed: (name, slot, names of the tensor, where, id)."""
    graph = f.graph(f.roots) if f.roots else None
    for node in graph.graph.nodes if graph else ():
        for saved in node.saved:
            if saved.expected is not None and saved.expected != saved.version and saved.expected == then and saved.version == now:
                kept = seen(graph.functions[node.id])
                place = kept.where if kept else None
                result = place and f.target_of(place.statement) if saved.slots[0].startswith("result") else ""
                names = list(saved.names) or ([result] if result else operand_names(place.text if place else "", saved.slots[0]))
                return node.name, saved.slots[0], names, place, f" {node.id}"
    return None


def failed_name(f: Failure) -> str:
    failed = f.passes[-1].failed if f.passes else None
    return failed[1].rpartition("::")[2] if failed else "an op"


def failed_place(f: Failure) -> Place | None:
    failed = f.passes[-1].failed if f.passes else None
    return failed[2].where if failed and failed[2] else None


def write_between(f: Failure, names: list[str], then: int, now: int, place: Place | None) -> Write | None:
    """The first write that took the saved tensor beyond its version."""
    writes = [w for w in f.writes if then < w.version <= now]
    tensors = [t for t in (f.value_of(n) for n in names) if is_tensor(t)]
    own = [w for w in writes if any(same_storage(t, w) for t in tensors)]
    named = [w for w in writes if written_name(w) in names]
    return (own or named or writes or [None])[0]  # type: ignore[list-item]


def same_storage(tensor: Any, write: Write) -> bool:
    return write.storage is tensor.counter if engine_of(tensor) == "embedded" else write.storage == tensor.untyped_storage().data_ptr()


def written_name(write: Write | None) -> str:
    """The variable that a write went to, by its source."""
    if write is None:
        return ""
    called_on = next(iter(written_in(write.where.text)), None)
    if called_on is not None:
        return base_name(called_on)
    statement = write.where.statement
    target = (
        statement.targets[0] if isinstance(statement, ast.Assign) else statement.target if isinstance(statement, ast.AugAssign) else None
    )
    return base_name(target) if target is not None else ""


def written_in(text: str) -> list[ast.AST]:
    """What a call writes: `y` in `y.mul_(2)` and `torch.relu_(y)`."""
    found = targets_of(text)
    call: Any = ast.parse(text, mode="eval").body if found else None
    if isinstance(call, ast.Call) and from_library(call.func):
        return call.args[:1]
    return found if "(" in text else []


def static_write(f: Failure, name: str) -> ast.stmt | None:
    for definitions in f.source.definitions.items():
        if definitions[0][1] == name:
            found = [d.statement for d in definitions[1] if d.partial]
            if found:
                return found[-1]  # type: ignore[return-value]
    return None


OPERATORS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}


def out_of_place(f: Failure, write: Write | None, name: str) -> str:
    statement = write.where.statement if write else static_write(f, name)
    if write is not None and write.where.text.endswith(".step()"):
        return f"call {write.where.text} after the last backward() that needs the old values, or compute the result again after it"
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name) and type(statement.op) in OPERATORS:
        value = source_of(write.where.filename, statement.value) if write else f.text(statement.value)
        return f"{name} = {name} {OPERATORS[type(statement.op)]} {value}"
    call = statement.value if isinstance(statement, ast.Expr) else None
    if (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and isinstance(call.func.value, ast.Name)
        and call.func.attr not in ("zero_", "fill_")
    ):
        return f"{name} = {name}.{call.func.attr[:-1]}({', '.join(map(ast.unparse, call.args))})"
    return f"{name} = {name}.clone() before the write"


def detached_in_place(f: Failure) -> Answer:
    event = next((e for e in reversed(f.events) if e.kind == "detach_"), None)
    text, where = (event.where.text, f.where(event.where)) if event else ("detach_()", "an earlier line")
    name = base_name(next(iter(targets_of(text)), ast.Constant(0))) or "a tensor"
    return answer(
        "detached in place",
        f"{text} on {where} detached {name} in place, but a node had saved {name} for its derivative and backward ({f.line}) still "
        "needs its place in the graph; use the "
        f"out-of-place {name}.detach() instead.",
        f"{where}: {text}",
        fix=f"{name}_values = {name}.detach()",
    )


def targets_of(text: str) -> list[ast.AST]:
    try:
        node = ast.parse(text, mode="eval").body
    except SyntaxError:
        return []
    return [node.func.value] if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else [node]


def target_tensor(f: Failure) -> tuple[str, Any]:
    """The variable that a write in place went to, as written, and its tensor."""
    statement = f.place.statement if f.place else None
    target: Any = f.parsed
    if isinstance(statement, (ast.Assign, ast.AugAssign)):
        target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    elif isinstance(target, ast.Call) and isinstance(target.func, ast.Attribute):
        target = target.func.value
    name = base_name(target) if target is not None else ""
    if isinstance(target, ast.Attribute):
        name = ast.unparse(target)
    return name or f.receiver, f.value_of(name) if name else None


def leaf_written(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    statement = f.statement_text()
    if "a view of a leaf" not in f.message or not is_tensor(tensor) or tensor.is_leaf and not tensor._is_view():
        direct = "a view of a leaf" in f.message
        how = f"writes through a view of {name}, a leaf" if direct else f"would change {name} in place, but {name} is a leaf"
        return answer(
            "leaf written in place",
            f"{statement} on {f.line} {how} that requires grad: autograd does not allow that, for the value that the leaf had in the "
            "graph would be lost; do it under torch.no_grad().",
            f"{name}.is_leaf is True, {name}.requires_grad is True, grad mode is on",
            fix=f"with torch.no_grad(): {statement}",
        )
    base = tensor._base
    of = f.name_of(base) or "a leaf"
    made = f.made_at(tensor) or f.definition_of(name)
    return answer(
        "view of a leaf written in place",
        f"{name} is a view of {of}, a leaf that requires grad, so {statement} on {f.line} would change the leaf {of} in place: do it "
        "under torch.no_grad().",
        f"{name}._base is {of} (is_leaf True, requires_grad True); {name}.grad_fn is "
        f"{tensor.grad_fn.name() if tensor.grad_fn else None} ({f.where(made)})",
        fix=f"with torch.no_grad(): {statement}",
    )


def several_views(f: Failure) -> Answer:
    maker = re.search(r"Output \d+ of (\w+?)(Backward\d*)? is a view", f.message)
    kind = (maker[1] if maker else "split").lower()
    name, tensor = target_tensor(f)
    base = tensor._base if is_tensor(tensor) else None
    loop = loop_over(f, name)
    of = (f.name_of(base) if base is not None else "") or (loop[1] if loop else "the tensor")
    made = (
        f"Iterating over {of} ({f.where(loop[0])}) calls {kind}(), which"
        if loop and kind == "unbind"
        else f"{kind}() of {of}{made_on(f, name)}"
    )
    statement = f.statement_text()
    return answer(
        "one of several views",
        f"{made} makes several views at once, and such a view, {name}, cannot be changed in place ({statement}, {f.line}): compute it "
        f"out of place instead, on the whole of {of}.",
        f"{name}._base is {of}, grad_fn {tensor.grad_fn.name() if is_tensor(tensor) and tensor.grad_fn else '?'}; in-place write on "
        f"{f.line}",
        fix=f"{of} = {of} - … for the whole tensor, or {name} = {name}.clone() first",
    )


def made_on(f: Failure, name: str) -> str:
    statement = f.definition_of(name)
    return f" ({f.where(statement)})" if statement is not None else ""


def loop_over(f: Failure, name: str) -> tuple[ast.For, str] | None:
    """The loop that gives a variable its values, and what it goes over."""
    for node in f.source.owner:
        if isinstance(node, ast.For) and any(isinstance(t, ast.Name) and t.id == name for t in ast.walk(node.target)):
            tensors = [n.id for n in ast.walk(node.iter) if isinstance(n, ast.Name) and is_tensor(f.namespace.get(n.id))]
            return node, tensors[0] if tensors else f.text(node.iter)
    return None


def no_grad_view(f: Failure) -> Answer:
    name, _ = target_tensor(f)
    made = f.definition_of(name)
    mode = "inference_mode" if "inference mode" in f.message else "no_grad"
    return answer(
        "view made in no_grad",
        f"{name} is a view that was made under {mode} ({f.where(made)}), and {f.statement_text()} on {f.line} changes it in place while "
        "grad mode is on: autograd cannot tell whether "
        f"the write is to be recorded; make the view and write it on the same side of the {mode} block.",
        f"{f.where(made)}: {f.text(made)}" if made is not None else None,
        fix=f"move the line that makes {name} out of the {mode} block, or the write into it",
    )


def overlapping(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    return answer(
        "expanded tensor written",
        f"{f.statement_text()} on {f.line} writes {name} in place, but {name} was expanded{made_on(f, name)}: several of its elements "
        "are one and the same place in memory; clone() it first.",
        f"{name}: shape {tuple(tensor.shape)}, strides {tensor.stride()}" if is_tensor(tensor) else None,
        fix=f"{name} = {name}.clone()",
    )


def inference(f: Failure) -> Answer:
    made = next(
        (n for n in f.source.owner if isinstance(n, ast.With) and any("inference_mode" in f.text(i.context_expr) for i in n.items)), None
    )
    inside = sorted(
        {n.id for s in (made.body if made else ()) for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    )
    name = ", ".join(inside) or "a tensor"
    return answer(
        "inference tensor",
        f"{name} was made under torch.inference_mode() ({f.where(made)}), and such a tensor can never take part in a graph: "
        f"{f.statement_text()} on {f.line} needs one that can; use "
        f"torch.no_grad() instead of inference_mode(), or {name}.clone() outside it.",
        f"{name}.is_inference() is True",
        fix=f"make {name} under torch.no_grad(), or use {name}.clone()",
    )


# ---- backward that cannot begin


def not_scalar(f: Failure) -> Answer:
    name, tensor = f.receiver or "the result", f.subject
    shape = f"it has shape {tuple(tensor.shape)}, {tensor.numel()} elements" if is_tensor(tensor) else "it has more than one element"
    kind = "complex" if "real scalar" in f.message else "not a scalar"
    call = "backward()" if "backward" in f.said else "autograd.grad()"
    return answer(
        "not a scalar",
        f"{name} is {kind}: {shape}, and {call} on {f.line} can start by itself only from a single number; reduce it first "
        f"({name}.sum() or {name}.mean()), or say what to start "
        f"with: gradient=torch.ones_like({name}).",
        f"{name}: shape {tuple(tensor.shape)}, made on {f.where(f.made_at(tensor))}" if is_tensor(tensor) and f.made_at(tensor) else None,
        fix=f"{name}.sum().backward(), or {name}.backward(torch.ones_like({name}))",
    )


def no_history(f: Failure) -> Answer:
    name = f.receiver or "the result"
    expression = root_of(f)
    grad_call = without_create_graph(f, name)
    if grad_call is not None:
        return answer(
            "no create_graph",
            f"{name} has no grad_fn because the gradient it is computed from came out of {f.text(grad_call)} on {f.where(grad_call)} "
            "without create_graph=True: backward itself was not "
            f"recorded, so there is no graph to differentiate a second time ({f.line}).",
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
        f"{name} has no grad_fn: nothing that it is computed from requires grad, so no graph was recorded and backward() on {f.line} "
        "has nowhere to go; make the input with "
        f"requires_grad=True before computing {name}.",
        f"{name}.requires_grad is False, {name}.grad_fn is None",
        fix="requires_grad=True where the tensor to differentiate by is made",
    )


def no_history_by(f: Failure, name: str, hop: Hop, leaf: str) -> Answer:
    said = words(f, hop)
    return answer(
        hop.kind,
        f"{name} has no grad_fn because {EXPLAINED[hop.kind].format(**said)}: backward() on {f.line} finds no way from {name} back to "
        f"{leaf}.",
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
        return node.func.value
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
    leaves = leaf_names(f, result)
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
    graph = f.graph(result) if is_tensor(result) else None
    leaves = [n.variable for n in graph.functions.values() if hasattr(n, "variable")] if graph else []
    if is_tensor(tensor) and tensor.grad_fn is not None:
        own = [v for v in leaves if f.reaches(tensor.grad_fn, v)]
        if own:
            return f.name_of(own[0])
    variable = f.namespace.get(base_name(expression))
    if any(v is variable for v in leaves):
        return base_name(expression)
    alike = [v for v in leaves if is_tensor(tensor) and v.shape == tensor.shape and f.name_of(v)]
    return f.name_of(alike[0]) if len(alike) == 1 else ""


def leaf_names(f: Failure, result: Any) -> list[str]:
    graph = f.graph(result) if is_tensor(result) else None
    return sorted({f.name_of(n.variable) for n in graph.functions.values() if hasattr(n, "variable")} - {""}) if graph else []


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


# ---- tensors that may not do what was asked


def integer_leaf(f: Failure) -> Answer:
    node = f.parsed
    data = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else f.receiver
    name = f.receiver
    floats = re.sub(r"(?<![\w.])(\d+)(?![\w.])", r"\1.0", data)
    tensor = f.value_of(name)
    dtype = tensor.dtype if is_tensor(tensor) else "torch.int64"
    what = f"{name} ({f.where(f.definition_of(name))})" if is_tensor(tensor) else f"{called_text(node) or 'the tensor'} on {f.line}"
    return answer(
        "integers",
        f"{what} is a tensor of integers ({dtype}), and only floating-point or complex tensors can require grad: write "
        f"{floats if not is_tensor(tensor) else name + '.float()'} or dtype=torch.float32.",
        f"{f.line}: the data {data} give dtype {dtype}",
        fix=f"{f.said.replace(data, floats, 1)}" if not is_tensor(tensor) else f"{name} = {name}.float(), then requires_grad_()",
    )


def called_text(node: Any) -> str:
    if not isinstance(node, ast.Call):
        return ""
    arguments = ", ".join(ast.unparse(a) for a in node.args)
    return f"{ast.unparse(node.func)}({arguments})"


def to_numpy(f: Failure) -> Answer:
    node = f.parsed
    candidates = [n for n in ast.walk(node) if isinstance(n, (ast.Name, ast.Attribute))] if node is not None else []
    name = next(
        (ast.unparse(n) for n in candidates if is_tensor(t := f.value_of(ast.unparse(n))) and t.requires_grad), f.receiver or "the tensor"
    )
    tensor = f.value_of(name)
    why = "it has a grad_fn" if is_tensor(tensor) and tensor.grad_fn is not None else "it requires grad"
    return answer(
        "numpy of a tensor that requires grad",
        f"{f.said} on {f.line} hands {name} to NumPy, but {name} is part of a graph ({why}), and NumPy records nothing, so the gradient "
        "would be lost unnoticed: take "
        f"{name}.detach().numpy() if only the values are wanted.",
        f"{name}.requires_grad is True"
        + (f", grad_fn {tensor.grad_fn.name()}" if is_tensor(tensor) and tensor.grad_fn is not None else ""),
        fix=f"{name}.detach().numpy()",
    )


def deep_copy(f: Failure) -> Answer:
    node = f.parsed
    name = ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else f.receiver
    tensor = f.value_of(name)
    if is_tensor(tensor):
        place = f.made_at(tensor) or f.definition_of(name)
        by = (
            f"computed by {place.text if isinstance(place, Place) else f.text(place) if place is not None else tensor.grad_fn.name()} "
            f"({f.where(place)})"
        )
        held = name
    else:
        held, by = f"a tensor inside {name}", "computed, not made by you"
    return answer(
        "deepcopy of a non-leaf",
        f"{held} is not a leaf: it was {by} and has a grad_fn, and deepcopy() on {f.line} cannot copy a piece of a graph, so copy the "
        f"values with {name}.detach().clone().",
        f"{name}.is_leaf is False, {name}.grad_fn is {tensor.grad_fn.name()}" if is_tensor(tensor) else None,
        fix=f"{f.statement_text().replace(f.said, f'{name}.detach().clone()')}",
    )


def change_flag(f: Failure) -> Answer:
    name, tensor = target_tensor(f)
    name = name.removesuffix(".requires_grad")
    tensor = f.value_of(name)
    by = (
        f", the result of {tensor.grad_fn.name()} ({f.where(f.made_at(tensor) or f.definition_of(name))})"
        if is_tensor(tensor) and tensor.grad_fn is not None
        else ""
    )
    return answer(
        "requires_grad of a non-leaf",
        f"{name} is not a leaf{by}, and requires_grad can be changed only for leaves ({f.line}): to use its values without history take "
        f"{name}.detach().",
        f"{name}.is_leaf is False",
        fix=f"{name} = {name}.detach()",
    )


def no_grad_yet(f: Failure) -> Answer | None:
    """`w.grad.zero_()` or `lr * w.grad` while w.grad is None."""
    statement = f.place.statement if f.place else None
    node = statement if isinstance(statement, ast.stmt) else f.parsed
    grads = [n for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr == "grad"] if node is not None else []
    for attribute in grads:
        name = ast.unparse(attribute.value)
        tensor = f.value_of(name)
        if is_tensor(tensor) and (tensor.grad if tensor.is_leaf else None) is None:
            return grad_is_none(f, name, tensor)
    return None


def grad_is_none(f: Failure, name: str, tensor: Any) -> Answer:
    from gradrepl.insight.causes.missing import RULES as MISSING

    q = Question(tensor, f.frame)
    inner = next(filter(None, (rule(q) for rule in MISSING)))
    return answer(
        inner.cause,
        f"{name}.grad is None on {f.line}, and None has no arithmetic. " + inner.sentence,
        *inner.evidence,
        fix=inner.fix,
    )


def hook_without_graph(f: Failure) -> Answer:
    name = f.receiver or "the tensor"
    what = "retain_grad()" if "retain_grad" in f.message else "register_hook()"
    return answer(
        "requires_grad is False",
        f"{name} does not require grad, so no gradient will ever come by, and {what} on {f.line} has nothing to wait for: make its "
        "inputs with requires_grad=True first.",
        f"{name}.requires_grad is False",
        fix=f"{name}.requires_grad_() before {what}",
    )


def non_leaf_optimised(f: Failure) -> Answer:
    node = f.parsed
    names = [ast.unparse(n) for n in ast.walk(node) if isinstance(n, ast.Name)] if node is not None else []
    name = next((n for n in names if is_tensor(t := f.value_of(n)) and not t.is_leaf), "a parameter")
    tensor = f.value_of(name)
    place = f.made_at(tensor) if is_tensor(tensor) else None
    return answer(
        "non-leaf in an optimizer",
        f"{name} is not a leaf: it was computed{f' by {place.text} ({f.where(place)})' if place else ''}, and an optimizer can change "
        "leaves only; make it a leaf with "
        f"{name}.detach().requires_grad_().",
        f"{name}.is_leaf is False"
        + (f", {name}.grad_fn is {tensor.grad_fn.name()}" if is_tensor(tensor) and tensor.grad_fn is not None else ""),
        fix=f"{name} = {name}.detach().requires_grad_()",
    )


def not_a_parameter(f: Failure) -> Answer:
    statement = f.place.statement if f.place else None
    target = ast.unparse(statement.targets[0]) if isinstance(statement, ast.Assign) else f.receiver
    value = ast.unparse(statement.value) if isinstance(statement, ast.Assign) else "a tensor"
    return answer(
        "not a Parameter",
        f"{target} = {value} on {f.line} puts a plain tensor where the module has an nn.Parameter: only a Parameter, a leaf that the "
        "optimizer knows, can stand there.",
        f"{f.line}: {f.statement_text()}",
        fix=f"with torch.no_grad(): {target}.copy_({value}), or {target} = nn.Parameter({value})",
    )


def assigned_gradient(f: Failure) -> Answer:
    return answer(
        "gradient of another kind",
        f"{f.statement_text()} on {f.line} gives .grad a tensor of another shape or dtype than the tensor it belongs to: "
        f"{f.message.splitlines()[0].rstrip('.')}.",
        fix="make the gradient with torch.zeros_like(tensor)",
    )


def detach_view(f: Failure) -> Answer:
    name = f.receiver or "the tensor"
    return answer(
        "detach_ of a view",
        f"{name} is a view, and detach_() on {f.line} would have to cut its base as well: use the out-of-place {name}.detach().",
        f"{name}._is_view() is True",
        fix=f"{name} = {name}.detach()",
    )


# ---- custom Functions


def custom_class(f: Failure) -> tuple[str, ast.ClassDef | None]:
    name = (re.search(r"[Ff]unction (\w+?)Backward", f.message) or [None, ""])[1]
    classes = f.source.classes
    if name not in classes:
        made = [
            c
            for c in classes
            if any(isinstance(n, ast.FunctionDef) and n.name == "forward" for n in classes[c].body) and "Function" in f.text(classes[c])
        ]
        name = name or (made[0] if made else "the Function")
    return name, classes.get(name)


def method_of(body: ast.ClassDef | None, name: str) -> ast.FunctionDef | None:
    return next((n for n in body.body if isinstance(n, ast.FunctionDef) and n.name == name), None) if body else None


def gradients_returned(f: Failure) -> Answer:
    found = re.search(r"expected (\d+), got (\d+)", f.message)
    wanted, got = (int(found[1]), int(found[2])) if found else (0, 0)
    name, body = custom_class(f)
    forward, backward = method_of(body, "forward"), method_of(body, "backward")
    with_context = body is not None and method_of(body, "setup_context") is None
    inputs = [a.arg for a in forward.args.args][1 if with_context else 0 :] if forward else []
    returned = next((n for n in ast.walk(backward) if isinstance(n, ast.Return)), None) if backward else None
    text = f.text(returned.value) if returned is not None and returned.value is not None else "grad"
    right = text + ", None" * max(0, wanted - got)
    listed = f", {' and '.join(inputs)}," if inputs else ""
    where = f.where(returned if returned is not None else backward) if backward else f.line
    return answer(
        "number of gradients",
        f"{name}.forward() takes {wanted} input{'s' * (wanted != 1)}{listed} but {name}.backward() ({where}) returns {got} "
        f"gradient{'s' * (got != 1)}: return one value for each forward input, "
        f"None for those that need none, as in return {right}.",
        f"{where}: {f.text(returned)}" if returned is not None else None,
        fix=f"return {right}",
    )


def gradient_shape(f: Failure) -> Answer:
    found = re.search(r"at index (\d+) - got (\[.*?\]) but expected shape compatible with (\[.*?\])", f.message)
    index, got, wanted = (found[1], found[2], found[3]) if found else ("?", "?", "?")
    name, body = custom_class(f)
    backward = method_of(body, "backward")
    returned = next((n for n in ast.walk(backward) if isinstance(n, ast.Return)), None) if backward else None
    where = f.where(returned) if returned is not None else f.line
    return answer(
        "shape of a gradient",
        f"{name}.backward() ({where}) returns, for input {index} of forward, a gradient of shape {got}, but that input has shape "
        f"{wanted}: each gradient must have the shape of its input.",
        f"{where}: {f.text(returned)}" if returned is not None else None,
        fix="sum the gradient down to the shape of the input, or transpose what was transposed in forward",
    )


def backward_missing(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "no backward",
        f"{name} has no backward(): a custom Function needs one (a static method that takes ctx and a gradient for each output) before "
        f"it can be differentiated ({f.line}).",
        f"class {name} on {f.where(body)}" if body is not None else None,
        fix=f"add @staticmethod def backward(ctx, grad): … to {name}",
    )


def once(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "once_differentiable",
        f"{f.said} on {f.line} differentiates {name} twice, but its backward is marked @once_differentiable: its own steps are not "
        "recorded, so there is no second derivative.",
        fix="leave out @once_differentiable and write backward with torch operations only",
    )


def legacy(f: Failure) -> Answer:
    name, body = custom_class(f)
    return answer(
        "instance of a Function",
        f"{f.said} on {f.line} makes an instance of {name}: a Function is used through its class, {name}.apply(…), with static methods.",
        fix=f"{name}.apply(…)",
    )


def anomaly(f: Failure) -> Answer:
    found = re.search(r"Function '(\w+)' returned nan values in its (\d+)th output", f.message)
    name = found[1] if found else "a node"
    root = f.subject
    graph = f.graph(root) if is_tensor(root) else None
    kept = next((seen(n) for n in graph.functions.values() if hasattr(n, "name") and n.name().endswith(name)), None) if graph else None
    place = kept.where if kept else None
    return answer(
        "nan in backward",
        f"{name}, recorded by {place.text if place else 'an op'}{f' ({f.where(place)})' if place else ''}, gave the first nan of "
        "backward: its derivative does not exist at the values it was given (a division by 0, "
        f"0 * inf, a root or logarithm of 0).",
        f"anomaly detection stopped backward() on {f.line}",
        fix="keep the input of that op away from the point where its derivative is infinite",
    )


# ---- shapes and dtypes


def shapes(f: Failure) -> Answer:
    names = sorted({n.id for n in ast.walk(f.parsed) if isinstance(n, ast.Name)}) if f.parsed is not None else []
    tensors = [(n, f.namespace[n]) for n in names if is_tensor(f.namespace.get(n))]
    listed = ", ".join(f"{n} {tuple(t.shape)}" for n, t in tensors)
    return answer(
        "shapes",
        f"{f.said} on {f.line} cannot be computed: {f.message.splitlines()[0].rstrip('.')}{f' ({listed})' if listed else ''}.",
        *(f"{n}: shape {tuple(t.shape)}" for n, t in tensors),
        fix="bring the shapes together with unsqueeze, reshape or .T; sizes match if they are equal or one of them is 1",
    )


def dtypes(f: Failure) -> Answer:
    names = sorted({n.id for n in ast.walk(f.parsed) if isinstance(n, ast.Name)}) if f.parsed is not None else []
    tensors = [(n, f.namespace[n]) for n in names if is_tensor(f.namespace.get(n))]
    return answer(
        "dtypes",
        f"{f.said} on {f.line} mixes dtypes: {f.message.splitlines()[0].rstrip('.')}.",
        *(f"{n}: dtype {t.dtype}" for n, t in tensors),
        fix="convert one side: x.float(), x.to(w.dtype)",
    )


def truth(f: Failure) -> Answer:
    return answer(
        "truth of a tensor",
        f"{f.said} on {f.line} asks whether a tensor of several elements is true: if, and, or need one answer; use .any() or .all(), & "
        "and |, or torch.where.",
        fix="torch.where(condition, a, b), or condition.any()",
    )


def to_number(f: Failure) -> Answer:
    name, tensor = f.receiver, f.subject
    shape = f" (shape {tuple(tensor.shape)})" if is_tensor(tensor) else ""
    return answer(
        "not one number",
        f"{name or f.said}{shape} on {f.line} has more than one element, so it cannot become one Python number: reduce it first, or use "
        "tolist().",
        fix=f"{name or 'x'}.sum().item(), or {name or 'x'}.tolist()",
    )


RULES = (
    (r"Trying to backward through the graph a second time", backward_twice),
    (r"modified by an inplace operation", modified),
    (r"detached in-place, i\.e\. with \.detach_", detached_in_place),
    (r"multiple views|returns multiple views", several_views),
    (r"[Vv]iew (was|which was) created in (no_grad|inference) mode", no_grad_view),
    (r"leaf Variable that requires grad", leaf_written),
    (r"[Ii]nference tensor", inference),
    (r"single memory location", overlapping),
    (r"implicitly created only for", not_scalar),
    (r"does not require grad and does not have a grad_fn", no_history),
    (r"appears to not have been used in the graph", not_used),
    (r"differentiated Tensors does not require grad", not_differentiated),
    (r"Mismatch in shape: grad_output", mismatch),
    (r"[Oo]nly Tensors of floating point (and complex )?dtype can require", integer_leaf),
    (r"Can't call numpy\(\)", to_numpy),
    (r"support the deepcopy protocol", deep_copy),
    (r"only change requires_grad flags of leaf", change_flag),
    (r"(AttributeError|TypeError).*'?NoneType'?", no_grad_yet),
    (r"can't retain_grad|cannot register a hook on a tensor", hook_without_graph),
    (r"can't optimize a non-leaf", non_leaf_optimised),
    (r"as parameter .*Parameter or None expected", not_a_parameter),
    (r"assign a gradient", assigned_gradient),
    (r"Can't detach views in-place", detach_view),
    (r"incorrect number of gradients", gradients_returned),
    (r"returned an invalid gradient", gradient_shape),
    (r"must implement either the backward", backward_missing),
    (r"marked with @once_differentiable", once),
    (r"Legacy autograd function", legacy),
    (r"returned nan values in its", anomaly),
    (r"must match the size of tensor|shapes cannot be multiplied|not broadcastable|size mismatch|is invalid for input of size", shapes),
    (r"same dtype|expected scalar type|expected target dtype|infer output dtype", dtypes),
    (r"Boolean value of Tensor", truth),
    (r"cannot be converted to Scalar|only one element tensors can be converted", to_number),
)
