import torch
torch.manual_seed(0)
probs = torch.tensor([0.3, 0.7], requires_grad=True)
values = torch.tensor([1.0, 2.0], requires_grad=True)
i = torch.multinomial(probs, 1)
loss = values[i].sum()
loss.backward()
# why(probs) -> index: line 5
