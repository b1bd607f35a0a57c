"""What a backward tells the logger "torch.autograd.graph" at its DEBUG level: each node that it runs, and what comes to it.

Loaded by the first backward after the program has loaded `logging`, or with torch._logging.
"""

import functools
import logging
import os
import sys

from gradrepl.engine.node import accumulator
from gradrepl.engine.tensor import Tensor

LOG, AREA, ALL = (logging.getLogger(f"torch{name}") for name in (".autograd.graph", ".autograd", ""))


class Line(logging.Formatter):
    """PyTorch's lines: V1201 16:17:56.679000 3079 torch/autograd/graph.py:955] message."""

    def format(self, record):
        when = self.formatTime(record, "%m%d %H:%M:%S")
        letter = "V" if record.levelno <= logging.DEBUG else record.levelname[:1]
        start = f"{letter}{when}.{record.msecs * 1000:06.0f} {os.getpid()} {record.module}.py:{record.lineno}] "
        return "\n".join(start + line for line in super().format(record).split("\n"))


def open_logs():
    """As PyTorch sets it up: on stderr, and nothing below a warning unless the program wants more."""
    for logger in (ALL, AREA):
        logger.propagate = False
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(Line())
        logger.addHandler(handler)
    if not ALL.level:
        ALL.setLevel(logging.WARNING)


open_logs()


def brief(gradient):
    return "None" if gradient is None else f"{gradient.dtype.abbr}[{', '.join(map(str, gradient.shape))}]"


def tell(node, gradients):
    LOG.debug(f"Executing: {node} with grad_outputs: [{','.join(map(brief, gradients))}]")


def told(roots):
    """If it is asked for: have every node below these edges told about when it runs; what it gives takes that back."""
    if not LOG.isEnabledFor(logging.DEBUG):
        return ()
    nodes = [accumulator(end) if isinstance(end, Tensor) else end for end, _ in roots]
    seen = set(nodes)
    for node in nodes:  # grows on the way
        for below, _ in node.next_functions:
            if below is not None and below not in seen:
                seen.add(below)
                nodes.append(below)
    return [node.register_prehook(functools.partial(tell, node)) for node in dict.fromkeys(nodes)]
