"""Both engines, the second only where PyTorch is installed: `@on_both_engines` gives a test each as `torch`."""

import importlib

import pytest


def installed_torch():
    """PyTorch, or else skip: the embedded engine under its name, which another test may have put there, does not count."""
    torch = pytest.importorskip("torch")
    if "gradrepl" in (torch.__file__ or ""):
        pytest.skip("PyTorch is not installed, or the embedded engine is in its place", allow_module_level=True)
    return torch


def load(name):
    return installed_torch() if name == "torch" else importlib.import_module("gradrepl.torch")


def submodule(torch, name):
    embedded = torch is importlib.import_module("gradrepl.torch")
    return importlib.import_module(f"{'gradrepl.' if embedded else ''}torch.{name}")


on_both_engines = pytest.mark.parametrize("engine", ["embedded", pytest.param("torch", marks=pytest.mark.torch)])
