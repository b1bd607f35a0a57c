"""Memory that nobody wrote: with deterministic algorithms it stands out, and no layer shows it."""

import torch
from torch import nn

torch.use_deterministic_algorithms(True)
print(torch.are_deterministic_algorithms_enabled())
for kind in torch.float32, torch.float64, torch.int32, torch.uint8, torch.bool, torch.complex64:
    print(torch.empty(2, dtype=kind), torch.empty_like(torch.ones(1, dtype=kind)), torch.ones(1, dtype=kind).new_empty(1))
print(torch.empty_strided((2,), (1,)), torch.empty_permuted((2,), (0,)), torch.ones(2).new_empty_strided((2,), (1,)))
print(nn.utils.skip_init(nn.Linear, 2, 3), nn.utils.skip_init(nn.Linear, 2, 1).weight, nn.Linear(2, 3).to_empty(device="cpu").bias)
torch.manual_seed(0)
one, three = torch.ones(1, 2), torch.rand(3, 2)
print(nn.Linear(2, 2)(one), nn.BatchNorm1d(2)(three), nn.LSTM(2, 2)(three)[0], nn.GRUCell(2, 2)(one))
print(nn.MultiheadAttention(2, 1)(one, one, one)[0], nn.Embedding(2, 2).weight, nn.Conv1d(1, 1, 2)(one))
print(nn.functional.interpolate(torch.ones(1, 1, 2), 4), nn.init.orthogonal_(torch.empty(2, 2)).det().abs(), nn.LayerNorm(2)(three))
torch.set_deterministic_debug_mode("default")
print(torch.are_deterministic_algorithms_enabled(), torch.get_deterministic_debug_mode())
