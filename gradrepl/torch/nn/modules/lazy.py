"""torch.nn.modules.lazy: modules that take the shapes of their parameters from their first input."""

__name__ = __name__.removeprefix("gradrepl.")


from gradrepl.torch.nn.parameter import is_lazy


class LazyModuleMixin:
    """Before the first call the parameters are uninitialized; the call makes them, and the module becomes `cls_to_become`."""

    cls_to_become: type | None = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        for name, value in {**self._parameters, **self._buffers}.items():
            if value is not None and name not in self._non_persistent_buffers_set:
                destination[prefix + name] = value if is_lazy(value) or keep_vars else value.detach()

    def _lazy_load_hook(self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs):
        """Give an uninitialized parameter the shape it is about to be loaded with."""
        for name, value in {**self._parameters, **self._buffers}.items():
            loaded = state_dict.get(prefix + name)
            if value is not None and loaded is not None and is_lazy(value) and not is_lazy(loaded):
                value.materialize(loaded.shape)

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(f"initialize_parameters is not implemented for {self.__class__.__name__}")

    def has_uninitialized_params(self):
        return any(is_lazy(value) for value in (*self._parameters.values(), *self._buffers.values()))

    def _infer_parameters(self, module, args, kwargs=None):
        kwargs = kwargs or {}
        module.initialize_parameters(*args, **kwargs)
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        delattr(module, "_initialize_hook")
        delattr(module, "_load_hook")
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
