"""Optimizers on complex parameters: the real and the imaginary part have moments of their own."""

import torch
from torch import optim


def rounded(tensor):
    return [(round(number.real, 3), round(number.imag, 3)) if isinstance(number, complex) else round(number, 3) for number in tensor.tolist()]


def steps(make, count=6):
    values = torch.tensor([1 + 2j, -3 + 0.5j, 2 - 1j], requires_grad=True)
    optimizer = make([values])
    for step in range(count):
        values.grad = values.detach() ** 2 * (step - 1.5) * (0.1 + 0.03j)
        optimizer.step()
    return values, optimizer.state[values]


for make in (
    lambda p: optim.SGD(p, 0.1, momentum=0.9, nesterov=True),
    lambda p: optim.Adam(p, 0.1),
    lambda p: optim.Adam(p, 0.1, amsgrad=True, weight_decay=0.1),
    lambda p: optim.AdamW(p, 0.1, maximize=True),
    lambda p: optim.Adagrad(p, 0.1, initial_accumulator_value=0.5),
    lambda p: optim.Adadelta(p, 1.0),
    lambda p: optim.Adamax(p, 0.1),
    lambda p: optim.RAdam(p, 0.01),
    lambda p: optim.NAdam(p, 0.1),
    lambda p: optim.RMSprop(p, 0.01, centered=True, momentum=0.5),
    lambda p: optim.Rprop(p, 0.1),
    lambda p: optim.ASGD(p, 0.1, t0=2),
):
    values, state = steps(make)
    print(rounded(values), values._version)
    for name, kept in state.items():
        if torch.is_tensor(kept) and kept.is_complex():
            print("   ", name, rounded(kept))
