"""What makes large walks quick changes nothing that is seen."""

import copy
import dataclasses
import gc
import pickle
import weakref

import pytest

from gradrepl.graphs import collection
from gradrepl.graphs.collection import collection_paused
from gradrepl.graphs.model import Node, Output, frozen, thawed

FIELDS = ("n1", "op", "MulBackward0", (Output((3,), "float32"),), ((1, 0), None), 1)


def test_a_node_made_quickly_is_a_node():
    (node,) = frozen([thawed()(*FIELDS, faults=("freed",))])
    assert type(node) is Node and node == Node(*FIELDS, faults=("freed",)) and hash(node) == hash(Node(*FIELDS, faults=("freed",)))
    assert repr(node) == repr(Node(*FIELDS, faults=("freed",))) and not hasattr(node, "__dict__")
    assert pickle.loads(pickle.dumps(node)) == copy.copy(node) == dataclasses.replace(node) == node
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.id = "n2"


class Cycle:
    def __init__(self):
        self.own = self


def test_garbage_made_in_a_pause_is_found_later(monkeypatch):
    monkeypatch.setattr(collection, "MANY", 100)
    with collection_paused():
        kept = [[number] for number in range(1000)]
        gone = weakref.ref(Cycle())
        assert gone() is not None
    assert gc.isenabled() and gc.get_freeze_count() == 0 and len(kept) == 1000
    gc.collect()
    assert gone() is None


def test_what_the_program_froze_stays_frozen(monkeypatch):
    monkeypatch.setattr(collection, "MANY", 100)
    gc.freeze()
    try:
        frozen = gc.get_freeze_count()
        with collection_paused():
            kept = [[number] for number in range(1000)]
        assert 0 < gc.get_freeze_count() <= frozen and len(kept) == 1000
    finally:
        gc.unfreeze()
