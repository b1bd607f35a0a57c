"""Which module ran which op, for group="module". Imports graphs only.

Where that was seen, a node says so itself. Elsewhere an op belongs to the module whose parameters it reads (model.0 for model.0.weight), or
between whose ops it stands.
"""

from __future__ import annotations

from typing import NamedTuple

from gradrepl.graphs.model import Graph, Node

MOST_FILLED = 5000
THROUGH = ("TBackward0", "TransposeBackward0", "ViewBackward0", "ReshapeAliasBackward0", "ExpandBackward0", "PermuteBackward0")


class Cluster(NamedTuple):
    """A module, what it holds itself, and the modules inside it."""

    path: str
    members: list[str]
    inner: list[Cluster]

    def all_members(self) -> list[str]:
        return self.members + [id for cluster in self.inner for id in cluster.all_members()]


def scopes(graph: Graph) -> dict[str, str]:
    """Return {node id: path of a module}."""
    found = {node.id: node.scope[-1] for node in graph.nodes if node.scope}
    return with_leaves(graph, found) if found else by_parameters(graph)


def with_leaves(graph: Graph, found: dict[str, str]) -> dict[str, str]:
    """Add each leaf that one op alone reads to the module of that op."""
    leaves = {}
    for node in graph.nodes:
        for edge in filter(None, node.inputs if node.id in found else ()):
            target = graph.nodes[edge[0]]
            if target.leaf and target.uses == 1:
                leaves[target.id] = found[node.id]
    return found | leaves


def by_parameters(graph: Graph) -> dict[str, str]:
    found: dict[str, str] = {}
    for place in range(len(graph.nodes) - 1, -1, -1):  # producers first, for a weight may be read through its transpose
        node = graph.nodes[place]
        path = module_of(node) if node.leaf else read_by(node, graph, found)
        if path:
            found[node.id] = path
    return found if len(graph.nodes) > MOST_FILLED else filled(graph, found)


def filled(graph: Graph, found: dict[str, str]) -> dict[str, str]:
    """Add the ops that stand between two ops of one module: what a module did from its first op to its last is its own."""
    prefixes = {".".join(parts[:size]) for parts in (path.split(".") for path in found.values()) for size in range(1, len(parts) + 1)}
    for prefix in sorted(prefixes, key=lambda prefix: (-prefix.count("."), prefix)):
        inside = {id for id, path in found.items() if path == prefix or path.startswith(prefix + ".")}
        found |= {id: prefix for id in between(graph, inside) if id not in found}
    return found


def between(graph: Graph, inside: set[str]) -> set[str]:
    nodes = graph.nodes
    below, above = [False] * len(nodes), [False] * len(nodes)  # some member; a node that leads to one
    for place, node in enumerate(nodes):
        if below[place] or node.id in inside:
            for edge in filter(None, node.inputs):
                below[edge[0]] = True
    for place in range(len(nodes) - 1, -1, -1):
        above[place] = any(above[edge[0]] or nodes[edge[0]].id in inside for edge in nodes[place].inputs if edge)
    return {node.id for place, node in enumerate(nodes) if below[place] and above[place]}


def module_of(leaf: Node) -> str:
    """The module of a parameter that is called like one."""
    path = next((name.rpartition(".")[0] for name in leaf.names if "." in name), "")
    return path if leaf.uses == 1 else ""  # a shared one stands between modules


def read_by(node: Node, graph: Graph, found: dict[str, str]) -> str:
    """The module whose parameters an op reads, itself or through a transpose."""
    targets = [graph.nodes[edge[0]] for edge in node.inputs if edge]
    paths = {found[target.id] for target in targets if target.id in found and (target.leaf or target.name in THROUGH)}
    return paths.pop() if len(paths) == 1 else ""


def nested(paths: dict[str, str]) -> list[Cluster]:
    """Return the modules as they contain each other; one that holds nothing but one other is left out."""
    top = Cluster("", [], [])
    known = {"": top}
    for id, path in paths.items():
        known_cluster(path, known).members.append(id)
    return [simplified(cluster) for cluster in top.inner]


def known_cluster(path: str, known: dict[str, Cluster]) -> Cluster:
    if path not in known:
        known[path] = Cluster(path, [], [])
        known_cluster(path.rpartition(".")[0], known).inner.append(known[path])
    return known[path]


def simplified(cluster: Cluster) -> Cluster:
    while not cluster.members and len(cluster.inner) == 1:
        cluster = cluster.inner[0]
    return cluster._replace(inner=[simplified(inner) for inner in cluster.inner])
