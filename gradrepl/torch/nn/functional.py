"""torch.nn.functional: the functions that layers are made of."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.engine.public import show
from gradrepl.torch.nn._activations import *
from gradrepl.torch.nn._attention import *
from gradrepl.torch.nn._layers import *
from gradrepl.torch.nn._losses import *
from gradrepl.torch.nn._more_losses import *
from gradrepl.torch.nn._windows import *

show(globals(), "functional")
