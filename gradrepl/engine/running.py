"""What a hook can ask about the backward it runs in. Imports execution and below.

The loop of a backward keeps the node it is at in a local variable, for speed: who asks for it, which is rare, looks into the loop's frame.
"""

import sys
from heapq import heapify, heappop, heappush

from gradrepl.engine import execution
from gradrepl.engine.execution import END
from gradrepl.engine.modes import here
from gradrepl.engine.node import AccumulateGrad, Node, accumulator
from gradrepl.engine.tensor import Tensor

OUTSIDE = "{} should only be called during the backward pass"
THREADED = (
    "get_current_graph_task_execution_order expects the current backward to be executed with multithreading disabled, e.g. by running:\n\n"
    ">>> with torch.autograd.set_multithreading_enabled(False):\n...     torch.autograd.grad(...)\n"
)
LEAF_ASKED = (
    "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is currently not supported."
)


def current_run():
    """The backward this thread is in, or None."""
    return here.run


def current_node():
    """The node that runs now, or None outside of a backward."""
    frame = sys._getframe(1) if here.run is not None else None
    while frame is not None:
        if frame.f_code is execution.reach.__code__:
            return shown(frame.f_locals["entry"][END])
        if frame.f_code is execution.flow.__code__:
            return frame.f_locals["node"]
        frame = frame.f_back
    return None


class _EngineBase:
    """What runs a backward, as far as programs talk to it."""

    __module__ = "torch._C"
    is_checkpoint_valid = staticmethod(lambda: here.run is None or here.run.targets is None)

    @staticmethod
    def queue_callback(callback):
        """Call a function without arguments when the backward under way is over."""
        if here.run is None:
            raise RuntimeError("Final callbacks can only be installed during backward pass.")
        here.run.finals = here.run.finals or []
        here.run.finals.append(callback)


def run_number():
    """Backwards are counted; -1 outside of one."""
    return -1 if here.run is None else here.run.number


def keeps_graph():
    return here.run is None or bool(here.run.keep)


def will_run(edge, run):
    """Whether PyTorch counts this edge among those that will run: a single root is not among the nodes it reaches."""
    end = edge[0]
    if end not in run.table or len(run.roots) == 1 and end is run.roots[0][0]:
        return False
    if run.targets is not None and not run.accumulates and isinstance(end, Tensor):
        raise RuntimeError(LEAF_ASKED)
    return True


def will_run_node(node):
    """The same for a grad_fn, from inside a hook."""
    if not isinstance(node, Node):
        raise RuntimeError(f"_will_engine_execute_node expects an grad_fn, but got {type(node).__name__}")
    if here.run is None:
        raise RuntimeError(OUTSIDE.format("_get_should_execute_nodes"))
    return will_run((node.variable if type(node) is AccumulateGrad else node, 0), here.run)


def execution_order():
    """The nodes of this backward in the order in which they run."""
    run = here.run
    if run is None:
        raise RuntimeError(OUTSIDE.format("_current_graph_task_execution_order"))
    if here.multithreading:
        raise RuntimeError(THREADED)
    roots = [end for end, _ in run.roots]
    waiting = {end: entry[0] for end, entry in execution.plan(run.roots, run.targets).items()}
    ready = [(age(end), number, end) for number, end in enumerate(dict.fromkeys(roots)) if end in waiting]
    heapify(ready)
    order = []
    while ready:
        end = heappop(ready)[2]
        order.append(shown(end))
        for edge in () if isinstance(end, Tensor) else end.next_edges:
            if edge and edge[0] in waiting:
                waiting[edge[0]] -= 1
                if not waiting[edge[0]]:
                    heappush(ready, (age(edge[0]), len(order), edge[0]))
    return order


def age(end):
    """Leaves run at once, then the newest node."""
    return -(2**64) if isinstance(end, Tensor) else -end.sequence_nr


def shown(end):
    """An end of the graph as users see it."""
    return accumulator(end) if isinstance(end, Tensor) else end
