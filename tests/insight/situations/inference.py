import torch
with torch.inference_mode():
    feats = torch.ones(3) * 2
w = torch.ones(3, requires_grad=True)
loss = (feats * w).sum()
loss.backward()
# why(error) -> inference tensor: line 2; line 5
