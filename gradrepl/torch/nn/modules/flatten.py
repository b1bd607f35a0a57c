"""torch.nn.modules.flatten: dimensions joined and split."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn.modules.module import Module


class Flatten(Module):
    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim=1, end_dim=-1):
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self):
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim, unflattened_size):
        super().__init__()
        self.check(unflattened_size, tuple if isinstance(dim, str) else int)
        self.dim, self.unflattened_size = dim, unflattened_size

    def check(self, sizes, kind):
        if not isinstance(sizes, (tuple, list)):
            wanted = "tuple of tuples" if kind is tuple else "tuple of ints"
            raise TypeError(f"unflattened_size must be {wanted}, but found type {type(sizes).__name__}")
        for place, size in enumerate(sizes):
            if not isinstance(size, kind):
                wanted = "tuple of tuples" if kind is tuple else "tuple of ints"
                raise TypeError(f"unflattened_size must be {wanted}, but found element of type {type(size).__name__} at pos {place}")

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self):
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
