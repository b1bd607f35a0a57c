"""The one namespace in which generated code and formulas run: ops, node classes, formula functions. Imports nothing."""

# What is called when something happens; while it is None, that costs one comparison.
#   watch(node, result)          a node was recorded
#   trace(arrive, step)          a backward begins: gives the two functions of execution.py that visit leaves and nodes, or others round them
#   wrote(tensor, node)          a tensor was written in place; `node` is None where that is not recorded
NAMES: dict = {"watch": None, "trace": None, "wrote": None}
