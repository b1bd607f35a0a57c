import torch
with torch.inference_mode():
    k = torch.ones(2)
    v = k[:1]
w = torch.zeros(2, requires_grad=True)
y = (torch.ones(2, requires_grad=True) * 2).sum()
y.backward()
# why(w) -> unused: w was not used to compute y
