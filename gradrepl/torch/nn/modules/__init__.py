"""torch.nn.modules: every layer."""

__name__ = __name__.removeprefix("gradrepl.")
