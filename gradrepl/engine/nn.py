"""The families behind torch.nn, imported when one of them is first asked for: starting does not pay for them."""

from gradrepl.engine.formulas import nn_convolution as _
from gradrepl.engine.formulas import nn_embedding, nn_linear, nn_normalization, nn_pooling
from gradrepl.engine.ops import nn_attention, nn_recurrent, nn_upsampling
