import torch
from torch.optim.lr_scheduler import *


def opt(m=0.9):
    return torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=0.1, momentum=m)


S = dict(
    LambdaLR=lambda o: LambdaLR(o, lambda e: 0.95**e),
    MultiplicativeLR=lambda o: MultiplicativeLR(o, lambda e: 0.95),
    StepLR=lambda o: StepLR(o, 2, 0.1),
    MultiStepLR=lambda o: MultiStepLR(o, [2, 4], 0.1),
    ConstantLR=lambda o: ConstantLR(o, factor=0.5, total_iters=3),
    LinearLR=lambda o: LinearLR(o, start_factor=0.5, total_iters=4),
    ExponentialLR=lambda o: ExponentialLR(o, 0.9),
    PolynomialLR=lambda o: PolynomialLR(o, total_iters=4, power=2.0),
    CosineAnnealingLR=lambda o: CosineAnnealingLR(o, T_max=4, eta_min=0.01),
    CosineAnnealingWarmRestarts=lambda o: CosineAnnealingWarmRestarts(o, T_0=3, T_mult=2, eta_min=0.01),
    CyclicLR=lambda o: CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=3),
    CyclicLR2=lambda o: CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=3, mode="triangular2"),
    CyclicLR3=lambda o: CyclicLR(o, base_lr=0.01, max_lr=0.1, step_size_up=3, mode="exp_range", gamma=0.9),
    OneCycleLR=lambda o: OneCycleLR(o, max_lr=0.1, total_steps=10),
    OneCycleLR2=lambda o: OneCycleLR(o, max_lr=0.1, total_steps=10, anneal_strategy="linear", three_phase=True),
    SequentialLR=lambda o: SequentialLR(o, [ConstantLR(o, factor=0.1, total_iters=2), ExponentialLR(o, 0.9)], milestones=[2]),
    ChainedScheduler=lambda o: ChainedScheduler([ConstantLR(o, factor=0.1, total_iters=2), ExponentialLR(o, 0.9)], optimizer=o),
    RP=lambda o: ReduceLROnPlateau(o, "min", patience=1),
    SWALR=lambda o: torch.optim.swa_utils.SWALR(o, swa_lr=0.05, anneal_epochs=3),
)
import torch.optim.swa_utils

for n, f in S.items():
    o = opt()
    s = f(o)
    lrs = [o.param_groups[0]["lr"]]
    for i in range(8):
        o.step()
        s.step(*([1.0 + (i > 3)] if n == "RP" else []))
        lrs.append(o.param_groups[0]["lr"])
    print(n, lrs, [round(g["momentum"], 5) for g in o.param_groups])
    sd = s.state_dict()
    try:
        print("   ", sd)
    except Exception as e:
        print(e)
    print("   ", s.get_last_lr(), {k: v for k, v in o.param_groups[0].items() if k != "params"})
o = opt()
for bad in (
    "StepLR(3,1)",
    "LambdaLR(o,[lambda e:1,lambda e:2])",
    "ConstantLR(o,factor=2)",
    "LinearLR(o,start_factor=0)",
    "SequentialLR(o,[],[])",
    "CosineAnnealingWarmRestarts(o,T_0=0)",
    "OneCycleLR(o,.1)",
    "ReduceLROnPlateau(o,factor=2)",
    "ReduceLROnPlateau(o,mode='x')",
    "CyclicLR(o,.1,.2,mode='x')",
    "StepLR(o,3,last_epoch=2)",
    "OneCycleLR(o,.1,total_steps=2,pct_start=2)",
):
    try:
        eval(bad)
        print(bad, "ok")
    except Exception as e:
        print(bad, type(e).__name__, e)
s = OneCycleLR(o, 0.1, total_steps=2)
try:
    for _ in range(5):
        o.step()
        s.step()
except Exception as e:
    print(e)
