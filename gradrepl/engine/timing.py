"""When ops and nodes of a stretch of program ran, and inside what. Imports execution, function and below.

The engine does nothing for this: Python tells of every call while somebody measures, and the functions written for an op or a node are
known by the names of their files, `<torch randn>`, `<MulBackward0 >` or `<MulBackward0 run>`.
"""

import re
import sys
import threading
from time import perf_counter_ns

import numpy as np

from gradrepl.engine.execution import accumulate
from gradrepl.engine.function import BackwardCFunction, Function
from gradrepl.engine.modes import here
from gradrepl.engine.node import next_sequence_nr
from gradrepl.engine.tensor import Tensor

QUESTIONS = set("frozen dim size stride numel numpy requires_grad_ is_contiguous is_floating_point is_complex data_ptr tolist".split())
ACTIVE: dict = {}  # thread -> its Stopwatch
USER_SCOPE, BACKWARD_SCOPE = 7, 1
EMPTY, EVALUATE = "aten::empty", "autograd::engine::evaluate_function: "
WRITTEN = re.compile(r"<(?!frozen )(?:torch (?P<function>\w+)|(?P<node>\w+?)(?:Backward\d+)? (?P<form>\w*))>")
SPECIAL = {
    accumulate.__code__: lambda frame: ("torch::autograd::AccumulateGrad", -1),
    BackwardCFunction._run.__code__: lambda frame: (frame.f_locals["self"].name(), frame.f_locals["self"].sequence_nr),
}


class Span:
    """One event: what ran, from when to when, on what."""

    __slots__ = ("name", "allocates", "start", "end", "frame", "sequence_nr", "scope", "backward", "shapes", "thread")

    def __init__(self, name, frame, backward=False, sequence_nr=-1, scope=0, shapes=None):
        self.allocates = name == EMPTY and frame is None
        self.name, self.frame, self.backward, self.sequence_nr, self.scope, self.shapes = name, frame, backward, sequence_nr, scope, shapes
        self.thread, self.start, self.end = threading.get_ident(), perf_counter_ns(), None


class Stopwatch:
    """Measures one thread between `start` and `stop`."""

    def __init__(self, shapes=False):
        self.shapes, self.spans, self.stack = shapes, [], []
        self.kinds = dict.fromkeys(SPECIAL, SPECIAL)  # code -> how its calls are named; None are not told of
        self.kinds[Function.apply.__func__.__code__] = lambda frame: frame.f_locals["cls"].__name__

    def start(self):
        self.origin, self.thread = perf_counter_ns(), threading.get_ident()
        ACTIVE[self.thread] = self
        sys.setprofile(self.see)

    def stop(self):
        sys.setprofile(None)
        ACTIVE.pop(self.thread, None)
        while self.stack:
            self.end(self.stack[-1])

    def see(self, frame, event, answer):
        """What Python calls at each call and return."""
        if event == "call":
            code = frame.f_code
            kind = self.kinds.get(code, self)
            if kind is self:
                kind = self.kinds[code] = naming(code)
            if kind is not None:
                self.enter(kind, frame)
        elif event == "c_call" and answer is np.empty and self.stack and self.stack[-1].name != EMPTY:
            self.begin(Span(EMPTY, None, shapes=self.shapes_of([])))
        elif event in ("c_return", "c_exception") and answer is np.empty and self.stack and self.stack[-1].allocates:
            self.end(self.stack[-1])
        elif event == "return" and self.stack and self.stack[-1].frame is frame:
            while self.stack and self.stack[-1].frame is frame:
                self.end(self.stack[-1])

    def enter(self, kind, frame):
        if kind is SPECIAL or kind is backward_of:
            name, number = (SPECIAL[frame.f_code] if kind is SPECIAL else kind)(frame)
            if not (self.stack and self.stack[-1].name == name):
                self.begin(Span(EVALUATE + name, frame, True, number))
                grads = frame.f_locals["grads"] if "grads" in frame.f_locals else [frame.f_locals["grad"]]
                self.begin(Span(name, frame, True, number, BACKWARD_SCOPE, self.shapes_of(grads)))
            return
        name = kind(frame) if callable(kind) else kind
        if not (self.stack and self.stack[-1].name == name):  # an op that calls itself in another form is one event
            names = frame.f_code.co_varnames[: frame.f_code.co_argcount]
            values = [frame.f_locals[name] for name in names]
            recording = here.grad and any([isinstance(x, Tensor) for x in values])
            self.begin(Span(name, frame, sequence_nr=number_to_come() if recording else -1, shapes=self.shapes_of(values)))

    def shapes_of(self, values):
        """The shapes of what was given; [] where that is no tensor or array."""
        return [list(x.shape) if isinstance(x, (Tensor, np.ndarray)) else [] for x in values] if self.shapes else None

    def begin(self, span):
        self.spans.append(span)
        self.stack.append(span)
        return span

    def end(self, span):
        if span in self.stack:
            self.stack.remove(span)
            span.end, span.frame = perf_counter_ns(), None


def naming(code):
    """How the calls of a piece of code are told: a name, a function of the frame, or None."""
    found = WRITTEN.fullmatch(code.co_filename)
    if found is None or code.co_name.startswith("<"):
        return None
    if found["function"]:
        return None if found["function"] in QUESTIONS else f"aten::{found['function']}"
    if found["form"] in ("run", "apply"):
        return backward_of
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", found["node"]).lower()
    return f"aten::{words}{'_' if found['form'].startswith('_') else ''}"


def backward_of(frame):
    """The node whose formulas run, and its number."""
    node = frame.f_locals["_node"]
    return node.name(), node.sequence_nr


def number_to_come():
    """The number that the next node gets."""
    return next_sequence_nr.__self__.__reduce__()[1][0]


def annotated(name):
    """Begin an event of the user's, if this thread is measured."""
    watch = ACTIVE.get(threading.get_ident())
    return watch and (watch, watch.begin(Span(name, None, scope=USER_SCOPE, shapes=[] if watch.shapes else None)))
