"""What the shell shows for what is entered, without a terminal."""

import sys
import weakref

import pytest

SQUARE = "x = torch.tensor([3.], requires_grad=True)"


def test_the_value_of_a_last_expression_is_shown(fed):
    assert fed("x = 2; x") == "2\n"
    assert fed("x = 3\nx + 1") == "4\n"
    assert fed("x + 1; y = 3") == ""
    assert fed("for i in range(2):\n    i") == ""


def test_a_tensor_is_shown_as_its_repr(fed):
    assert fed(SQUARE, "x * 2") == "tensor([6.], grad_fn=<MulBackward0>)\n"


def test_a_doctest_is_run_example_by_example(fed):
    pasted = f">>> {SQUARE}\n>>> x * 2\ntensor([9.], grad_fn=<OldBackward0>)\n>>> x.grad\n>>> x.shape\ntorch.Size([1])\n"
    expected = f">>> {SQUARE}\n>>> x * 2\ntensor([6.], grad_fn=<MulBackward0>)\n>>> x.grad\n>>> x.shape\ntorch.Size([1])\n"
    assert fed(pasted) == expected


def test_a_class_with_blank_lines_and_a_call(fed):
    assert fed("class A:\n    x = 1\n\n    def f(self):\n        return self.x\n\nA().f()") == "1\n"


def test_underscore_is_the_last_shown_value(fed):
    assert fed("1 + 1", "_ + 1", "None", "_") == "2\n3\n3\n"
    assert fed("_ = 'mine'", "5", "_") == "5\n'mine'\n"


def test_nothing_is_kept_of_a_deleted_graph(fed):
    fed(SQUARE, "y = (x * 2).exp()", "y", "def f():\n    z = y * 2\n    1 / 0", "f()")
    tensor = weakref.ref(fed.names["y"])
    node = weakref.ref(fed.names["y"].grad_fn)
    fed("del y", "1")
    assert tensor() is None and node() is None


@pytest.mark.parametrize("text", ["exit", "quit", ":q", "exit()", "quit()", "import sys; sys.exit()"])
def test_leaving(fed, text, monkeypatch):
    from gradrepl.repl.shell import Leave

    monkeypatch.setattr("builtins.exit", Leave())
    monkeypatch.setattr("builtins.quit", Leave())
    with pytest.raises(SystemExit) as left:
        fed(text)
    assert not left.value.code


def test_a_variable_named_exit_is_a_variable(fed):
    assert fed("exit = 5", "exit") == "5\n"


class Script:
    """A reader that gives prepared inputs, an exception among them raised."""

    def __init__(self, *texts):
        self.texts = list(texts)

    def read(self, default=""):
        text = self.texts.pop(0) if self.texts else EOFError()
        if isinstance(text, BaseException):
            raise text
        return text


@pytest.mark.parametrize("text, status", [("import sys; sys.exit(3)", 3), ("raise SystemExit", 0), ("raise SystemExit('no')", 1), ("1", 0)])
def test_exit_status(fed, text, status, capsys):
    assert fed.shell.loop(Script(text)) == status
    assert ("no" in capsys.readouterr().err) == ("'no'" in text)


def test_an_interrupt_returns_to_the_prompt_with_the_names_whole(fed, capsys):
    assert fed.shell.loop(Script("x = 1", KeyboardInterrupt(), "y = 2\nraise KeyboardInterrupt\nz = 3", "print(x + y)")) == 0
    assert capsys.readouterr().out == "3\n"
    assert "z" not in fed.names


def test_an_interrupt_drops_the_rest_of_a_paste(fed):
    assert fed(">>> raise KeyboardInterrupt\n>>> x = 1") == ">>> raise KeyboardInterrupt\n"
    assert "x" not in fed.names


def test_a_traceback_shows_the_typed_lines_and_no_frame_of_the_shell(fed):
    text = fed.error("def f(x):\n    return x / 0", "f(1)")
    assert 'File "<gradrepl-2>", line 1, in <module>\n    f(1)\n' in text
    assert 'File "<gradrepl-1>", line 2, in f\n    return x / 0\n           ~~^~~\n' in text
    assert "evaluate.py" not in text and text.endswith("ZeroDivisionError: division by zero\n")


def test_a_traceback_through_the_engine_shows_the_users_frames(fed):
    text = fed.error(SQUARE, "(x * torch.ones(2, 3)) @ torch.ones(2)")
    assert text.count("File ") == 1


def test_the_last_error_is_kept_until_the_next_good_input(fed):
    fed("1/0")
    assert isinstance(sys.last_exc, ZeroDivisionError) and sys.last_value is sys.last_exc
    fed("1")
    assert not hasattr(sys, "last_exc")


@pytest.mark.parametrize("text", ["x = = 1", "x = (", "return 1", "x = '\udc80'", "'\\ud800'", "print('\\ud800')", "if x:\n  y\n z"])
def test_odd_text_does_not_end_the_shell(fed, text):
    fed(text)
    assert fed("1 + 1") == "2\n"


def test_a_failing_repr_is_an_error_like_any_other(fed):
    fed("class Bad:\n    def __repr__(self):\n        raise ValueError('no repr')")
    assert "ValueError: no repr" in fed.error("Bad()")
    assert fed("1") == "1\n"


def test_stdout_replaced_and_closed(fed):
    from gradrepl.repl.shell import restore_streams

    before = sys.stdout
    fed("import io, sys; sys.stdout = io.StringIO()", "1 + 1", "text = sys.stdout.getvalue()")
    sys.stdout = before
    assert fed("text") == "'2\\n'\n"
    try:
        fed("import sys; sys.stdout = io.StringIO(); sys.stdout.close()")
        restore_streams()
        assert not sys.stdout.closed
    finally:
        sys.stdout = before


@pytest.mark.parametrize("stream", ["None", "5", "object()"])
def test_stdout_replaced_by_what_is_no_stream(fed, stream):
    from gradrepl.repl.shell import restore_streams

    before = sys.stdout
    try:
        fed(f"import sys; sys.stdout = {stream}", "1 + 1")
        restore_streams()
        sys.stdout.write("")
    finally:
        sys.stdout = before


def test_a_failing_excepthook(fed, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", lambda *error: 1 / 0)
    text = fed.error("x = undefined")
    assert "Error in sys.excepthook:" in text and "ZeroDivisionError" in text and "NameError" in text


def test_future_flags_hold_for_later_inputs(fed):
    fed("from __future__ import annotations", "def f(x: undefined): pass")
    assert fed.names["f"].__annotations__ == {"x": "undefined"}


def test_the_namespace_is_main(fed):
    import pickle

    fed("class Point:\n    x = 1", "p = Point()")
    assert pickle.loads(pickle.dumps(fed.names["p"])).x == 1
    assert fed("__name__") == "'__main__'\n"


def test_a_user_excepthook_is_called(fed, monkeypatch):
    monkeypatch.setattr(sys, "excepthook", lambda kind, error, traceback: print("hook", kind.__name__))
    assert fed("1/0") == "hook ZeroDivisionError\n"


def test_a_huge_repr_is_shown_without_its_middle(fed):
    text = fed("'a' * 3_000_000")
    assert len(text) < 10_000 and "2,992,002 more characters" in text and "print(repr(_))" in text


def test_values_that_draw_themselves_are_drawn(fed):
    assert fed(SQUARE, "tree(x * 2)").startswith("MulBackward0")


def test_results_are_never_wrapped(fed, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    assert fed("list(range(100))").count("\n") == 1


def test_warnings_name_the_typed_line_and_say_what_to_do(fed):
    text = fed.error(SQUARE, "y = x * 2", "y.grad")
    assert "<gradrepl-3>:1: UserWarning: The .grad attribute" in text
    assert "retain_grad()" in text
    assert "retain_grad()" in fed.error("y.grad")


ADVICE = {
    "in place": ((SQUARE, "y = x.exp()", "y.add_(1)", "y.sum().backward()"),
                 ["ExpBackward0 n3, made by line 1 of input 2: x.exp()", "line 1 of input 3 (y.add_(1)) changed"]),
    "a second time": ((SQUARE, "y = x.exp()", "y.backward()", "y.backward()"),
                      ["ExpBackward0 n1", "gradient of self:", "line 1 of input 3 (y.backward()) has freed the graph",
                       "retain_graph=True"]),
    "not a scalar": ((SQUARE, "y = torch.cat([x, x])", "y.backward()"), ["y has shape (2,)", "y.sum().backward()"]),
    "no graph": (("y = torch.ones(1)", "y.backward()"), ["requires_grad=True", "why(y)"]),
    "a leaf in place": ((SQUARE, "x += 1"), ["with torch.no_grad()"]),
    "an integer leaf": (("torch.tensor([1], requires_grad=True)",), ["decimal point"]),
    "not used": ((SQUARE, "z = torch.ones(1, requires_grad=True)", "torch.autograd.grad(x * 2, z)"), ["allow_unused=True"]),
    "sizes": (("torch.ones(3) + torch.ones(4)",), ["aligned from the right"]),
}  # fmt: skip


@pytest.mark.parametrize("inputs, expected", ADVICE.values(), ids=ADVICE)
def test_advice_under_an_error(fed, inputs, expected):
    *before, last = inputs
    fed(*before)
    text = fed.error(last)
    assert text.startswith("Traceback")
    for part in expected:
        assert part in text


def test_pytorchs_text_stays_first_and_untouched(fed):
    fed(SQUARE, "y = x.exp()", "y.backward()")
    lines = fed.error("y.backward()").split("\n")
    message = next(line for line in lines if line.startswith("RuntimeError: Trying to backward"))
    assert message.endswith("access saved tensors after calling backward.")
    assert lines.index(message) < min(number for number, line in enumerate(lines) if line.startswith("  in Exp"))


def test_a_request_for_a_picture_that_cannot_be_is_answered_in_one_line(fed):
    lines = fed.error("x = torch.ones(2)", "tree(x)", 'save(x, "x.svg")', "graph(3)").splitlines()
    assert len(lines) == 3 and all(line.startswith("GraphError: ") for line in lines)


@pytest.mark.parametrize("shown", ["Slow()", "print(Slow())", f"{SQUARE}; tree(x * 2)"])
def test_an_interrupt_inside_a_value_or_a_layout(fed, monkeypatch, shown):
    def interrupted(*args, **named):
        raise KeyboardInterrupt

    from gradrepl.render import Tree

    fed.names["interrupted"] = interrupted
    monkeypatch.setattr(Tree, "__str__", interrupted)
    fed("class Slow:\n    __repr__ = interrupted", "kept = 5")
    assert "KeyboardInterrupt" in fed.error(shown)
    assert fed("kept") == "5\n"


def test_a_long_chain_is_shown_at_once(fed):
    fed(SQUARE, "y = x\nfor _ in range(20_000):\n    y = y + 1")
    assert fed("y").startswith("tensor([20003.]")
    assert fed.shell.printer.facts == "AddBackward0, 5001+ nodes, depth 5001+"
    fed("y.sum().backward(); del y")


def test_a_first_input_waits_for_names_that_are_being_imported(fed, monkeypatch):
    import threading

    from gradrepl.repl import namespace

    begun, go_on, imported = threading.Event(), threading.Event(), namespace.imported

    def slow(home):
        begun.set()
        go_on.wait()
        return imported(home)

    monkeypatch.setattr(namespace, "imported", slow)
    thread = threading.Thread(target=fed.shell.preloaded.put_all)
    thread.start()
    begun.wait()
    threading.Timer(0.05, go_on.set).start()
    assert fed("torch.ones(1)") == "tensor([1.])\n"
    thread.join()
    assert fed.shell.own_names() == {} and "explain" in fed.names


def test_warming_up_writes_over_nothing(fed):
    fed("step = 3")
    fed.shell.preloaded.put_all()
    assert fed("step") == "3\n"
