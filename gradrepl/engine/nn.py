"""The families behind torch.nn, imported when one of them is first asked for: starting does not pay for them."""
# ruff: noqa: F401

from gradrepl.engine.formulas import nn_convolution as _convolution
from gradrepl.engine.formulas import nn_embedding as _embedding
from gradrepl.engine.formulas import nn_linear as _linear
from gradrepl.engine.formulas import nn_normalization as _normalization
from gradrepl.engine.formulas import nn_pooling as _pooling
from gradrepl.engine.formulas import nn_recurrent as _recurrent
from gradrepl.engine.ops import (
    nn_attention,
    nn_convolution,
    nn_ctc,
    nn_embedding,
    nn_linear,
    nn_normalization,
    nn_pooling,
    nn_recurrent,
    nn_upsampling,
)
