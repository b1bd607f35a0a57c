"""Makes `import torch` give the embedded engine. Imports nothing before it is asked to."""

import sys

PREFIX = "gradrepl."


class EmbeddedTorch:
    """Finds `torch` and `torch.x.y` as `gradrepl.torch` and `gradrepl.torch.x.y`: one module object under two names.

    A finder and loader by protocol: importing `importlib.abc` to inherit from would cost 10 ms at every start.
    """

    watch = False

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "torch" and not fullname.startswith("torch."):
            return None
        import importlib
        from importlib.machinery import ModuleSpec, PathFinder  # not importlib.util, which costs 1 ms more

        parent = importlib.import_module((PREFIX + fullname).rpartition(".")[0])
        found = PathFinder.find_spec(PREFIX + fullname, parent.__path__)
        if found is None and fullname.rpartition(".")[2] in getattr(parent, "_BEYOND", ()):
            raise ModuleNotFoundError(parent._OUT_OF_REACH.format(fullname), name=fullname)
        is_package = found is not None and found.submodule_search_locations is not None
        return found and ModuleSpec(fullname, self, origin=found.origin, is_package=is_package)

    def create_module(self, spec):
        import importlib

        module = importlib.import_module(PREFIX + spec.name)
        spec.loader_state = module.__spec__  # the import system puts `spec` in its place; exec_module puts it back
        return module

    def exec_module(self, module):
        module.__spec__ = module.__spec__.loader_state
        if self.watch and module.__name__ in ("torch", PREFIX + "torch"):
            import importlib

            importlib.import_module("gradrepl.insight").observe()


FINDER = EmbeddedTorch()


def use_embedded_torch(watch=True):
    """Make `import torch` give the embedded engine from here on, also in libraries imported later.

    With `watch`, what programs do with it is seen from then on, so that `why` and pictures can name the lines; a small op
    then takes half as long again, a training step a third.

    Raises ImportError where another torch is already imported: its tensors would mix with the embedded ones.

    >>> use_embedded_torch()
    >>> import torch
    >>> torch.ones(2).grad_fn is None
    True
    """
    if FINDER in sys.meta_path:
        return
    if "torch" in sys.modules:
        raise ImportError("PyTorch is already imported here; call gradrepl.use_embedded_torch() before the first `import torch`")
    FINDER.watch = watch
    sys.meta_path.insert(0, FINDER)
