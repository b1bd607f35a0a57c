"""Attributes that users may read and not write, which is refused in PyTorch's words. Imports nothing."""


def readable(name, get, owner=None):
    """A property without a setter. `owner` is the class that PyTorch names in the error, if not the object's own."""

    def refuse(self, *value):
        raise AttributeError(f"attribute '{name}' of '{owner or type(self).__name__}' objects is not writable")

    return property(get, refuse, refuse, get.__doc__)


def seal(kind, owner=None, names=()):
    """Make the properties of a class that have no setter, and the inherited ones that are named, refuse as PyTorch's do."""
    inherited = {name: getattr(kind, name) for name in names}
    for name, shown in {**inherited, **vars(kind)}.items():
        if isinstance(shown, property) and (shown.fset is None or name in inherited):
            setattr(kind, name, readable(name, shown.fget, owner))
