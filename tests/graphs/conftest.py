"""Graphs as they are where nobody watches the program, whatever other tests have switched on."""

import pytest

from gradrepl.graphs import observations


@pytest.fixture(autouse=True)
def unwatched(monkeypatch):
    monkeypatch.setattr(observations, "node_witnesses", [])
    monkeypatch.setattr(observations, "cut_witnesses", [])
