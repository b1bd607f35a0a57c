"""What tests of several folders share."""

import sys

import pytest

from gradrepl.embedding import use_embedded_torch


@pytest.fixture
def embedded_torch():
    """Let `import torch` give the embedded engine during a test, and whatever it gave before afterwards."""
    before = {name: module for name, module in sys.modules.items() if name == "torch" or name.startswith("torch.")}
    path = list(sys.meta_path)
    for name, module in before.items():
        if not module.__name__.startswith("gradrepl."):
            del sys.modules[name]
    use_embedded_torch()
    yield
    sys.meta_path[:] = path
    for name in [name for name in sys.modules if name == "torch" or name.startswith("torch.")]:
        del sys.modules[name]
    sys.modules.update(before)
    if insight := sys.modules.get("gradrepl.insight"):
        insight.stop()  # the shell has the engine watched
