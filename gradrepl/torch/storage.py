"""torch.storage: the memory under tensors."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.memory import TypedStorage, UntypedStorage
