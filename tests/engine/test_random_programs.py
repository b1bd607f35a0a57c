"""Programs put together at random, a few of each kind, statement by statement against what PyTorch printed when they were recorded.

The recording holds, for each program, its statements, each with what it printed; addresses in the text are blanked out.
"""

import contextlib
import io
import json
import math
import pathlib
import re
import sys
import warnings

import numpy as np
import pytest

from gradrepl import torch as embedded

RECORDED = json.loads((pathlib.Path(__file__).parent / "recorded_random.json").read_text())
ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


@pytest.fixture(autouse=True)
def unwatched():
    """Programs run with nobody looking on, as in test_programs."""
    if insight := sys.modules.get("gradrepl.insight"):
        insight.stop()


def replayed(torch, program):
    """What each statement prints, all of them in one namespace."""
    torch.manual_seed(0)
    torch.set_printoptions(profile="default")
    space = {"__name__": "__main__", "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "np": np, "math": math}
    printed = []
    for statement, _ in program:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, space)
        printed.append([statement, ADDRESS.sub("0x", out.getvalue())])
    return printed


@pytest.mark.parametrize("name", RECORDED)
def test_program(name):
    assert replayed(embedded, RECORDED[name]) == RECORDED[name]


@pytest.mark.torch
@pytest.mark.parametrize("name", RECORDED)
def test_recording_is_what_torch_prints(name):
    torch = pytest.importorskip("torch")
    assert replayed(torch, RECORDED[name]) == RECORDED[name]
