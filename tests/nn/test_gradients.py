"""First and second gradients of layers against differences of values."""

import pytest

import gradrepl.torch.nn.functional as F
from gradrepl import torch

D = torch.float64
torch.manual_seed(0)
image, line = torch.randn(2, 4, 5, 6, dtype=D, requires_grad=True), torch.randn(2, 4, 7, dtype=D, requires_grad=True)
kernel, kernel1 = torch.randn(4, 2, 3, 2, dtype=D, requires_grad=True), torch.randn(3, 4, 3, dtype=D, requires_grad=True)
back, bias = torch.randn(4, 3, 3, 2, dtype=D, requires_grad=True), torch.randn(4, dtype=D, requires_grad=True)
table = torch.randn(5, 3, dtype=D, requires_grad=True)
grid = (torch.rand(1, 2, 2, 2, dtype=D) * 1.6 - 0.8).requires_grad_()
weight, shift = torch.rand(6, dtype=D, requires_grad=True), torch.randn(6, dtype=D, requires_grad=True)
query = torch.randn(1, 2, 3, 4, dtype=D, requires_grad=True)

TWICE = {
    "conv2d": (lambda x, w, b: F.conv2d(x, w, b, stride=(2, 1), padding=1, dilation=(1, 2), groups=2), (image, kernel, bias)),
    "conv1d": (lambda x, w: F.conv1d(x, w, padding="same"), (line, kernel1)),
    "conv_transpose2d": (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1, output_padding=1), (image, back)),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2, stride=1, padding=1), (image,)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False), (image,)),
    "adaptive_avg_pool2d": (lambda x: F.adaptive_avg_pool2d(x, (2, 4)), (image,)),
    "adaptive_max_pool2d": (lambda x: F.adaptive_max_pool2d(x, 3), (image,)),
    "unfold and fold": (lambda x: F.fold(F.unfold(x, (2, 3), padding=1), (5, 6), (2, 3), padding=1), (image,)),
    "batch_norm": (lambda x, w, b: F.batch_norm(x, None, None, w[:4], b[:4], training=True), (image, weight, shift)),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (6,), w, b), (image, weight, shift)),
    "group_norm": (lambda x, w, b: F.group_norm(x, 2, w[:4], b[:4]), (image, weight, shift)),
    "instance_norm": (lambda x: F.instance_norm(x), (image,)),
    "rms_norm": (lambda x, w: F.rms_norm(x, (6,), w, 1e-3), (image, weight)),
    "embedding": (lambda w: F.embedding(torch.tensor([[0, 2], [2, 4]]), w), (table,)),
    "bilinear interpolation": (lambda x: F.interpolate(x, size=(7, 3), mode="bilinear", align_corners=True), (image,)),
    "bicubic interpolation": (lambda x: F.interpolate(x, scale_factor=1.5, mode="bicubic"), (image,)),
    "nearest interpolation": (lambda x: F.interpolate(x, scale_factor=2), (image,)),
    "pixel_shuffle": (lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2), (image,)),
    "bilinear": (
        lambda x, w: F.bilinear(x[..., :2], x[..., :3], w.reshape(4, 2, 3)),
        (image, kernel1.reshape(-1)[:24].detach().requires_grad_()),
    ),
    "grid_sample": (lambda x, g: F.grid_sample(x, g, align_corners=False), (image[:1, :2, :3, :3].detach().requires_grad_(), grid)),
}
ONCE = {
    "scaled_dot_product_attention": (lambda q: F.scaled_dot_product_attention(q, q * 2, q + 1, is_causal=True), (query,)),
    "embedding_bag": (lambda w: F.embedding_bag(torch.tensor([[0, 2], [2, 4]]), w), (table,)),
    "pdist": (lambda w: F.pdist(w, 3.0), (table,)),
    "ctc_loss": (
        lambda x: F.ctc_loss(x.log_softmax(2), torch.tensor([[1, 2], [3, 3]]), (2, 2), (2, 1)),
        (line.detach().transpose(0, 1)[:4, :, :5].clone().requires_grad_(),),
    ),
}


@pytest.mark.parametrize("name", TWICE)
def test_second_gradients(name):
    function, inputs = TWICE[name]
    assert torch.autograd.gradcheck(function, inputs)
    assert torch.autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("name", ONCE)
def test_first_gradients(name):
    function, inputs = ONCE[name]
    assert torch.autograd.gradcheck(function, inputs)
