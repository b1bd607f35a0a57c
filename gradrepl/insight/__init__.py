"""Questions about a graph: explain, step, why, check, saved, diff. Each gives plain data that prints itself, and changes nothing.

Where `torch` is the installed PyTorch, it is watched from the first question on: its own graph does not tell which line made a node.
"""

from gradrepl.insight.observer import observe, stop

observe()
