"""The one namespace in which generated code and formulas run: ops, node classes, formula functions. Imports nothing."""

# What is called when something happens; while it is None, that costs one comparison. `listen` puts a function there beside others.
#   watch(node, result)    a node was recorded; `result` is the tensor it made, or a tuple of them
#   trace(arrive, step)    a backward begins: gives the two functions of execution.py that visit leaves and nodes, or others round them.
#                          They are called as step(node, grads, state) with a list of tensors (or None) and give [(edge, gradient), …];
#                          and a third, glance(node, grads, ends, keep), for nodes without hooks and backwards without targets:
#                          node.run_arrays(grads, ends, keep), which are arrays
#   wrote(tensor, node)    a tensor was written in place; `node` is None where that is not recorded
#   guard(node)            anomaly mode: gives a context manager that runs round the node's backward, with check(gradients)
NAMES: dict = {"watch": None, "trace": None, "wrote": None, "guard": None, "__name__": "gradrepl.engine.names"}
_LISTENERS: dict = {"watch": [], "wrote": []}


def listen(seam, listener):
    """Add a function to those that are called at a seam."""
    _LISTENERS[seam].append(listener)
    _connect(seam)


def unlisten(seam, listener):
    """Take it away again."""
    _LISTENERS[seam].remove(listener)
    _connect(seam)


def _connect(seam):
    listeners = tuple(_LISTENERS[seam])

    def each(*args):
        for listener in listeners:
            listener(*args)

    NAMES[seam] = each if len(listeners) > 1 else listeners[0] if listeners else None
