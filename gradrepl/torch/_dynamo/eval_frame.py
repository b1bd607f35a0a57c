"""torch._dynamo.eval_frame: a module as torch.compile gives it back, run as it is. Imports torch.nn."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn.modules.module import Module

OWN = {"_orig_mod", "_modules", "forward"}


class OptimizedModule(Module):
    """Stands for the module it holds: what is asked of it or set on it, that one answers."""

    def __init__(self, mod, dynamo_ctx=None):
        super().__init__()
        self._modules["_orig_mod"] = mod
        object.__setattr__(self, "dynamo_ctx", dynamo_ctx)

    def forward(self, *args, **kwargs):
        return self._orig_mod(*args, **kwargs)

    @property
    def training(self):
        return self._orig_mod.training

    @training.setter
    def training(self, value):
        held = self.__dict__.get("_modules", {}).get("_orig_mod")  # none yet while Module.__init__ runs
        if held is not None:
            held.training = value

    def __getattr__(self, name):
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._modules["_orig_mod"], name)

    def __setattr__(self, name, value):
        if name in vars(type(self)) or "_modules" not in self.__dict__ or "_orig_mod" not in self._modules:
            return object.__setattr__(self, name, value)
        return setattr(self._orig_mod, name, value)

    def __delattr__(self, name):
        return delattr(self._orig_mod, name)
