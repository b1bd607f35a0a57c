"""The one namespace in which generated code and formulas run: ops, node classes, formula functions. Imports nothing."""

NAMES: dict = {"watch": None}  # `watch(node, result)` is called whenever a node is recorded
