"""Profiles: which events there are, inside what, on what; sums and tables of events with given times."""

import importlib

profile, record_function = torch.autograd.profiler.profile, torch.autograd.profiler.record_function
util = torch.autograd.profiler_util

x = torch.ones(2, 3, requires_grad=True)
layer = torch.nn.Linear(3, 4)


@record_function("a function")
def work(x):
    with record_function("a stretch"):
        y = x.exp() * 2
    return y.sub(1).sum()


work(x)
with profile(record_shapes=True) as told:
    print(torch.autograd._profiler_enabled())
    loss = work(x)
    out = layer(x)
    loss.backward()
    torch.zeros(2).add_(1)
print(torch.autograd._profiler_enabled(), type(told.function_events).__name__)
ours = {"a function", "a stretch", "aten::exp", "aten::mul", "aten::sub", "aten::sum", "aten::linear", "aten::addmm", "aten::add_"}
first = min([event.sequence_nr for event in told.function_events if event.sequence_nr >= 0])
for event in told.function_events:
    backward = "evaluate_function" in event.name
    if (event.name in ours or backward) and "Backward" not in str(event.cpu_parent):
        parent = event.cpu_parent and event.cpu_parent.name
        number = event.sequence_nr - first if event.sequence_nr >= 0 else None
        print(event.name, "in", parent, number, event.input_shapes[:1], event.fwd_thread, event.scope, event.count)
print([event.key for event in told.key_averages() if event.key in ours])
with profile() as told:
    work(x)
print(sum([event.count for event in told.key_averages() if event.key == "aten::mul"]), "Input Shapes" in str(told))


def enter_again():
    with told:
        pass


attempt(enter_again)
print(torch.autograd._profiler_enabled())
with profile(enabled=False) as nothing:
    print(nothing)

# labels that end out of order
outer, inner = record_function("outer"), record_function("inner")
outer.__enter__()
inner.__enter__()
outer.__exit__(None, None, None)
inner.__exit__(None, None, None)


# given times
def event(id, name, start, end, **more):
    return util.FunctionEvent(id=id, name=name, thread=more.pop("thread", 0), start_us=start, end_us=end, stack=[], **more)


given = util.EventList(
    [
        event(1, "whole", 0, 4000, input_shapes=[[2, 3], []]),
        event(2, "half", 0, 2000, input_shapes=[[2, 3]]),
        event(3, "half", 2500, 2500.5, input_shapes=[[4]]),
        event(4, "a name that is so long that no column of a table holds all of it", 3999, 5000, input_shapes=[]),
        event(5, "elsewhere", 100, 200, thread=1, input_shapes=[[1]]),
    ]
)
attempt(lambda: given.key_averages())
given._build_tree()
print([(e.id, e.cpu_parent and e.cpu_parent.id, [child.id for child in e.cpu_children], e.self_cpu_time_total) for e in given])
print(given)
print(given.table(sort_by="cpu_time", row_limit=3, header="the longest", max_name_column_width=20, top_level_events_only=True))
print(given.key_averages().table(sort_by="count", row_limit=-1))
print(given.key_averages(group_by_input_shapes=True).table(time_unit="ms", max_shapes_column_width=12))
print(given.total_average(), given[1], given.key_averages()[1], given.self_cpu_time_total, sep="\n")
total = util.FunctionEventAvg()
total += given[1]
total.add(given[2]).add(total)
print(total.key, total.count, total.cpu_time_total, total.cpu_time, total.self_cpu_time_total_str, total.device_time_total)
print([util._format_time(time) for time in (0, 0.5, 999.9994, 1000, 61234567)])

# a loop of which some steps are measured
steps = importlib.import_module(f"{torch.__spec__.name}.profiler")
plan = steps.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
print([plan(step).name for step in range(11)])
seen = []


def ready(told):
    names = [event.name for event in told.events() if event.name in ("a function", "ProfilerStep*")]
    seen.append((told.step_num, names))


with steps.profile(activities=[steps.ProfilerActivity.CPU], schedule=plan, on_trace_ready=ready) as told:
    for _ in range(11):
        work(x)
        told.step()
print(seen)
told = steps.profile()
told.start()
work(x)
told.stop()
print([event.key for event in told.key_averages() if event.key in ours])
with profile() as told:
    torch.randn(3)
    torch.empty(3)
print(
    [
        (event.name, event.cpu_parent and event.cpu_parent.name)
        for event in told.function_events
        if event.name in ("aten::randn", "aten::empty")
    ][:2]
)
print("aten::empty" in [event.name for event in told.function_events if event.cpu_parent is None])
