"""Programs that end where people ask; each names, in its last line, the question, the cause, and words that the answer must hold."""

import contextlib
import importlib
import io
import re
import sys
import types
import warnings
from pathlib import Path

import pytest

from gradrepl import insight
from gradrepl.insight.why import why

SITUATIONS = sorted(Path(__file__).with_name("situations").glob("*.py"))
EXPECTED = re.compile(r"# why\((.*)\) -> (.*?): (.*)")


@pytest.fixture(params=["embedded", pytest.param("torch", marks=pytest.mark.torch)])
def engine(request, monkeypatch):
    """`import torch` gives the engine, and it is watched."""
    if request.param == "torch":
        pytest.importorskip("torch")
    else:
        monkeypatch.setitem(sys.modules, "torch", importlib.import_module("gradrepl.torch"))
        for name in [name for name in sys.modules if name.startswith("torch.")]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setitem(sys.modules, "torch.nn", importlib.import_module("gradrepl.torch.nn"))
    insight.observe(request.param)
    yield request.param
    insight.stop()


def run(path, monkeypatch):
    """Run a program as __main__; its namespace holds the exception that it raised as `error`."""
    module = types.ModuleType("__main__")
    module.__file__ = str(path)
    monkeypatch.setitem(sys.modules, "__main__", module)
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        try:
            exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
        except Exception as error:
            error.__traceback__ = error.__traceback__.tb_next
            module.error = error
    return module.__dict__


@pytest.mark.parametrize("path", SITUATIONS, ids=lambda path: path.stem)
def test_cause_is_found(path, engine, monkeypatch):
    namespace = run(path, monkeypatch)
    question, cause, words = EXPECTED.match(path.read_text().splitlines()[-1]).groups()
    answer = eval(
        compile(f"why({question})", "<question>", "eval"), namespace | {"__builtins__": __builtins__, "why": why, "__file__": str(path)}
    )
    assert answer.cause == cause, str(answer)
    for word in filter(None, words.split("; ")):
        assert word in str(answer), str(answer)
    assert answer.sentence.count("\n") == 0 and answer.evidence and answer.fix


def test_without_watching_the_source_still_tells(monkeypatch):
    pytest.importorskip("gradrepl.torch")
    monkeypatch.setitem(sys.modules, "torch", importlib.import_module("gradrepl.torch"))
    insight.stop()
    path = Path(__file__).with_name("situations") / "no_grad_block.py"
    namespace = run(path, monkeypatch)
    answer = eval("why(w)", namespace | {"why": why, "__file__": str(path)})
    assert answer.cause == "no_grad" and "line 5" in answer.sentence


def test_what_has_no_source_or_no_place_is_still_a_sentence():
    from gradrepl import torch

    scope = {"torch": torch, "why": why}
    insight.observe()
    exec("x = torch.ones(2, requires_grad=True)\ny = x * 2\nanswer = why(y)", scope)
    assert "it was computed (" in str(scope["answer"])
    assert str(why(ValueError("foo"))).startswith("ValueError: foo: this error was made and not raised")
