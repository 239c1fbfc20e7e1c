"""A convolutional network in training, on pictures of many sizes, with an evaluation now and then."""
import random
import sys

import torch
from torch import nn

from recording import Recording

recording = Recording()
random.seed(2)


class Residual(nn.Module):
    def __init__(self, before, after, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU(),
            nn.Conv2d(after, after, 3, 1, 1, bias=False), nn.BatchNorm2d(after))
        self.short = nn.Conv2d(before, after, 1, stride, bias=False)

    def forward(self, x):
        return torch.relu(self.body(x) + self.short(x))


widths = [64, 64, 128, 128, 256, 256, 512, 512]
layers = [nn.Conv2d(3, 64, 7, 2, 3), nn.ReLU()]
for before, after in zip([64, *widths], widths):
    layers.append(Residual(before, after, 1 if before == after else 2))
model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(40):
    height, width = (32 * random.randint(6, 12) for _ in range(2))
    pictures = torch.empty(32, 3, height, width, device="cuda")
    labels = torch.zeros(32, dtype=torch.long, device="cuda")
    loss = nn.functional.cross_entropy(model(pictures), labels)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            for _ in range(4):
                model(torch.empty(64, 3, 32 * random.randint(6, 12), 320, device="cuda"))
    recording.step()
recording.write(sys.argv[1])
