import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim

torch.manual_seed(0)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv1(x)))
        x = self.pool(F.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)


net = Net()
images = torch.randn(40, 3, 32, 32)
labels = torch.randint(0, 10, (40,))
trainset = torch.utils.data.TensorDataset(images, labels)
trainloader = torch.utils.data.DataLoader(trainset, batch_size=4, shuffle=True, num_workers=0)
criterion = nn.CrossEntropyLoss()
optimizer = optim.SGD(net.parameters(), lr=0.001, momentum=0.9)
for epoch in range(2):
    running_loss = 0.0
    for i, data in enumerate(trainloader, 0):
        inputs, labels_ = data
        optimizer.zero_grad()
        outputs = net(inputs)
        loss = criterion(outputs, labels_)
        loss.backward()
        optimizer.step()
        running_loss += loss.item()
        if i % 5 == 4:
            print(f"[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 5:.3f}")
            running_loss = 0.0
print("Finished Training")
import tempfile

path = tempfile.mkdtemp() + "/cifar_net.pth"
torch.save(net.state_dict(), path)
net = Net()
net.load_state_dict(torch.load(path, weights_only=True))
outputs = net(images[:4])
print(outputs)
_, predicted = torch.max(outputs, 1)
print("Predicted: ", " ".join(f"{predicted[j]}" for j in range(4)))
correct = 0
total = 0
with torch.no_grad():
    for data in trainloader:
        images_, labels_ = data
        outputs = net(images_)
        _, predicted = torch.max(outputs.data, 1)
        total += labels_.size(0)
        correct += (predicted == labels_).sum().item()
print(f"Accuracy: {100 * correct // total} %")
device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
print(device)

# an image looked at through a map that moves nothing: every place is a kink
torch.manual_seed(4)
image, weight = torch.randn(1, 1, 14, 28), torch.randn(1, 1, 14, 28)
for aligned in True, False:
    theta = torch.tensor([[[1.0, 0, 0], [0, 1, 0]]], requires_grad=True)
    grid = torch.nn.functional.affine_grid(theta, image.shape, align_corners=aligned)
    seen = torch.nn.functional.grid_sample(image, grid, align_corners=aligned)
    (seen * weight).sum().backward()
    print(aligned, grid[0, 0, :3], seen.sum(), theta.grad)
