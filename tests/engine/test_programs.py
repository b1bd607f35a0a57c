"""Programs that print what they see, errors and all, against what PyTorch printed; where PyTorch is installed, it is asked anew."""

import sys

import pytest

from gradrepl import torch as embedded
from tests.oracle import PROGRAMS, printed

NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))


@pytest.fixture(autouse=True)
def unwatched():
    """Programs run with nobody looking on: what other tests watch shows in metadata and warnings."""
    if insight := sys.modules.get("gradrepl.insight"):
        insight.stop()


@pytest.mark.parametrize("name", NAMES)
def test_program(name):
    assert printed(embedded, name) == (PROGRAMS / f"{name}.txt").read_text().splitlines()


def test_who_looks_on_does_not_count():
    from gradrepl import insight

    insight.observe("embedded")
    try:
        assert printed(embedded, "gradients") == (PROGRAMS / "gradients.txt").read_text().splitlines()
    finally:
        insight.stop()


@pytest.mark.torch
@pytest.mark.parametrize("name", NAMES)
def test_recording_is_what_torch_prints(name):
    torch = pytest.importorskip("torch")
    assert printed(torch, name) == (PROGRAMS / f"{name}.txt").read_text().splitlines()
