"""explain(y): the computation line by line, each derivative, and the chain rule for each leaf, as text and LaTeX.

Imports graphs, formulas, algebra, numerals, step (for what a node saved).
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from typing import Any

from gradrepl.graphs import capture
from gradrepl.graphs.collection import collection_paused
from gradrepl.graphs.model import Graph, Node
from gradrepl.graphs.observations import unwatched
from gradrepl.insight.algebra import latex, local_derivative, operands, parsed, substituted, symbol
from gradrepl.insight.formulas import formula_for, formulas_of, mathematics, real
from gradrepl.insight.numerals import numbers
from gradrepl.insight.observer import seen
from gradrepl.insight.step import saved_values

MOST_PATHS = 6  # of one leaf that are written out
MOST_FACTORS = 24  # of one way
MOST_ROWS = 300  # of the listing that are printed
GAP = "…"
CALLS = {"Mul": "*", "Add": "+", "Sub": "-", "Div": "/", "Pow": "**", "Mm": "@", "Mv": "@", "Dot": "@", "Bmm": "@"}


@dataclass(frozen=True)
class Row:
    """One operation of the listing."""

    node: Node
    name: str  # what its result is called: a variable, or its id
    expression: str
    value: str
    derivatives: tuple[tuple[str, str, str], ...]  # (input, what it is here, formula)
    saved: tuple[str, ...]


@dataclass(frozen=True)
class Path:
    """One way from the root down to a leaf: the quotients, and their values as algebra. Of a long one the middle is left out ("…")."""

    nodes: tuple[str, ...]  # names on the way, root first
    factors: tuple[str, ...]  # the local derivatives; "J(Mm)" where there is no simple factor

    @property
    def pairs(self) -> list[tuple[str, str]]:
        return list(zip(self.nodes, self.nodes[1:]))

    @property
    def quotients(self) -> str:
        return " · ".join(dict.fromkeys(GAP if GAP in pair else f"∂{pair[0]}/∂{pair[1]}" for pair in self.pairs))

    @property
    def product(self) -> str:
        return " · ".join(f"({f})" if any(c in f for c in "+- /") and len(self.factors) > 1 else f for f in self.factors)

    @property
    def latex_quotients(self) -> str:
        parts = [r"\cdots" if GAP in (a, b) else rf"\frac{{\partial {symbol(a)}}}{{\partial {symbol(b)}}}" for a, b in self.pairs]
        return r" \cdot ".join(dict.fromkeys(parts))

    @property
    def latex_product(self) -> str:
        return r" \cdot ".join(bracketed(factor, len(self.factors) > 1) for factor in self.factors)


def bracketed(factor: str, several: bool) -> str:
    if factor == GAP:
        return r"\cdots"
    if factor.startswith("J("):
        return rf"J_{{\mathrm{{{factor[2:-1]}}}}}"
    text = latex(factor)
    return rf"\left({text}\right)" if several and any(c in factor for c in "+-") else text


@dataclass(frozen=True)
class Chain:
    """The chain rule for one leaf: the sum over all ways."""

    root: str
    leaf: str
    paths: tuple[Path, ...]
    more: int = 0  # ways that are not written out

    def __str__(self) -> str:
        head = f"∂{self.root}/∂{self.leaf}"
        rest = f" + … ({self.more} more ways)" if self.more else ""
        lines = [f"{head} = " + " + ".join(path.quotients for path in self.paths) + rest]
        lines.append(" " * len(head) + " = " + " + ".join(path.product for path in self.paths) + rest)
        return "\n".join(lines)

    @property
    def latex(self) -> str:
        rest = r" + \cdots" if self.more else ""
        head = rf"\frac{{\partial {symbol(self.root)}}}{{\partial {symbol(self.leaf)}}}"
        quotients = " + ".join(path.latex_quotients for path in self.paths) + rest
        products = " + ".join(path.latex_product for path in self.paths) + rest
        return rf"{head} &= {quotients} \\ &= {products}"


@dataclass(frozen=True)
class Explanation:
    """The listing in the order of execution, and a chain rule for each leaf."""

    graph: Graph
    rows: tuple[Row, ...]
    chains: tuple[Chain, ...]

    @property
    def lines(self) -> list[str]:
        """The listing; of a leaf alone, that there is nothing to derive."""
        return listing(self.rows) or [f"{node.title} is a leaf: nothing has computed it" for node in self.graph.nodes]

    @property
    def latex(self) -> str:
        r"""The chain rules as one `align*` environment."""
        return "\\begin{align*}\n" + " \\\\\n".join(chain.latex for chain in self.chains) + "\n\\end{align*}"

    def _repr_html_(self) -> str:
        """The listing, and the chain rules for MathJax."""
        rules = self.latex.replace("{align*}", "{aligned}") if self.chains else ""
        return f"<pre>{escape(chr(10).join(self.lines))}</pre>" + (f"$${escape(rules)}$$" if rules else "")

    def __str__(self) -> str:
        return "\n".join([*self.lines, "", *map(str, self.chains)]).rstrip()

    __repr__ = __str__

    def __rich__(self) -> Any:
        from rich.text import Text

        text = Text()
        for line in self.lines:
            text.append(line + "\n", style="" if line.startswith(" ") else "bold")
        for chain in self.chains:
            text.append(f"\n{chain}", style="cyan")
        return text


@lru_cache(4000)
def written_operands(text: str) -> tuple[str, ...]:
    """The operands of an operation as the program writes them."""
    return tuple(map(ast.unparse, operands(parsed(text))))


def listing(rows: tuple[Row, ...]) -> list[str]:
    lines = []
    width = max([len(row.name) for row in rows] or [0])
    left_out = len(rows) - MOST_ROWS
    for row in rows if left_out <= 0 else (*rows[: MOST_ROWS - 60], None, *rows[-60:]):
        if row is None:
            lines.append(f"… {left_out} more operations; .rows has them all")
            continue
        lines.append(f"{row.name:{width}} = {row.expression}" + (f"  = {row.value}" if row.value else ""))
        id = f"{row.node.name} {row.node.id}"
        lines.append(" " * (width + 3) + id + (f", saved {', '.join(row.saved)}" if row.saved else ""))
        for _, what, formula in row.derivatives:
            lines.append(" " * (width + 3) + f"∂/∂{what}: {formula}")
    return lines


def explain(y: Any, *, names: Any = None) -> Explanation:
    """Write the computation of `y` out: each op with its expression, value and derivative, then the chain rule for each leaf.

    The derivatives are the formulas that the engine runs. `.latex` gives the chain rules for a document.

    >>> from gradrepl import torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> print(explain((x ** 2).sin(), names={"x": x}).chains[0])
    ∂n1/∂x = ∂n1/∂n2 · ∂n2/∂x
           = n2.cos() · (2 * x)
    """
    captured = capture(y, names=names, _frame=sys._getframe(1), saved=True, values=True)
    with collection_paused(), unwatched():
        return Writer(captured).explanation()


class Writer:
    """Puts names, expressions and derivatives together."""

    def __init__(self, captured: Any):
        self.graph, self.functions = captured.graph, captured.functions
        self.nodes = self.graph.nodes
        self.known: dict[str, dict[str, Any]] = {}

    def explanation(self) -> Explanation:
        order = sorted((n for n in self.nodes if not n.leaf), key=lambda n: n.sequence)
        return Explanation(self.graph, tuple(map(self.row, order)), tuple(self.chains()))

    def saved(self, node: Node) -> dict[str, Any]:
        """What a node has saved: read where it is needed, which in a long program is nearly nowhere."""
        if node.id not in self.known:
            self.known[node.id] = saved_values(self.functions[node.id])
        return self.known[node.id]

    def name(self, node: Node, output: int = 0) -> str:
        """What the program calls a result, if that can stand in a formula; else the node's id."""
        names = node.outputs[output].names if output < len(node.outputs) else ()
        plain = [name for name in names if name.isidentifier()]
        return plain[0] if plain else names[0] if names and node.leaf else node.id + (f"_{output}" if len(node.outputs) > 1 else "")

    def row(self, node: Node) -> Row:
        outputs = [output.value for output in node.outputs]
        kept = seen(self.functions[node.id])
        value = (
            outputs[0].text
            if outputs and outputs[0]
            else numbers(kept.values[0])
            if kept and kept.values and kept.values[0] is not None
            else ""
        )
        saved = tuple([f"{', '.join(s.slots)}{' = ' + s.names[0] if s.names else ''}" for s in node.saved])
        written = written_operands(kept.where.text) if kept else ()
        return Row(node, self.name(node), self.expression(node, written), value, tuple(self.derivatives(node)), saved)

    def expression(self, node: Node, written: tuple[str, ...]) -> str:
        """The op over the names of its inputs: `n4 * 3`, `sum(n2)`."""
        names = [self.name(self.nodes[e[0]], e[1]) if e else self.constant(node, place, written) for place, e in enumerate(node.inputs)]
        base = node.name.partition("Backward")[0]
        if base in CALLS:
            if len(names) < 2:
                names += self.others(node)[:1]
            elif not node.inputs[1] and names[1] == "?":
                names[1] = (self.others(node) or ["?"])[0]
            return f" {CALLS[base]} ".join(names[:2])
        if node.kind == "custom":
            return f"{base}.apply({', '.join(names)})"
        word = "".join(f"_{c.lower()}" if c.isupper() else c for c in base).lstrip("_")
        own = set(formulas_of(node.name)) | {"self", "other"}
        arguments = [
            f"{k}={v}" for k, v in node.arguments if k not in own and not k.endswith(("sizes", "numel", "strides")) and v is not None
        ]
        return f"{word}({', '.join(names + arguments[:3])})"

    def others(self, node: Node) -> list[str]:
        """What stands to the right of an operator, if that is no input with a graph."""
        given = dict(node.arguments)
        slots = ("other", "exponent", "vec", "mat2", "tensor")
        return [self.plain(node, slot) for slot in slots if slot in given or slot in self.saved(node)]

    def constant(self, node: Node, place: int, written: tuple[str, ...]) -> str:
        """An input without a graph: its name or value, if it was saved; else as the program writes it."""
        name, _ = formula_for(node.name, place, len(node.inputs))
        known = self.plain(node, name)
        return written[place] if known == "?" and place < len(written) else known

    def plain(self, node: Node, slot: str) -> str:
        named = next((s.names[0] for s in node.saved if slot in s.slots and s.names), "")
        given = dict(node.arguments)
        if named or slot in given:
            return named or str(given[slot])
        value = self.saved(node).get(slot)
        return numbers(value, 4) if value is not None else "?"

    def symbols(self, node: Node) -> dict[str, str]:
        """Formula name -> what it is here: `self` -> `x`, `result` -> `h`, `exponent` -> `2`."""
        found = {"result": self.name(node)}
        for place, edge in enumerate(node.inputs):
            name, _ = formula_for(node.name, place, len(node.inputs))
            if edge and name.isidentifier():
                found[name] = self.name(self.nodes[edge[0]], edge[1])
        for name, value in {**dict(node.arguments), **self.saved(node)}.items():
            if name not in found and (isinstance(value, (int, float)) and not isinstance(value, bool) or getattr(value, "size", 2) == 1):
                found[name] = numbers(value)
        for saved in node.saved:
            for slot in saved.slots:
                if saved.names and slot not in found:
                    found[slot] = saved.names[0]
        size = self.nodes[node.inputs[0][0]].outputs if node.inputs and node.inputs[0] else ()
        found["n"] = str(product(size[0].shape)) if size and size[0].shape is not None else "n"
        return {name: text for name, text in found.items() if parsed(text) is not None}

    def derivatives(self, node: Node) -> Any:
        for place, edge in enumerate(node.inputs):
            if not edge:
                continue
            name, formula = formula_for(node.name, place, len(node.inputs))
            if node.kind == "custom":
                name, formula = f"input {place}", f"{node.name.removesuffix('Backward')}.backward(ctx, grad)"
            reading = mathematics(formula) if formula else ""
            shown = real(formula) + (f"  =  {reading}" if reading and reading != real(formula) else "")
            yield name, self.name(self.nodes[edge[0]], edge[1]), shown or "(no formula known)"

    def factor(self, node: Node, place: int) -> str:
        """The local derivative with respect to one input, with the program's own names."""
        _, formula = formula_for(node.name, place, len(node.inputs))
        local = local_derivative(mathematics(formula)) if formula else None
        if local is None:
            return f"J({node.name.partition('Backward')[0]})"
        return substituted(local, self.symbols(node))

    def chains(self) -> Any:
        for root in self.graph.roots:
            if root.node is None:
                continue
            start = self.nodes[root.node]
            for place, leaf in enumerate(self.nodes):
                if leaf.leaf and place != root.node:
                    chain = self.chain(root, start, place)
                    if chain is not None:
                        yield chain

    def chain(self, root: Any, start: Node, leaf: int) -> Chain | None:
        ways = self.count_ways(leaf)
        total = ways.get(root.node, 0)
        if not total:
            return None
        paths = tuple(self.paths(root.node, leaf, ways))
        return Chain(self.name(start, root.output), self.name(self.nodes[leaf]), paths, total - len(paths))

    def count_ways(self, leaf: int) -> dict[int, int]:
        """Place -> in how many ways the leaf is reached from it. Oldest first, so in a loop."""
        order = sorted(range(len(self.nodes)), key=lambda place: self.nodes[place].sequence if not self.nodes[place].leaf else -1)
        ways = {leaf: 1}
        for place in order:
            if not self.nodes[place].leaf:
                ways[place] = sum(ways.get(edge[0], 0) for edge in self.nodes[place].inputs if edge)
        return ways

    def paths(self, root: int, leaf: int, ways: dict[int, int]) -> Any:
        """The first few ways from root to leaf. A way is a chain of (node, input, the way above), so that long ones cost little."""
        stack: list[tuple[int, Any]] = [(root, None)]
        written = 0
        while stack and written < MOST_PATHS:
            place, above = stack.pop()
            if place == leaf:
                written += 1
                yield self.path(above, leaf)
                continue
            for number, edge in reversed(list(enumerate(self.nodes[place].inputs))):
                if edge and ways.get(edge[0]):
                    stack.append((edge[0], (place, number, above)))

    def path(self, above: Any, leaf: int) -> Path:
        turns: list[tuple[int, int] | None] = []
        while above is not None:
            turns.append(above[:2])
            above = above[2]
        turns.reverse()
        if len(turns) > MOST_FACTORS:
            turns[MOST_FACTORS * 2 // 3 : -MOST_FACTORS // 3] = [None]
        names = [GAP if turn is None else self.name(self.nodes[turn[0]]) for turn in turns]
        factors = [GAP if turn is None else self.factor(self.nodes[turn[0]], turn[1]) for turn in turns]
        return Path((*names, self.name(self.nodes[leaf])), tuple(factors))


def product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total
