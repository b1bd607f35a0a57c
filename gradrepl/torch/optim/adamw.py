"""torch.optim.AdamW: Adam whose weight decay does not pass through the moments."""

__name__ = __name__.removeprefix("gradrepl.")

from gradrepl.torch.optim.adam import Adam


class AdamW(Adam):
    def __init__(
        self,
        params,
        lr=1e-3,
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=1e-2,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        options = dict(foreach=foreach, maximize=maximize, capturable=capturable, differentiable=differentiable, fused=fused)
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options, decoupled_weight_decay=True)

    def __setstate__(self, state):
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True
