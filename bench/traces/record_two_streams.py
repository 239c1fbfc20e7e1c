"""A training whose batches are copied ahead on a second stream, and whose activations are sent to the host on it."""
import random
import sys

import torch
from torch import nn

from recording import Recording

recording = Recording()
random.seed(4)
copies = torch.cuda.Stream()
model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 4096), nn.GELU(), nn.Linear(4096, 1024)) for _ in range(8))).cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def fetch():
    with torch.cuda.stream(copies):
        return torch.empty(256 * random.randint(8, 32), 1024).cuda(non_blocking=True)


ahead = fetch()
for step in range(60):
    torch.cuda.current_stream().wait_stream(copies)
    batch = ahead
    recording.record_stream(batch, torch.cuda.current_stream())
    ahead = fetch()
    x, kept = batch, []
    for layer in model:
        x = layer(x)
        with torch.cuda.stream(copies):
            copies.wait_stream(torch.cuda.default_stream())
            sent = x.detach().clone()
            recording.record_stream(x, copies)
        kept.append(sent)
    loss = x.square().mean()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    del kept
    recording.step()
recording.write(sys.argv[1])
