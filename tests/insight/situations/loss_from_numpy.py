import torch, numpy as np
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = np.mean(w.detach().numpy() ** 2)
loss.backward()
# why(error) -> not a tensor: line 3; line 4
