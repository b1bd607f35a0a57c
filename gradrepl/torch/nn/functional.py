"""torch.nn.functional: the functions that layers are made of."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.nn._activations import *
from gradrepl.torch.nn._losses import *
