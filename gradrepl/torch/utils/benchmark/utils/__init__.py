"""torch.utils.benchmark.utils: where the parts live."""

__name__ = __name__.removeprefix("gradrepl.")
