"""Who holds a tensor besides the program: nodes and views, found as the garbage collector finds them. Imports node, tensor and views."""

import gc

from gradrepl.engine.node import AccumulateGrad, Node
from gradrepl.engine.tensor import Tensor
from gradrepl.engine.views import View


def use_count(self):
    """PyTorch's count of references: one for the program's, one for each time it is saved or viewed, one for a leaf in any graph."""
    holders = gc.get_referrers(self)
    ends = [holder for holder in holders if type(holder) is tuple]  # what `next_ends` of a node may be
    nodes = [holder for holder in holders if isinstance(holder, Node)]
    saved = sum([value is self for node in nodes for value in node.saved_values])
    in_graph = any([isinstance(node, AccumulateGrad) for node in nodes]) or any([isinstance(x, Node) for x in gc.get_referrers(*ends)])
    return 1 + saved + in_graph + sum([isinstance(holder, View) for holder in holders])


setattr(Tensor, "_use_count", use_count)  # noqa: B010
