"""Completion finds what is there, and runs nothing to find it."""

import warnings

import pytest

from gradrepl.repl.completion import call_around, complete, hint, open_string, primary_before
from gradrepl.repl.lookup import Known, OfType, lookup

SETUP = """
x = torch.tensor([3.], requires_grad=True)
y = (x * 2).exp()
view = y[0:1]
d = {"alpha": [1, {"beta": x}], "gamma": 2, 5: 6}
def train(model, *, rate=0.1, epochs=3): pass
class Trap:
    plain = 5
    def method(self): return 1
    @property
    def danger(self): raise SystemExit("a property ran")
    @property
    def typed(self) -> str: raise SystemExit("a property ran")
    def __getattr__(self, name): raise SystemExit("__getattr__ ran")
trap = Trap()
"""


@pytest.fixture
def offered(fed):
    fed(SETUP)
    return lambda text: [found.text for found in complete(text, fed.shell)]


CASES = {
    "trai": ["train"],
    "print(trai": ["train"],
    "x.requires_gr": ["requires_grad", "requires_grad_"],
    "x.T.requires_gr": ["requires_grad", "requires_grad_"],
    "x.grad.T.requires_gr": ["requires_grad", "requires_grad_"],
    "y.grad_fn.next_f": ["next_functions"],
    "y.grad_fn._saved_res": ["_saved_result"],
    "y.grad_fn.next_functions[0][0].next_f": ["next_functions"],
    "view.grad_fn.next_f": ["next_functions"],
    "(x + 1).requires_gr": ["requires_grad", "requires_grad_"],
    "torch.exp(x).requires_gr": ["requires_grad", "requires_grad_"],
    "d['alpha'][1]['beta'].requires_gr": ["requires_grad", "requires_grad_"],
    "d['al": ["alpha"],
    'd["alpha"][1]["be': ["beta"],
    "d[": None,
    "train(x, rat": ["rate="],
    "train(x, rate=ep": [],
    "train(x, epochs=max(1, 2), rat": ["rate="],
    "trap.pl": ["plain"],
    "trap.dan": ["danger"],
    "trap.danger.": None,
    "trap.typed.upp": ["upper"],
    "Trap().met": ["method"],
    "'abc'.upp": ["upper"],
    "[].app": ["append"],
    "3.real": [],
    "impo": ["import"],
    "import collecti": ["collections"],
    "import torch.auto": ["autograd"],
    "from collections import OrderedD": ["OrderedDict"],
    "%thi": [],
    "%his": ["history"],
    "%theme d": ["dark"],
    "%time trai": ["train"],
    "# trai": [],
    "unknown.": [],
    "x = 5; trai": ["train"],
    "nosuch(1).": [],
}


@pytest.mark.parametrize("text, expected", CASES.items(), ids=CASES)
def test_offers(offered, text, expected):
    found = offered(text)
    if expected is not None:
        assert found == expected


def test_tab_leaves_the_graph_alone(offered, fed):
    fed("before = x * 1")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in ("x.", "y.", "x.T.", "y.grad_fn.", "y.grad.", "view.grad_fn.", "view._base.", "x._", "torch.", "y.grad_fn._"):
            assert offered(text)
    fed("after = x * 1")
    assert fed.names["after"].grad_fn.sequence_nr == fed.names["before"].grad_fn.sequence_nr + 1
    assert fed.names["x"]._version == 0 and fed.names["x"].grad is None


def test_private_names_only_when_asked_for(offered):
    assert not any(name.startswith("_") for name in offered("x."))
    assert "_version" in offered("x._v")
    assert not any(name.startswith("__") for name in offered("x._"))
    assert "__class__" in offered("x.__cl")


def test_paths_in_strings(offered, tmp_path):
    (tmp_path / "data.csv").touch()
    (tmp_path / "deep").mkdir()
    assert offered(f"open('{tmp_path}/da") == ["data.csv"]
    assert offered(f"%run {tmp_path}/de") == ["deep/"]


def test_module_children(offered, fed):
    fed("class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.fc1 = nn.Linear(2, 3)", "net = Net()")
    if "net" not in fed.names:
        pytest.skip("no torch.nn")
    assert offered("net.fc") == ["fc1"]
    assert offered("net.fc1.in_f") == ["in_features"]


@pytest.mark.parametrize(
    "text, expected",
    [
        ("y = f(a.b[0]", "a.b[0]"), ("(x + 1)", "(x + 1)"), ("f(x)(y)", "f(x)(y)"), ("x", "x"),
        ("1 + 'abc'", "'abc'"), ("", ""), ("f(", ""),
        ("not x", "x"), ("a]", ""),
    ],
)  # fmt: skip
def test_the_expression_before_the_cursor(text, expected):
    assert primary_before(text) == expected


@pytest.mark.parametrize("text, expected", [("f(1, ", "f"), ("f(g(1), ", "f"), ("f(g(", "g"), ("f(x[", ""), ("f(1)", ""), ("(", "")])
def test_the_call_around_the_cursor(text, expected):
    assert call_around(text) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("'abc", 0),
        ("x = 'abc", 4),
        ("'a' 'b", 4),
        ("'''a\n", 0),
        ("'a\\'b", 0),
        ("'a'", None),
        ("# 'a", -1),
        ("'#", 0),
        ("f'a", 0),
        ("'a\nb", None),
    ],
)
def test_open_strings(text, expected):
    assert open_string(text) == expected


def test_lookup_runs_nothing(fed):
    fed(SETUP)
    assert lookup("trap.danger", fed.names) == OfType(object)
    assert lookup("trap.nothing", fed.names) is None
    assert lookup("trap.plain", fed.names) == Known(5)
    assert lookup("1 +", fed.names) is None


@pytest.mark.parametrize(
    "text, expected",
    [
        ("train(", "train(model, *, rate=0.1, epochs=3)"),
        ("torch.exp(", "exp(input, *, out=None)"),
        ("x.exp(", "exp()"),
        ("(1 + ", ""),
        ("trap.method(", "method()"),
    ],
)
def test_signature_hints(fed, text, expected):
    fed(SETUP)
    assert hint(text, fed.shell) == expected


def test_names_of_an_unfinished_function(fed, monkeypatch):
    pytest.importorskip("jedi")
    monkeypatch.setattr("gradrepl.repl.completion.JEDI_LIMIT", 30)
    text = "def f(a):\n    some_local = 1\n    return some_l"
    assert [found.text for found in complete(text, fed.shell)] == ["some_local"]


def test_jedi_is_not_waited_for(fed, monkeypatch):
    monkeypatch.setattr("gradrepl.repl.completion.JEDI_LIMIT", 0)
    assert complete("def f(a):\n    some_local = 1\n    return some_l", fed.shell) == []
