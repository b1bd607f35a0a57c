"""torch.profiler: profiles of a stretch of program, or of some steps of a loop."""

__name__ = __name__.removeprefix("gradrepl.")

import enum

from gradrepl.torch.autograd import profiler as _autograd_profiler
from gradrepl.torch.autograd.profiler import kineto_available, record_function
from gradrepl.torch.autograd.profiler_util import DeviceType

__all__ = [
    "profile",
    "schedule",
    "supported_activities",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "DeviceType",
    "record_function",
]


class ProfilerActivity(enum.Enum):
    """What can be measured; here, the CPU."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = range(6)


class ProfilerAction(enum.Enum):
    """What is done in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


def supported_activities():
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """What to do in each step: after the first ones, wait, warm up and measure in turn."""
    cycle = wait + warmup + active

    def action(step):
        step -= skip_first
        if step < 0 or repeat and step // cycle >= repeat:
            return ProfilerAction.NONE
        place = step % cycle
        if place < wait + warmup:
            return ProfilerAction.NONE if place < wait else ProfilerAction.WARMUP
        return ProfilerAction.RECORD if place < cycle - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


class profile:
    """Measures what runs inside `with`; with a `schedule`, the steps it names, told apart by `step()`."""

    def __init__(
        self,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
    ):
        self.schedule, self.on_trace_ready, self.record_shapes = schedule, on_trace_ready, record_shapes
        self.step_num, self.profiler, self.running, self._label = 0, None, False, None

    @property
    def current_action(self):
        return self.schedule(self.step_num) if self.schedule else ProfilerAction.RECORD_AND_SAVE

    def _begin(self):
        if not self.running and self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self.profiler, self.running = _autograd_profiler.profile(record_shapes=self.record_shapes), True
            self.profiler.__enter__()
        if self.running and self.schedule:
            self._label = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end(self):
        if self.running:
            self.running = False
            if self._label:
                self._label.__exit__(None, None, None)
                self._label = None
            self.profiler.__exit__(None, None, None)
            if self.on_trace_ready:
                self.on_trace_ready(self)

    def start(self):
        self._begin()

    def stop(self):
        self._end()

    def step(self):
        """A step of the loop is over."""
        over = self.schedule and self.current_action is ProfilerAction.RECORD_AND_SAVE
        self.step_num += 1
        if over:
            self._end()
        elif self._label:
            self._label.__exit__(None, None, None)
            self._label = None
        self._begin()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, exc_type, exc_val, exc_tb):
        self.stop()

    def events(self):
        assert self.profiler, "Expected profiler to be set"
        return self.profiler.function_events

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, group_by_overload_name=False):
        assert self.profiler, "Expected profiler to be set"
        return self.profiler.key_averages(group_by_input_shape, group_by_stack_n, group_by_overload_name)

    def export_chrome_trace(self, path):
        assert self.profiler, "Expected profiler to be set"
        self.profiler.export_chrome_trace(path)
