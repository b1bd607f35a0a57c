"""Learning rates in cycles; lr_scheduler.py shows them."""

__name__ = "torch.optim.lr_scheduler"

import math
import types

from gradrepl import torch
from gradrepl.torch.optim._schedule import LRScheduler, check_optimizer


def formatted(name, optimizer, value):
    """One value for every group, or a list with one each."""
    if not isinstance(value, (list, tuple)):
        return [value] * len(optimizer.param_groups)
    if len(value) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has "
            f"{len(optimizer.param_groups)}."
        )
    return list(value)


def set_momentum(group, value, use_beta1):
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


def momentum_kind(optimizer):
    """Whether momentum is Adam's first beta."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


class CyclicLR(LRScheduler):
    """Between two bounds, in triangles."""

    def __init__(
        self,
        optimizer,
        base_lr,
        max_lr,
        step_size_up=2000,
        step_size_down=None,
        mode="triangular",
        gamma=1.0,
        scale_fn=None,
        scale_mode="cycle",
        cycle_momentum=True,
        base_momentum=0.8,
        max_momentum=0.9,
        last_epoch=-1,
    ):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = formatted("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs):
                group["lr"].fill_(lr) if isinstance(group["lr"], torch.Tensor) else group.__setitem__("lr", lr)
        self.max_lrs = formatted("max_lr", optimizer, max_lr)
        up, down = float(step_size_up), float(step_size_up if step_size_down is None else step_size_down)
        self.total_size, self.step_ratio = up + down, up / (up + down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode, self.gamma = mode, gamma
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self._scale_fn_custom = scale_fn
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.place_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def place_momentum(self, base_momentum, max_momentum, last_epoch):
        self.use_beta1 = momentum_kind(self.optimizer)
        self.base_momentums = formatted("base_momentum", self.optimizer, base_momentum)
        self.max_momentums = formatted("max_momentum", self.optimizer, max_momentum)
        if last_epoch == -1:
            for high, low, group in zip(self.max_momentums, self.base_momentums, self.optimizer.param_groups):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = high, low

    def scale_fn(self, x):
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        if self.mode == "triangular":
            return 1.0
        return 1 / (2.0 ** (x - 1)) if self.mode == "triangular2" else self.gamma**x

    def get_lr(self):
        self.warn_outside_step()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                set_momentum(group, high - (high - low) * height * scale, self.use_beta1)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs)]

    def state_dict(self):
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        if custom is not None and not isinstance(custom, types.FunctionType):
            custom = custom.__dict__.copy()
        return {**state, "_scale_fn_custom": None if isinstance(custom, types.FunctionType) else custom}

    def load_state_dict(self, state_dict):
        attributes = state_dict.get("_scale_fn_custom")
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Down along a cosine, and from the start again, each time longer."""

    def __init__(self, optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1):  # noqa: N803
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min, self.T_cur = T_0, T_0, T_mult, eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        self.warn_outside_step()
        low = self.eta_min
        return [low + (base - low) * (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2 for base in self.base_lrs]

    def step(self, epoch=None):
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur -= self.T_i
                self.T_i *= self.T_mult
        else:
            self.place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            self.put(self.get_lr())
        finally:
            self._get_lr_called_within_step = False

    def place(self, epoch):
        """Where a given epoch stands in its cycle."""
        if epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**n


def annealed_cos(start, end, part):
    return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)


def annealed_linearly(start, end, part):
    return (end - start) * part + start


def steps_in_all(total_steps, epochs, steps_per_epoch):
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, value in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(value, int) or value <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch


class OneCycleLR(LRScheduler):
    """Up once, and far down."""

    def __init__(
        self,
        optimizer,
        max_lr,
        total_steps=None,
        epochs=None,
        steps_per_epoch=None,
        pct_start=0.3,
        anneal_strategy="cos",
        cycle_momentum=True,
        base_momentum=0.85,
        max_momentum=0.95,
        div_factor=25.0,
        final_div_factor=1e4,
        three_phase=False,
        last_epoch=-1,
    ):
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = steps_in_all(total_steps, epochs, steps_per_epoch)
        self._schedule_phases = phases(self.total_steps, pct_start, three_phase)
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._anneal_func_type = anneal_strategy
        if last_epoch == -1:
            for group, high in zip(optimizer.param_groups, formatted("max_lr", optimizer, max_lr)):
                group["initial_lr"], group["max_lr"] = high / div_factor, high
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.place_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def place_momentum(self, base_momentum, max_momentum, last_epoch):
        self.use_beta1 = momentum_kind(self.optimizer)
        lows, highs = formatted("base_momentum", self.optimizer, base_momentum), formatted("max_momentum", self.optimizer, max_momentum)
        if last_epoch == -1:
            for high, low, group in zip(highs, lows, self.optimizer.param_groups):
                set_momentum(group, high, self.use_beta1)
                group["max_momentum"], group["base_momentum"] = high, low

    def get_lr(self):
        self.warn_outside_step()
        number = self.last_epoch
        if number > self.total_steps:
            raise ValueError(f"Tried to step {number} times. The specified number of total steps is {self.total_steps}")
        anneal = annealed_cos if self._anneal_func_type == "cos" else annealed_linearly
        start = 0.0
        for phase in self._schedule_phases:
            end = phase["end_step"]
            if number <= end or phase is self._schedule_phases[-1]:
                part = (number - start) / (end - start)
                break
            start = end
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(anneal(group[phase["start_lr"]], group[phase["end_lr"]], part))
            if self.cycle_momentum:
                momentum = anneal(group[phase["start_momentum"]], group[phase["end_momentum"]], part)
                set_momentum(group, momentum, self.use_beta1)
        return rates


def phases(total, pct_start, three_phase):
    """Where each part of the cycle ends, and between what it moves."""
    low, high, least, slow, fast = "initial_lr", "max_lr", "min_lr", "max_momentum", "base_momentum"
    rows = [(float(pct_start * total) - 1, low, high, slow, fast)]
    if three_phase:
        rows += [(float(2 * pct_start * total) - 2, high, low, fast, slow), (total - 1, low, least, slow, slow)]
    else:
        rows += [(total - 1, high, least, fast, slow)]
    names = "end_step", "start_lr", "end_lr", "start_momentum", "end_momentum"
    return [dict(zip(names, row)) for row in rows]
