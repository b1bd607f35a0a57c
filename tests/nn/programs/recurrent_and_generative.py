import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)


class RNN(nn.Module):
    def __init__(self, input_size, hidden_size, output_size):
        super(RNN, self).__init__()
        self.hidden_size = hidden_size
        self.i2h = nn.Linear(input_size, hidden_size)
        self.h2h = nn.Linear(hidden_size, hidden_size)
        self.h2o = nn.Linear(hidden_size, output_size)
        self.softmax = nn.LogSoftmax(dim=1)

    def forward(self, input, hidden):
        hidden = F.tanh(self.i2h(input) + self.h2h(hidden))
        output = self.h2o(hidden)
        output = self.softmax(output)
        return output, hidden

    def initHidden(self):
        return torch.zeros(1, self.hidden_size)


rnn = RNN(57, 8, 4)
line = torch.zeros(3, 1, 57)
for i in range(3):
    line[i][0][i * 7] = 1
hidden = rnn.initHidden()
for i in range(3):
    output, hidden = rnn(line[i], hidden)
print(output, hidden)
top_n, top_i = output.topk(1)
print(top_n, top_i)
loss = nn.NLLLoss()(output, torch.tensor([2]))
loss.backward()
for p in rnn.parameters():
    p.data.add_(p.grad.data, alpha=-0.005)
print(loss, rnn.h2o.bias)
gru = nn.GRU(4, 5, num_layers=2, bidirectional=True, dropout=0.3)
x = torch.randn(3, 2, 4)
y, h = gru(x)
print(y, h.shape)
y.sum().backward()
print(gru.weight_hh_l0.grad[:2])
seqs = [torch.randn(n, 4) for n in (4, 2, 3)]
padded = nn.utils.rnn.pad_sequence(seqs, batch_first=True)
print(padded.shape)
packed = nn.utils.rnn.pack_padded_sequence(padded, [4, 2, 3], batch_first=True, enforce_sorted=False)
print(packed)
lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
out, (hn, cn) = lstm(packed)
unpacked, lens = nn.utils.rnn.pad_packed_sequence(out, batch_first=True)
print(unpacked, lens, hn)
unpacked.sum().backward()
print(lstm.weight_ih_l0.grad[0])
print(nn.RNN(2, 3, nonlinearity="relu")(torch.ones(2, 1, 2)))
cell = nn.LSTMCell(2, 3)
h, c = cell(torch.ones(1, 2))
print(h, c)
print(nn.GRUCell(2, 3)(torch.ones(1, 2)))


class VAE(nn.Module):
    def __init__(self):
        super(VAE, self).__init__()
        self.fc1 = nn.Linear(16, 8)
        self.fc21 = nn.Linear(8, 2)
        self.fc22 = nn.Linear(8, 2)
        self.fc3 = nn.Linear(2, 8)
        self.fc4 = nn.Linear(8, 16)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        eps = torch.randn_like(std)
        return mu + eps * std

    def decode(self, z):
        h3 = F.relu(self.fc3(z))
        return torch.sigmoid(self.fc4(h3))

    def forward(self, x):
        mu, logvar = self.encode(x.view(-1, 16))
        z = self.reparameterize(mu, logvar)
        return self.decode(z), mu, logvar


model = VAE()
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
data = torch.rand(12, 16)
for epoch in range(20):
    opt.zero_grad()
    recon, mu, logvar = model(data)
    BCE = F.binary_cross_entropy(recon, data, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    (BCE + KLD).backward()
    opt.step()
    if epoch % 5 == 0:
        print(epoch, (BCE + KLD).item())
netG = nn.Sequential(
    nn.ConvTranspose2d(5, 8, 4, 1, 0, bias=False),
    nn.BatchNorm2d(8),
    nn.ReLU(True),
    nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
    nn.Tanh(),
)


def weights_init(m):
    classname = m.__class__.__name__
    if classname.find("Conv") != -1:
        nn.init.normal_(m.weight.data, 0.0, 0.02)
    elif classname.find("BatchNorm") != -1:
        nn.init.normal_(m.weight.data, 1.0, 0.02)
        nn.init.constant_(m.bias.data, 0)


netG.apply(weights_init)
print(netG)
fake = netG(torch.randn(2, 5, 1, 1))
print(fake.shape, fake[0, 0, 0])
netD = nn.Sequential(
    nn.Conv2d(1, 4, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True), nn.Conv2d(4, 1, 4, 1, 0, bias=False), nn.Sigmoid()
)
netD.apply(weights_init)
out = netD(fake).view(-1)
err = nn.BCELoss()(out, torch.full((2,), 1.0))
err.backward()
print(err, netG[0].weight.grad.norm(), netG[1].running_mean)
