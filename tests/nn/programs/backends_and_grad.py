import torch
from torch.nn import grad
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.modules.utils import _pair

torch.manual_seed(0)
x = torch.randn(1, 1, 3, 3, requires_grad=True)
w = torch.randn(1, 1, 1, 2, requires_grad=True)
y = torch.nn.functional.conv2d(x, w)
g = torch.randn(y.shape)
print(torch.autograd.grad(y, (x, w), g))
print(grad.conv2d_input(x.shape, w, g), grad.conv2d_weight(x, w.shape, g))
print(grad.conv1d_input((1, 1, 5), torch.ones(1, 1, 2), torch.ones(1, 1, 4)))
print(_pair(3), _pair((1, 2)))
q = torch.randn(1, 2, 3, 4, requires_grad=True)
with sdpa_kernel(SDPBackend.MATH):
    print(torch.nn.functional.scaled_dot_product_attention(q, q, q))
print(type(torch.nn.functional.scaled_dot_product_attention(q, q, q).grad_fn).__name__)
try:
    with sdpa_kernel([]):
        torch.nn.functional.scaled_dot_product_attention(q, q, q)
except RuntimeError as error:
    print(error)
