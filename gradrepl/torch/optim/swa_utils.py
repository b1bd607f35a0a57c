"""torch.optim.swa_utils: models averaged over training."""

__name__ = __name__.removeprefix("gradrepl.")

import itertools
import math
from copy import deepcopy

from gradrepl import torch
from gradrepl.torch.nn.modules.batchnorm import _BatchNorm
from gradrepl.torch.nn.modules.module import Module
from gradrepl.torch.optim.lr_scheduler import LRScheduler

PARAM_LIST = list


def check_decay(decay):
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay=0.999):
    """A moving average with exponential decay."""
    check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param, current_param, num_averaged):
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn():
    """The mean of all."""

    @torch.no_grad()
    def swa_update(averaged_param, current_param, num_averaged):
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def get_ema_multi_avg_fn(decay=0.999):
    check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list, current_param_list, _):
        for ema, current in zip(ema_param_list, current_param_list):
            ema.lerp_(current, 1 - decay) if ema.is_floating_point() or ema.is_complex() else ema.copy_(current)

    return ema_update


def get_swa_multi_avg_fn():
    @torch.no_grad()
    def swa_update(averaged_param_list, current_param_list, num_averaged):
        for averaged, current in zip(averaged_param_list, current_param_list):
            averaged.lerp_(current, float(1 / (num_averaged + 1)))

    return swa_update


class AveragedModel(Module):
    """A copy of a model that holds averages of its parameters."""

    def __init__(self, model, device=None, avg_fn=None, multi_avg_fn=None, use_buffers=False):
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs)

    def update_parameters(self, model):
        """Take the present parameters into the average."""
        of = lambda module: itertools.chain(module.parameters(), module.buffers() if self.use_buffers else ())
        mine, theirs = [p.detach() for p in of(self.module)], [p.detach() for p in of(model)]
        if self.n_averaged == 0:
            for averaged, current in zip(mine, theirs):
                averaged.copy_(current)
        elif self.multi_avg_fn is not None or self.avg_fn is None:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(mine, theirs, self.n_averaged)
        else:
            for averaged, current in zip(mine, theirs):
                averaged.copy_(self.avg_fn(averaged, current, self.n_averaged))
        if not self.use_buffers:
            for averaged, current in zip(self.module.buffers(), model.buffers()):
                averaged.detach().copy_(current.detach())
        self.n_averaged += 1


@torch.no_grad()
def update_bn(loader, model, device=None):
    """Run the data through the model once more, for the statistics of its batch normalisations."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        model(batch[0] if isinstance(batch, (list, tuple)) else batch)
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """From the present rate to a constant one."""

    def __init__(self, optimizer, swa_lr, anneal_epochs=10, anneal_strategy="cos", last_epoch=-1):
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(optimizer.param_groups)
        if len(rates) != len(optimizer.param_groups):
            raise ValueError(
                f"swa_lr must have the same length as optimizer.param_groups. swa_lr has {len(rates)} values, param_groups has "
                f"{len(optimizer.param_groups)}."
            )
        for group, rate in zip(optimizer.param_groups, rates):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy, self.anneal_epochs = anneal_strategy, anneal_epochs
        super().__init__(optimizer, last_epoch)

    def part(self, step):
        t = max(0, min(1, step / max(1, self.anneal_epochs)))
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self):
        self.warn_outside_step()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self.part(step - 1), self.part(step)
        rates = []
        for group in self.optimizer.param_groups:
            final = group["swa_lr"]
            first = final if before == 1 else (group["lr"] - before * final) / (1 - before)
            rates.append(final * now + first * (1 - now))
        return rates
