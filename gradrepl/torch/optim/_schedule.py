"""The base of all learning rate schedules; lr_scheduler.py shows it."""

__name__ = "torch.optim.lr_scheduler"

import functools
import warnings
import weakref

from gradrepl import torch
from gradrepl.torch.optim.optimizer import Optimizer

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please use `scheduler.step()` to "
    "step the scheduler. During the deprecation, if epoch is different from None, the closed form is used instead of the new chainable "
    "form, where available. Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
NO_INITIAL_LR = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\nThis typically happens when:\n"
    "1. You're trying to resume training from a checkpoint but haven't properly loaded the optimizer state\n2. You're using last_epoch >= "
    "0 for a fresh training run (not recommended)"
)
SEE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, make sure to call "
    "`optimizer.step()` before `lr_scheduler.step()`. " + SEE
)
TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, "
    "you should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`. "
    " Failure to do this will result in PyTorch skipping the first value of the learning rate schedule. " + SEE
)
NOT_WITHIN_STEP = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


def check_optimizer(optimizer):
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def counted(step, optimizer):
    """The optimizer's step, noting that it was called."""
    owner = weakref.ref(optimizer)

    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        owner()._opt_called = True
        return step.__get__(owner(), type(owner()))(*args, **kwargs)

    wrapper._wrapped_by_lr_sched = True
    return wrapper


class LRScheduler:
    """The base of all schedules: `get_lr` says the next rates from the present ones."""

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer, last_epoch=-1):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                lr = group["lr"]
                group.setdefault("initial_lr", lr.clone() if isinstance(lr, torch.Tensor) else lr)
            elif "initial_lr" not in group:
                raise KeyError(NO_INITIAL_LR.format(number))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        if not hasattr(optimizer.step, "_wrapped_by_lr_sched"):
            optimizer.step = counted(optimizer.step.__func__, optimizer)
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)

    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    def step(self, epoch=None):
        self.check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def check_order(self):
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(OVERRIDDEN, UserWarning, stacklevel=3)
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(TOO_EARLY, UserWarning, stacklevel=3)

    def _update_lr(self, epoch=None):
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                values = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self.put(values)

    def put(self, values):
        for group, lr in zip(self.optimizer.param_groups, values):
            group["lr"].fill_(lr) if isinstance(group["lr"], torch.Tensor) else group.__setitem__("lr", lr)
        self._last_lr = self.present()

    def present(self, name="lr"):
        """The rates as they are; tensors as copies."""
        values = [group[name] for group in self.optimizer.param_groups]
        return [value.clone() if isinstance(value, torch.Tensor) else value for value in values]

    def warn_outside_step(self):
        if not self._get_lr_called_within_step:
            warnings.warn(NOT_WITHIN_STEP, UserWarning, stacklevel=3)
