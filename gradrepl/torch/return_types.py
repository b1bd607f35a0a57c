"""torch.return_types: the named results of operations."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.returns import RETURN_TYPES

globals().update(RETURN_TYPES)
all_return_types = list(RETURN_TYPES.values())
