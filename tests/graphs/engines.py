"""Both engines, the second only where PyTorch is installed: `@on_both_engines` gives a test each as `torch`."""

import importlib

import pytest


def load(name):
    return pytest.importorskip("torch") if name == "torch" else importlib.import_module("gradrepl.torch")


on_both_engines = pytest.mark.parametrize("engine", ["embedded", pytest.param("torch", marks=pytest.mark.torch)])
