"""torch.autograd.profiler_util: events, sums of events, and tables of them."""

__name__ = __name__.removeprefix("gradrepl.")

import enum
import json
from operator import attrgetter

MEMORY_EVENT_NAME, OUT_OF_MEMORY_EVENT_NAME = "[memory]", "[OutOfMemory]"
UNITS = {"s": 1e6, "ms": 1e3, "us": 1.0}


class DeviceType(enum.IntEnum):
    """Where something ran; here, all on the CPU."""

    CPU = 0

    def __str__(self):
        return f"DeviceType.{self.name}"


def _format_time(time_us, unit=None):
    unit = unit or next((name for name, size in UNITS.items() if time_us >= size), "us")
    return f"{time_us / UNITS[unit]:.3f}{unit}"


def _format_time_share(time_us, total_time_us):
    if total_time_us:
        return f"{time_us * 100.0 / total_time_us:.2f}%"
    assert not time_us, f"Expected time_us == 0 but got {time_us}"
    return "NaN"


def _format_memory(nbytes):
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("KB", 2**10)):
        if abs(nbytes) >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


class Interval:
    """A stretch of time, in microseconds."""

    def __init__(self, start, end):
        self.start, self.end = start, end

    def elapsed_us(self):
        return self.end - self.start


class FormattedTimesMixin:
    """Averages over `count`, and times as text."""

    @property
    def cpu_time(self):
        return 1.0 * self.cpu_time_total / self.count if self.count else 0.0

    @property
    def device_time(self):
        return 1.0 * self.device_time_total / self.count if self.count else 0.0


def _as_text(name):
    return property(lambda self: _format_time(getattr(self, name)))


for _name in "cpu_time device_time cpu_time_total device_time_total self_cpu_time_total self_device_time_total".split():
    setattr(FormattedTimesMixin, f"{_name}_str", _as_text(_name))


class FunctionEvent(FormattedTimesMixin):
    """One op, node or stretch of program that ran."""

    count, device_time_total, self_device_time_total, self_cpu_memory_usage = 1, 0, 0, 0

    def __init__(
        self,
        id,
        name,
        thread,
        start_us,
        end_us,
        overload_name=None,
        fwd_thread=None,
        input_shapes=None,
        stack=None,
        scope=0,
        use_device=None,
        cpu_memory_usage=0,
        device_memory_usage=0,
        is_async=False,
        is_remote=False,
        sequence_nr=-1,
        node_id=-1,
        device_type=DeviceType.CPU,
        device_index=0,
        is_legacy=False,
        trace_name=None,
    ):
        self.id, self.name, self.thread, self.time_range = id, name, thread, Interval(start_us, end_us)
        self.trace_name, self.overload_name, self.fwd_thread, self.input_shapes = (
            trace_name or name,
            overload_name,
            fwd_thread,
            input_shapes,
        )
        self.stack, self.scope, self.use_device, self.cpu_memory_usage = stack, scope, use_device, cpu_memory_usage
        self.device_memory_usage, self.is_async, self.is_remote = device_memory_usage, is_async, is_remote
        self.sequence_nr, self.node_id, self.device_type, self.device_index = sequence_nr, node_id, device_type, device_index
        self.is_legacy, self.kernels, self.cpu_children, self.cpu_parent = is_legacy, [], [], None

    key = property(attrgetter("name"))
    cpu_time_total = property(lambda self: self.time_range.elapsed_us())

    @property
    def self_cpu_time_total(self):
        """The time that no event within accounts for."""
        return 0 if self.is_async else self.cpu_time_total - sum([child.cpu_time_total for child in self.cpu_children])

    def append_cpu_child(self, child):
        self.cpu_children.append(child)

    def set_cpu_parent(self, parent):
        self.cpu_parent = parent

    def __repr__(self):
        return (
            f"<FunctionEvent id={self.id} name={self.name} overload_name={self.overload_name} device_type={self.device_type} "
            f"node_id={self.node_id} cpu_time={self.cpu_time_str} start_us={self.time_range.start} end_us={self.time_range.end} "
            f"cpu_children={[child.id for child in self.cpu_children]} {self.use_device}_time={self.device_time_str} name={self.name} "
            f"thread={self.thread} input_shapes={self.input_shapes} cpu_memory_usage={self.cpu_memory_usage} "
            f"{self.use_device}_memory_usage={self.device_memory_usage} is_async={self.is_async} is_remote={self.is_remote} "
            f"seq_nr={self.sequence_nr} is_legacy={self.is_legacy}>"
        )


class FunctionEventAvg(FormattedTimesMixin):
    """The sum of events of one kind."""

    SUMS = (
        "cpu_time_total self_cpu_time_total device_time_total self_device_time_total cpu_memory_usage self_cpu_memory_usage count".split()
    )
    TAKEN = "key node_id is_async is_remote cpu_parent cpu_children overload_name input_shapes stack scope use_device is_legacy".split()

    def __init__(self):
        self.key = self.overload_name = self.input_shapes = self.stack = self.scope = self.use_device = None
        self.cpu_children = self.cpu_parent = None
        self.node_id, self.is_async, self.is_remote, self.is_legacy, self.device_type = 0, False, False, False, DeviceType.CPU
        self.device_memory_usage = self.self_device_memory_usage = 0
        for name in self.SUMS:
            setattr(self, name, 0)

    def add(self, other):
        """Count an event, or another sum, of the same key."""
        if self.key is None:
            for name in self.TAKEN:
                setattr(self, name, getattr(other, name))
        assert isinstance(other, (FunctionEvent, FunctionEventAvg)) and other.key == self.key
        for name in self.SUMS:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self

    __iadd__ = add

    def __repr__(self):
        device = self.use_device or "cuda"
        return (
            f"<FunctionEventAvg key={self.key} self_cpu_time={self.self_cpu_time_total_str} cpu_time={self.cpu_time_str} "
            f" self_{device}_time={self.self_device_time_total_str} {device}_time={self.device_time_str} input_shapes={self.input_shapes} "
            f"cpu_memory_usage={self.cpu_memory_usage} {device}_memory_usage={self.device_memory_usage}>"
        )


class EventList(list):
    """Events, in the order in which they began."""

    def __init__(self, *args, use_device=None, profile_memory=False, with_flops=False):
        super().__init__(*args)
        self._use_device, self._profile_memory, self._with_flops, self._tree_built = use_device, profile_memory, with_flops, False

    def _build_tree(self):
        self._populate_cpu_children()
        self._tree_built = True

    def _populate_cpu_children(self):
        """Tell each event which it ran within, as far as one lies wholly in another of its thread."""
        inside: dict = {}
        for event in sorted(self, key=lambda event: (event.time_range.start, -event.time_range.end)):
            if event.is_async:
                continue
            around = inside.setdefault((event.thread, event.node_id), [])
            span = event.time_range
            while around and (span.start >= around[-1].time_range.end or span.end > around[-1].time_range.end):
                around.pop()
            if around:
                around[-1].append_cpu_child(event)
                event.set_cpu_parent(around[-1])
            around.append(event)

    @property
    def self_cpu_time_total(self):
        return sum([event.self_cpu_time_total for event in self])

    def key_averages(self, group_by_input_shapes=False, group_by_stack_n=0, group_by_overload_name=False):
        """One sum for the events of each name, or of each name and shapes."""
        assert self._tree_built, "Expected tree to be built before calling key_averages"
        sums: dict = {}
        for event in self:
            key = event.key, event.node_id, str(event.input_shapes) if group_by_input_shapes else ""
            sums.setdefault(key, FunctionEventAvg()).add(event)
        for average in sums.values():
            average.input_shapes = average.input_shapes if group_by_input_shapes else ""
        return EventList(sums.values(), use_device=self._use_device)

    def total_average(self):
        """The sum of all events."""
        total = FunctionEventAvg()
        for event in self:
            total.key = None
            total.add(event)
        total.key = "Total"
        return total

    def __str__(self):
        return self.table()

    def table(
        self,
        sort_by=None,
        row_limit=100,
        max_src_column_width=75,
        max_name_column_width=55,
        max_shapes_column_width=80,
        header=None,
        top_level_events_only=False,
        time_unit=None,
    ):
        """The events as a table."""
        if not self:
            return ""
        rows = sorted(self, key=attrgetter(sort_by), reverse=True) if sort_by else self
        rows = [event for event in rows if not (top_level_events_only and event.cpu_parent is not None)]
        return _table(
            self,
            rows if row_limit < 0 else rows[:row_limit],
            max_name_column_width,
            max_shapes_column_width,
            header,
            top_level_events_only,
            time_unit,
        )

    def export_chrome_trace(self, path):
        """Write the events as a file for chrome://tracing."""
        traced = [
            dict(
                name=event.trace_name,
                ph="X",
                ts=event.time_range.start,
                dur=event.time_range.elapsed_us(),
                tid=event.thread,
                pid="CPU functions",
                args={},
            )
            for event in self
        ]
        with open(path, "w") as file:
            json.dump(traced, file)


def _table(events, rows, widest_name, widest_shapes, header, top_level, unit):
    """Text with a row for each event; shares are of the time of all."""
    total = events.self_cpu_time_total
    shown = max([len(event.key) for event in events])
    name_width = min(shown + 4, widest_name)
    titles = ["Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg", "# of Calls"]
    widths = [name_width] + [12] * 6
    shapes = [str(event.input_shapes) for event in events if event.input_shapes]
    if any([event.input_shapes is not None and len(event.input_shapes) > 0 for event in events]):
        titles.append("Input Shapes")
        widths.append(max(12, min(max(map(len, shapes)) + 4, widest_shapes)))
    cells = [titles]
    for event in rows:
        own, whole = event.self_cpu_time_total, event.cpu_time_total
        times = [_format_time_share(own, total), _format_time(own, unit), "0.00%" if event.is_async else _format_time_share(whole, total)]
        cells.append(
            [_shortened(event.key, name_width), *times, _format_time(whole, unit), _format_time(event.cpu_time, unit), str(event.count)]
        )
        if len(titles) == 8:
            cells[-1].append(_shortened(str(event.input_shapes), widths[-1]))
    lines = ["".join([f"{cell:>{width}}  " for cell, width in zip(row, widths)]) for row in cells]
    rule = "".join(["-" * width + "  " for width in widths])
    above = [line for line in (header, "This report only display top-level ops statistics" if top_level else None) if line]
    double = "=" * (len(rule) - 2)
    text = [part for line in above for part in (double, line)]
    return "\n".join([*text, rule, lines[0], rule, *lines[1:], rule, f"Self CPU time total: {_format_time(total, unit)}", ""])


def _shortened(text, width):
    return text if len(text) <= width else text[: width - 3] + "..."
