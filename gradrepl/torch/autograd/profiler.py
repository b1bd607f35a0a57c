"""torch.autograd.profiler: how long the ops of a stretch of program take, and labels for stretches."""

__name__ = __name__.removeprefix("gradrepl.")

import threading

from gradrepl.engine.modes import _Mode
from gradrepl.engine.timing import ACTIVE, Stopwatch, annotated
from gradrepl.torch.autograd.profiler_util import EventList, FunctionEvent, FunctionEventAvg

__all__ = ["profile", "record_function", "emit_itt", "emit_nvtx", "EventList", "FunctionEvent", "FunctionEventAvg"]


def kineto_available():
    return True


def _profiler_enabled():
    return threading.get_ident() in ACTIVE


class profile:
    """Measures what runs inside `with`, by calls: ops, nodes of a backward, and stretches named by record_function."""

    def __init__(
        self,
        enabled=True,
        *,
        use_cuda=False,
        use_device=None,
        record_shapes=False,
        with_flops=False,
        profile_memory=False,
        with_stack=False,
        with_modules=False,
        use_kineto=False,
        use_cpu=True,
        experimental_config=None,
        acc_events=False,
        custom_trace_id_callback=None,
    ):
        self.enabled, self.record_shapes, self.entered = enabled, record_shapes, False
        self._function_events = EventList()
        self._function_events._build_tree()

    def __enter__(self):
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError("Profiler context manager is not reentrant")
        if _profiler_enabled():
            raise RuntimeError("Profiler is already enabled on this thread.")
        self.entered, self._watch = True, Stopwatch(self.record_shapes)
        self._watch.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        if self.entered:
            self._watch.stop()
            self._function_events = EventList(map(self._event, range(1, len(self._watch.spans) + 1), self._watch.spans))
            self._function_events._build_tree()
        return False

    def _event(self, id, span):
        """A measured span as an event, in microseconds from the beginning."""
        start, end = ((time - self._watch.origin) / 1000 for time in (span.start, span.end))
        shapes = [] if span.shapes is None and self.record_shapes else span.shapes
        forward = 1 if span.backward and span.sequence_nr >= 0 else 0
        number = dict(sequence_nr=span.sequence_nr, scope=span.scope, fwd_thread=forward)
        name = "ProfilerStep*" if span.name.startswith("ProfilerStep#") else span.name
        return FunctionEvent(id, name, 1, start, end, overload_name="", input_shapes=shapes, stack=[], trace_name=span.name, **number)

    @property
    def function_events(self):
        return self._function_events

    def table(self, *args, **kwargs):
        return self._function_events.table(*args, **kwargs)

    def __str__(self):
        return self.table()

    def __repr__(self):
        return repr(self._function_events)

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        return self._function_events.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def total_average(self):
        return self._function_events.total_average()

    @property
    def self_cpu_time_total(self):
        return self._function_events.self_cpu_time_total

    def export_chrome_trace(self, path):
        self._function_events.export_chrome_trace(path)


class record_function(_Mode):
    """A context manager and decorator that names what runs inside; profile shows it as an event."""

    __module__ = "torch.autograd.profiler"

    def __init__(self, name, args=None):
        self.name, self.args, self.record = name, args, None

    def __enter__(self):
        self.record = annotated(self.name)
        return self

    def __exit__(self, *args):
        if self.record:
            watch, span = self.record
            watch.end(span)

    def clone(self):
        return type(self)(self.name, self.args)


class emit_itt:
    """Would annotate for Intel's tools; there is nothing to tell them here."""

    def __init__(self, enabled=True, record_shapes=False):
        self.enabled, self.record_shapes = enabled, record_shapes

    def __enter__(self):
        return self if self.enabled else None

    def __exit__(self, exc_type, exc_val, exc_tb):
        return False


class emit_nvtx(emit_itt):
    """Would annotate for NVIDIA's tools, which need CUDA."""

    def __enter__(self):
        if self.enabled:
            raise AssertionError("Torch not compiled with CUDA enabled")
        return None
