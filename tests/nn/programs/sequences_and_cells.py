"""Padding and packing with what they refuse, cells fed wrongly, parameters without a shape, and what LBFGS remembers."""

import torch
from torch import nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence, pack_sequence, pad_packed_sequence, pad_sequence, unpad_sequence

leaf = torch.tensor([3.0, 4.0], requires_grad=True)
short, long, deep = torch.tensor([1.0]), torch.tensor([5.0, 6.0, 7.0]), torch.ones(2, 3)
for options in {}, dict(batch_first=True), dict(padding_value=-1), dict(padding_side="left"), dict(batch_first=True, padding_side="left"):
    print(options, pad_sequence([short, leaf, long], **options))
pad_sequence([short, leaf, long]).pow(2).sum().backward()
print(leaf.grad, pad_sequence([deep, deep[:1]], batch_first=True))
print(unpad_sequence(pad_sequence([long, short]), torch.tensor([3, 1])), pack_padded_sequence(deep.view(3, 2), torch.tensor([3.0, 1.0])))
packed = pack_sequence([short, long], enforce_sorted=False)
print(packed, pad_packed_sequence(packed, total_length=4), PackedSequence((long, torch.tensor([1, 1, 1]))))
gru, rnn, lstm = nn.GRUCell(2, 3), nn.RNNCell(2, 3), nn.LSTMCell(2, 3)
x, h = torch.ones(4, 2), torch.ones(4, 3)
for refused in (
    lambda: pad_sequence([]),
    lambda: pad_sequence([torch.ones(1, 2), deep]),
    lambda: pad_sequence([short, deep]),
    lambda: pad_sequence([short], padding_side="up"),
    lambda: PackedSequence(short),
    lambda: PackedSequence([short]),
    lambda: gru(h),
    lambda: gru(x, torch.ones(3, 3)),
    lambda: gru(x, x),
    lambda: rnn(torch.ones(3)),
    lambda: rnn(x, h[:2]),
    lambda: rnn(x, x),
    lambda: rnn(x, torch.ones(1, 4, 3)),
    lambda: lstm(h),
    lambda: lstm(x, (h[:3], h)),
    lambda: nn.LazyLinear(3).weight.shape,
    lambda: sum(p.numel() for p in nn.LazyLinear(3).parameters()),
    lambda: nn.LazyLinear(3).weight.share_memory_(),
    lambda: nn.Linear(1, 1).xpu(),
):
    try:
        print(refused())
    except Exception as e:
        print(type(e).__name__, e)
print(nn.Buffer(torch.ones(2)), nn.Buffer(torch.ones(1), persistent=False).persistent)

place = nn.Parameter(torch.tensor([3.0, -2.0]))
for search in None, "strong_wolfe":
    lbfgs = torch.optim.LBFGS([place], lr=0.3, max_iter=4, line_search_fn=search)
    for step in range(3):
        loss = lbfgs.step(lambda: (lbfgs.zero_grad(), (total := (place**4).sum() + place.prod()).backward(), total)[-1])
        state = lbfgs.state_dict()["state"][0]
        print(loss, place.data, list(state), state["func_evals"], state["n_iter"])
