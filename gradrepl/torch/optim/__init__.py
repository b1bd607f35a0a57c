"""torch.optim: optimizers and schedules of their learning rates."""

__name__ = __name__.removeprefix("gradrepl.")

import importlib as _importlib

from gradrepl.torch.optim.adadelta import Adadelta
from gradrepl.torch.optim.adafactor import Adafactor
from gradrepl.torch.optim.adagrad import Adagrad
from gradrepl.torch.optim.adam import Adam
from gradrepl.torch.optim.adamax import Adamax
from gradrepl.torch.optim.adamw import AdamW
from gradrepl.torch.optim.asgd import ASGD
from gradrepl.torch.optim.lbfgs import LBFGS
from gradrepl.torch.optim.muon import Muon
from gradrepl.torch.optim.nadam import NAdam
from gradrepl.torch.optim.optimizer import Optimizer
from gradrepl.torch.optim.radam import RAdam
from gradrepl.torch.optim.rmsprop import RMSprop
from gradrepl.torch.optim.rprop import Rprop
from gradrepl.torch.optim.sgd import SGD
from gradrepl.torch.optim.sparse_adam import SparseAdam

_SUBMODULES = {"lr_scheduler", "swa_utils"}


def __getattr__(name):
    if name not in _SUBMODULES:
        raise AttributeError(f"module 'torch.optim' has no attribute {name!r}")
    return _importlib.import_module(f"gradrepl.torch.optim.{name}")


def __dir__():
    return sorted({*globals(), *_SUBMODULES})
