import torch
import torch.nn.functional as F

torch.manual_seed(0)
for groups, extra, dilation, stride, kernel, padding in [
    (1, 0, 1, 1, 3, 0), (2, 1, 1, 2, 3, 1), (1, 1, 3, 1, 2, 1), (2, 2, 3, 2, 2, 0), (1, 2, 3, 1, 3, 1), (1, 1, 1, 1, 2, 0),
]:
    for convolve, dims in ((F.conv_transpose1d, 1), (F.conv_transpose2d, 2)):
        x = torch.randn(2, 4, *[5] * dims, requires_grad=True, dtype=torch.double)
        w = torch.randn(4, 3, *[kernel] * dims, requires_grad=True, dtype=torch.double)
        try:
            y = convolve(x, w, None, stride, padding, extra, groups, dilation)
            g, h = torch.autograd.grad((y**3).sum(), (x, w), create_graph=True)
            (g.sum() + h.pow(2).sum()).backward()
            print(y.shape, "%.5g %.5g %.5g %.5g" % tuple(v.detach().abs().sum() for v in (g, h, x.grad, w.grad)))
        except RuntimeError as error:
            print(error)
