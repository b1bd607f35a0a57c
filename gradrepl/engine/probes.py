"""Operations that PyTorch has only to test its autograd with: their derivatives are wrong on purpose. Imports declare and names."""

import warnings

import numpy as np

from gradrepl.engine.declare import formula, op
from gradrepl.engine.names import NAMES


@formula
def warned(grad):
    warnings.warn("Warn from backward", UserWarning, stacklevel=2)
    return grad


@op("TestWarnInAutogradBackward0", self="warned(grad)")
def _test_warn_in_autograd(self):
    return self.copy()


@op("TestAutogradMultipleDispatchBackward0", self="grad + 1")
def multiple_dispatch(self):
    return self.copy()


def _test_autograd_multiple_dispatch(self, b=None):
    return multiple_dispatch(self) if b is None else NAMES["clone"](self)


@op("TestAutogradMultipleDispatchViewBackward0", self="grad.reshape(self.array.shape)", view=True)
def _test_autograd_multiple_dispatch_view(self):
    return self.reshape(-1)


@op("TestAutogradMultipleDispatchViewBackward0_copy", self="grad.reshape(self.array.shape)")
def _test_autograd_multiple_dispatch_view_copy(self):
    return np.array(self.reshape(-1))
