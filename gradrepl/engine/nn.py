"""The families behind torch.nn, imported when one of them is first asked for: starting does not pay for them."""

from gradrepl.engine.formulas import nn_convolution as _convolution_formulas
from gradrepl.engine.ops import nn_convolution
