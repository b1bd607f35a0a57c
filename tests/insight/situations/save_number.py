import torch
class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x, k)
        return x * k
    @staticmethod
    def backward(ctx, grad):
        x, k = ctx.saved_tensors
        return grad * k, None
x = torch.ones(2, requires_grad=True)
y = Scale.apply(x, 3.0)
# why(error) -> save_for_backward: line 12
