"""Where the node of a declared op keeps what it saved and the look of its output: each thing in a slot of its own.

Users and the slow paths see tuples all the same. With tuples in its slots an op would make ten objects that the garbage collector looks at
again and again while a graph grows, and not two (recording 200 steps of a recurrent net: a third of the time). Imports node, attributes
and tensor.
"""

from operator import attrgetter
from sys import intern

from numpy import ndarray

from gradrepl.engine.attributes import readable
from gradrepl.engine.node import InputMetadata, Node
from gradrepl.engine.tensor import Tensor, tensor_of

MOST = 64  # values that a node saves
SAVED, COUNTER, VERSION = ([intern(f"{kind}{i}") for i in range(MOST)] for kind in ("saved", "counter", "version"))  # quick to look up


class SlottedNode(Node):
    """`saved0`, `saved1`, … hold what was saved, an own output as its bare array beside `counter0`; `version0`, … count the checked places.

    A `version0` of None means that a pack hook was here, or that the values were released: they are read through `_unpack`.
    """

    __slots__ = ()

    @property
    def saved_values(self):
        return tuple([self._kept(place) for place in range(len(self.saved_names))])

    @saved_values.setter
    def saved_values(self, values):
        for place, value in enumerate(values):
            if place in self.own_outputs and hasattr(value, "counter"):
                setattr(self, COUNTER[place], value.counter)
                value = value.array
            setattr(self, SAVED[place], value)

    def _kept(self, place):
        value = getattr(self, SAVED[place])
        if place not in self.own_outputs or type(value) is not ndarray:
            return value
        alias = tensor_of(value)
        alias.counter = getattr(self, COUNTER[place])
        return alias

    def _bare(self, place):
        return getattr(self, SAVED[place])

    def _version(self, place):
        return None if self.version0 is None else getattr(self, VERSION[self.checked_places.index(place)])

    @property
    def saved_versions(self):
        versions = tuple([getattr(self, VERSION[i]) for i in range(len(self.checked_places))])
        return None if versions and versions[0] is None else versions

    @saved_versions.setter
    def saved_versions(self, versions):
        for i in range(len(self.checked_places)):
            setattr(self, VERSION[i], versions and versions[i])


def metadata_of_one(self):
    return (InputMetadata(self.out_shape, self.out_dtype),)


def put_meta(self, metas):
    ((self.out_shape, self.out_dtype),) = metas


class OneOutputNode(SlottedNode):
    """What a backward asks of most nodes is in two slots."""

    __slots__ = ("out_shape", "out_dtype")
    output_metas = property(lambda self: ((self.out_shape, self.out_dtype),), put_meta)
    _input_metadata = readable("_input_metadata", metadata_of_one)


class SeveralOutputsNode(SlottedNode):
    """The others have pairs of shape and dtype, as nodes that are no declared ops."""

    __slots__ = ("output_metas",)
    out_shape = None


def shown(place, checked):
    """What gives a node's `_saved_…`: a tensor that was not written to at once, for a picture of a large graph asks ten thousand times."""
    if place not in checked:
        return lambda node: node.shown(place)
    kept, then = attrgetter(SAVED[place]), attrgetter(VERSION[checked.index(place)])

    def show(node):
        value = kept(node)
        return value if isinstance(value, Tensor) and value.counter.version == then(node) else node.shown(place)

    return show


def saved_slots(saves, checked_places, own_outputs):
    return (
        *[f"saved{place}" for place in range(len(saves))],
        *[f"counter{place}" for place in own_outputs],
        *[f"version{i}" for i in range(len(checked_places))],
    )
