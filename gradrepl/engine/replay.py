"""Views that are shown, after their base was written, as made by the ops that made them. Imports views and below.

PyTorch shows such a view as made by one as_strided, unless it was asked for this when the view was made.
"""

from copy import copy

from gradrepl.engine.modes import here
from gradrepl.engine.names import listen, unlisten
from gradrepl.engine.node import edge_of, next_sequence_nr
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import View


class Replayed(View):
    """The origin of a view that is some ops away from its base."""

    __slots__ = ("depth",)

    def node(self, view, edge):
        """The nodes of the view once more, on the base as it is now."""
        chain, node = [], view.node
        for _ in range(self.depth):
            chain.append(node)
            node = node.next_edges[0] and node.next_edges[0][0]
        for old in reversed(chain):
            node = copy(old)
            node.next_edges, node.sequence_nr, node.hook_tables = (edge, *old.next_edges[1:]), next_sequence_nr(), None
            edge = node, 0
        return node


def is_view_replay_enabled():
    return here.view_replay


def set_view_replay_enabled(enabled):
    if enabled != here.view_replay:
        (listen if enabled else unlisten)("watch", note)
    here.view_replay = enabled


def note(node, result):
    """A node was recorded: if it made a view, note how far that is from its base."""
    origin = result.origin if isinstance(result, Tensor) and here.view_replay else None
    if origin is None or result.node is not node:
        return
    above, depth = node.next_edges[0], 1
    base = edge_of(origin.base)
    while above is not None and above[0] is not base[0]:
        depth, above = depth + 1, above[0].next_edges[0]
    result.origin = Replayed(origin.base, origin.made)
    result.origin.depth = depth
