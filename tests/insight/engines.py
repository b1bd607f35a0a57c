"""Runs a test on both engines: `torch` is the embedded engine, or PyTorch where it is installed."""

import importlib

import pytest

from gradrepl import insight

BOTH = ["embedded", pytest.param("torch", marks=pytest.mark.torch)]


def engine(name):
    return importlib.import_module("gradrepl.torch") if name == "embedded" else pytest.importorskip("torch")


@pytest.fixture(params=BOTH)
def torch(request):
    """An engine that nobody watches, so that no answer holds a line of the test."""
    found = engine(request.param)
    insight.stop()
    return found
