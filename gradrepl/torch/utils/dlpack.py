"""torch.utils.dlpack: sharing memory with other libraries."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.factories import from_dlpack


def to_dlpack(tensor):
    return tensor.__dlpack__()
