import torch
class Model:
    def __init__(self):
        self.w = torch.tensor([1.0, 2.0], requires_grad=True)
        self.b = torch.tensor(0.0, requires_grad=True)
    def encode(self):
        return (self.w * 2).detach()
    def train(self):
        loss = (self.encode() + self.b).sum()
        loss.backward()
model = Model()
model.train()
w = model.w
# why(w) -> detach: line 7
