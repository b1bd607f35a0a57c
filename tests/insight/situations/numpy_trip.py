import torch
import numpy as np
w = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor(0.5, requires_grad=True)
h = np.exp(w.detach().numpy())
loss = (torch.from_numpy(h) * b).sum()
loss.backward()
# why(w) -> numpy: line 5; MulBackward0
