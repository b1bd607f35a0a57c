"""What torch.func is made of."""

__name__ = __name__.removeprefix("gradrepl.")
