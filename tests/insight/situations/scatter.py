import torch
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
v = w * 2
w2 = v.clone()
w2.fill_(1.0)
w2.sum().backward()
# why(w) -> zero: line 5; FillBackward2
