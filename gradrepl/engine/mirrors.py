"""Views whose elements are computed: conjugates and negatives. Imports NumPy only.

PyTorch keeps a flag on such a view and computes when it is read. Here it has memory of its own, a mirror of its source's, and after a
write to either the other follows.
"""

import weakref

import numpy as np

CONJUGATE, NEGATIVE = 1, 2  # as bits: a conjugate of a conjugate is none


def owner(array):
    """The array that owns the memory."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


class Mirror:
    """An array that is always a function of another, which it is its own inverse of; it lasts as long as somebody looks at it."""

    __slots__ = ("source", "reference", "place", "function", "sign")

    def __init__(self, source, array, function, sign):
        whole = owner(array)
        self.source, self.reference, self.function, self.sign = source, weakref.ref(whole), function, sign
        start = array.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
        self.place = array.shape, array.dtype, start, array.strides

    def follow(self):
        """Take the source's elements."""
        if self.reference() is not None:
            self.array[...] = self.function(self.source)

    def lead(self):
        """Give the source its elements."""
        self.source[...] = self.function(self.array)

    @property
    def array(self):
        shape, dtype, start, strides = self.place
        return np.ndarray(shape, dtype, self.reference(), start, strides)


class Family(set):
    """References to the views of a storage, and its mirrors, older ones first."""

    mirrors: list = []

    def reflect(self, source, array, function, bit):
        """From now on `array` mirrors `source`."""
        sign = bit ^ self.sign(source)
        self.mirrors = [*[mirror for mirror in self.mirrors if mirror.reference() is not None], Mirror(source, array, function, sign)]

    def mirror_of(self, array):
        """The mirror that this array is a part of, or None."""
        whole = owner(array)
        return next((mirror for mirror in self.mirrors if mirror.reference() is whole), None)

    def sign(self, array):
        mirror = self.mirror_of(array)
        return mirror.sign if mirror else 0

    def follow(self, written):
        """Let the source of what was written follow, and its source, and then all mirrors."""
        while (mirror := self.mirror_of(written)) is not None:
            mirror.lead()
            written = mirror.source
        for mirror in self.mirrors:
            mirror.follow()


def sign_of(tensor):
    """CONJUGATE and NEGATIVE, as far as they apply."""
    family = tensor.counter.views
    return family.sign(tensor.array) if type(family) is Family else 0
