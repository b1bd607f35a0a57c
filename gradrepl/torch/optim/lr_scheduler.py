"""torch.optim.lr_scheduler: learning rates that change from step to step. Schedules in cycles stand in _cyclic.py."""

__name__ = __name__.removeprefix("gradrepl.")

import math
import types
import warnings
from bisect import bisect_right
from collections import Counter
from math import inf

from gradrepl import torch
from gradrepl.torch.optim._cyclic import CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR
from gradrepl.torch.optim._schedule import EPOCH_DEPRECATION_WARNING, LRScheduler, check_optimizer

_LRScheduler = LRScheduler


def per_group(values, optimizer):
    """One function for every group, or a list with one each."""
    count = len(optimizer.param_groups)
    if not isinstance(values, (list, tuple)):
        return [values] * count
    if len(values) != count:
        raise ValueError(f"Expected {count} lr_lambdas, but got {len(values)}")
    return list(values)


class LambdaLR(LRScheduler):
    """The initial rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        self.optimizer, self.lr_lambdas = optimizer, per_group(lr_lambda, optimizer)
        super().__init__(optimizer, last_epoch)

    def state_dict(self):
        """Functions stay out of it; callable objects give their attributes."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        functions = [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in self.lr_lambdas]
        return {**state, "lr_lambdas": functions}

    def load_state_dict(self, state_dict):
        functions = state_dict.pop("lr_lambdas")
        self.__dict__.update(state_dict)
        state_dict["lr_lambdas"] = functions
        for function, attributes in zip(self.lr_lambdas, functions):
            if attributes is not None:
                function.__dict__.update(attributes)

    def get_lr(self):
        self.warn_outside_step()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(LambdaLR):
    """The last rate times a function of the epoch."""

    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        for function in per_group(lr_lambda, optimizer):
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self._is_initial:
            return self.present()
        return [lr * function(self.last_epoch) for function, lr in zip(self.lr_lambdas, self.present())]


class StepLR(LRScheduler):
    """gamma times less every step_size epochs."""

    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return self.present()
        return [lr * self.gamma for lr in self.present()]

    def _get_closed_form_lr(self):
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """gamma times less at every milestone."""

    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self.last_epoch not in self.milestones:
            return self.present()
        return [lr * self.gamma ** self.milestones[self.last_epoch] for lr in self.present()]

    def _get_closed_form_lr(self):
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """A part of the rate for the first epochs."""

    def __init__(self, optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1):
        if factor > 1.0 or factor < 0:
            raise ValueError("Constant multiplicative factor expected to be between 0 and 1.")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self.last_epoch == 0:
            return [lr * self.factor for lr in self.present()]
        if self.last_epoch != self.total_iters:
            return self.present()
        return [lr * (1.0 / self.factor) for lr in self.present()]

    def _get_closed_form_lr(self):
        reached = self.last_epoch >= self.total_iters
        return [base * (self.factor + reached * (1 - self.factor)) for base in self.base_lrs]


class LinearLR(LRScheduler):
    """From one part of the rate to another in equal steps."""

    def __init__(self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1):
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1.")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self.last_epoch == 0:
            return [lr * self.start_factor for lr in self.present()]
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.present()
        span = self.end_factor - self.start_factor
        growth = 1.0 + span / (self.total_iters * self.start_factor + (self.last_epoch - 1) * span)
        return [lr * growth for lr in self.present()]

    def _get_closed_form_lr(self):
        part = min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * (self.start_factor + (self.end_factor - self.start_factor) * part) for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """gamma times less every epoch."""

    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        return self.present() if self._is_initial else [lr * self.gamma for lr in self.present()]

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Down to zero along a power."""

    def __init__(self, optimizer, total_iters=5, power=1.0, last_epoch=-1):
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        if self._is_initial or self.last_epoch > self.total_iters:
            return self.present()
        left = lambda epoch: 1.0 - epoch / self.total_iters
        decay = (left(self.last_epoch) / left(self.last_epoch - 1)) ** self.power
        return [lr * decay for lr in self.present()]

    def _get_closed_form_lr(self):
        left = 1.0 - min(self.total_iters, self.last_epoch) / self.total_iters
        return [base * left**self.power for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Down and up again along a cosine."""

    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):  # noqa: N803
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        epoch, period, low = self.last_epoch, self.T_max, self.eta_min
        if self._is_initial:
            return self.present()
        if self._step_count == 1 and epoch > 0:
            return [low + (base - low) * (1 + math.cos(epoch * math.pi / period)) / 2 for base in self.base_lrs]
        if (epoch - 1 - period) % (2 * period) == 0:
            turn = 1 - math.cos(math.pi / period)
            return [lr + (base - low) * turn / 2 for base, lr in zip(self.base_lrs, self.present())]
        here, before = (1 + math.cos(math.pi * e / period) for e in (epoch, epoch - 1))
        return [here / before * (lr - low) + low for lr in self.present()]

    def _get_closed_form_lr(self):
        turn = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [self.eta_min + (base - self.eta_min) * turn for base in self.base_lrs]


class Joined(LRScheduler):
    """What schedules made of schedules share: their states."""

    def state_dict(self):
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        return {**state, "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict):
        states = state_dict.pop("_schedulers")
        self.__dict__.update(state_dict)
        state_dict["_schedulers"] = states
        for scheduler, state in zip(self._schedulers, states):
            scheduler.load_state_dict(state)

    def check(self, schedulers, optimizer):
        name = type(self).__name__
        for place, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {place} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be specified when calling "
                    f"`step`, but got one at index {place} in the given schedulers sequence."
                )
            if scheduler.optimizer is not optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler {type(scheduler).__name__} at index "
                    f"{place} has {scheduler.optimizer}, which is different from {type(optimizer).__name__}."
                )


class SequentialLR(Joined):
    """Schedules one after the other."""

    def __init__(self, optimizer, schedulers, milestones, last_epoch=-1):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self.check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got "
                f"number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones, self.last_epoch, self.optimizer = schedulers, milestones, last_epoch + 1, optimizer
        for group in optimizer.param_groups:  # take back the first step that every schedule made when it was made
            lr = group["initial_lr"]
            group["lr"].fill_(lr) if isinstance(group["lr"], torch.Tensor) else group.__setitem__("lr", lr)
        self.undo(schedulers)
        schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def undo(self, schedulers):
        for scheduler in schedulers:
            if isinstance(scheduler, Joined):
                self.undo(scheduler._schedulers)
            elif hasattr(scheduler, "last_epoch"):
                scheduler.last_epoch -= 1

    def step(self):
        self.last_epoch += 1
        place = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[place]
        if place > 0 and self._milestones[place - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(Joined):
    """Schedules at the same time."""

    def __init__(self, schedulers, optimizer=None):
        if len(schedulers) < 1:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler.")
        optimizer = optimizer or schedulers[0].optimizer
        self.check(schedulers, optimizer)
        self._schedulers, self.optimizer = schedulers, optimizer
        self._last_lr = self.present()

    def step(self):
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self.present()


class ReduceLROnPlateau(LRScheduler):
    """Less when a number stops getting better."""

    def __init__(
        self,
        optimizer,
        mode="min",
        factor=0.1,
        patience=10,
        threshold=1e-4,
        threshold_mode="rel",
        cooldown=0,
        min_lr=0,
        eps=1e-8,
    ):
        if factor >= 1.0:
            raise ValueError("Factor should be < 1.0.")
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer, count = optimizer, len(optimizer.param_groups)
        if isinstance(min_lr, (list, tuple)):
            if len(min_lr) != count:
                raise ValueError(f"expected {count} min_lrs, got {len(min_lr)}")
            self.default_min_lr, self.min_lrs = None, list(min_lr)
        else:
            self.default_min_lr, self.min_lrs = min_lr, [min_lr] * count
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = self.present()
        self._init_is_better(mode, threshold, threshold_mode)
        self._reset()

    def _init_is_better(self, mode, threshold, threshold_mode):
        if mode not in {"min", "max"}:
            raise ValueError("mode " + mode + " is unknown!")
        if threshold_mode not in {"rel", "abs"}:
            raise ValueError("threshold mode " + threshold_mode + " is unknown!")
        self.mode_worse = inf if mode == "min" else -inf
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode

    def _reset(self):
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    def step(self, metrics, epoch=None):
        current = float(metrics)
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr(epoch)
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self.present()

    def _reduce_lr(self, epoch):
        for group, low in zip(self.optimizer.param_groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, low)
            if old - new > self.eps:
                group["lr"].fill_(new) if isinstance(group["lr"], torch.Tensor) else group.__setitem__("lr", new)

    @property
    def in_cooldown(self):
        return self.cooldown_counter > 0

    def is_better(self, a, best):
        return self._is_better(a, best)

    def _is_better(self, a, best):
        sign = 1 if self.mode == "max" else -1
        if self.threshold_mode == "rel":
            return sign * a > sign * best * (1.0 + sign * self.threshold)
        return sign * a > sign * (best + sign * self.threshold)

    def state_dict(self):
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict):
        self.__dict__.update(state_dict)
        self._init_is_better(self.mode, self.threshold, self.threshold_mode)


__all__ = """LambdaLR MultiplicativeLR StepLR MultiStepLR ConstantLR LinearLR ExponentialLR SequentialLR CosineAnnealingLR ChainedScheduler
    ReduceLROnPlateau CyclicLR CosineAnnealingWarmRestarts OneCycleLR PolynomialLR LRScheduler""".split()
