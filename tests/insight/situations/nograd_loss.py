import torch
model = torch.nn.Linear(2, 1)
with torch.no_grad():
    out = model(torch.ones(3, 2))
loss = out.mean()
loss.backward()
# why(error) -> no_grad: line 4; line 6
