"""Both engines, the second only where PyTorch is installed: `@on_both_engines` gives a test each as `torch`."""

import importlib

import pytest


def load(name):
    return pytest.importorskip("torch") if name == "torch" else importlib.import_module("gradrepl.torch")


def submodule(torch, name):
    embedded = torch is importlib.import_module("gradrepl.torch")
    return importlib.import_module(f"{'gradrepl.' if embedded else ''}torch.{name}")


on_both_engines = pytest.mark.parametrize("engine", ["embedded", pytest.param("torch", marks=pytest.mark.torch)])
