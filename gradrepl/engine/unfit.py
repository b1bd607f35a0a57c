"""What a backward says when a gradient does not fit: PyTorch's words for shapes. Imports promotion."""

import re

import numpy as np

from gradrepl.engine.promotion import shape_error

INVALID = "Function {} returned an invalid gradient at index {} - got {} but expected shape compatible with {}"
SHAPES = re.compile(r"\(([\d,]*)\)")


class AnyShape:
    """Equal to every shape."""

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, shape):
        return True

    def __ne__(self, shape):
        return False


ANY_SHAPE = AnyShape()


class Unfit(RuntimeError):
    """A gradient has a shape that cannot be summed down to what it is the gradient of."""

    def __init__(self, found, expected):
        super().__init__(found, expected)


def reaches(shape, larger):
    """Whether broadcasting can have made `larger` of `shape`."""
    lead = len(larger) - len(shape)
    return lead >= 0 and all([n in (1, m) for n, m in zip(shape, larger[lead:])])


def explained(error, traceback):
    """The error with the node that gave the gradient, which the loop of the backward keeps in a local variable."""
    found, expected = error.args
    node = answers = None
    while traceback is not None:
        seen = traceback.tb_frame.f_locals
        if "node" in seen and "answers" in seen:
            node, answers = seen["node"], seen["answers"]
        traceback = traceback.tb_next
    if node is None:
        return error
    place = next((i for i, x in enumerate(answers) if x is not None and tuple(x.shape) == found), 0)
    return RuntimeError(INVALID.format(node.name(), place, list(found), list(expected)))


def in_words(error):
    """PyTorch's words for two shapes that NumPy could not broadcast."""
    shapes = [tuple(map(int, filter(None, text.split(",")))) for text in SHAPES.findall(str(error))]
    return shape_error(error, *[np.broadcast_to(0, shape) for shape in shapes[:2]]) if len(shapes) > 1 else error
