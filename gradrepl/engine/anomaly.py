"""Anomaly mode: every node remembers where it was made, and an error in its backward tells. Imports public and names."""

import os
import warnings

import numpy as np

from gradrepl.engine.names import NAMES, listen, unlisten
from gradrepl.engine.public import publish

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
DETECTED = "Error detected in {}. "
NO_TRACE = "No forward pass information available. Enable detect anomaly during forward pass for more information."
TRACE = "Traceback of forward call that caused the error:\n{}"
INDUCED = "\n\nPrevious calculation was induced by {}. Traceback of forward call that induced the previous calculation:\n{}"
INDUCED_UNKNOWN = (
    "\n\nPrevious calculation was induced by {}. No forward pass information available. "
    "Enable detect anomaly during forward pass for more information."
)


class State:
    """Whether anomaly mode is on, whether gradients are searched for nan, and the nodes whose backward runs, innermost last."""

    enabled, check_nan = False, True
    running: list = []


def set_anomaly_enabled(enabled, check_nan=True):
    if enabled and not State.enabled:
        listen("watch", remember)
    elif State.enabled and not enabled:
        unlisten("watch", remember)
    State.enabled, State.check_nan = enabled, check_nan
    NAMES["guard"] = Guard if enabled else None


def is_anomaly_enabled():
    return State.enabled


def is_anomaly_check_nan_enabled():
    return State.check_nan


def remember(node, result):
    """Keep the user's part of the stack in the node's metadata, and the node whose backward made it."""
    import traceback  # 3 ms, wanted here alone

    frames = [frame for frame in traceback.extract_stack() if not frame.filename.startswith(PACKAGE)]
    node.metadata["traceback_"] = traceback.format_list([frame for frame in frames if not is_generated(frame.filename)])
    if State.running:
        node.metadata["parent_"] = State.running[-1]


def is_generated(filename):
    """Whether the file is one of the engine's written functions, `<MulBackward0 run>`."""
    return filename.startswith("<") and " " in filename


class Guard:
    """Stands round the backward of one node."""

    def __init__(self, node):
        self.node = node

    def __enter__(self):
        State.running.append(self.node)
        return self

    def __exit__(self, kind, error, tb):
        State.running.pop()
        if isinstance(error, Exception):
            for text in story(self.node):
                warnings.warn(text, UserWarning, stacklevel=2)

    def check(self, answers):
        """Refuse nan among the gradients."""
        for i, answer in enumerate(answers if State.check_nan else ()):
            if answer is not None and answer.array.dtype.kind in "fc" and np.isnan(answer.array).any():
                raise RuntimeError(f"Function '{self.node.name()}' returned nan values in its {i}th output.")
        return answers


def story(node):
    """The warnings: where the node was made, and by the backward of which other node, and so on."""
    trace = node.metadata.get("traceback_")
    yield DETECTED.format(node.name()) + (NO_TRACE if trace is None else TRACE.format("".join(trace)))
    while (node := node.metadata.get("parent_")) is not None:
        trace = node.metadata.get("traceback_")
        yield INDUCED_UNKNOWN.format(node.name()) if trace is None else INDUCED.format(node.name(), "".join(trace))


publish(globals(), functions="is_anomaly_enabled is_anomaly_check_nan_enabled")
