"""One rank of a data-parallel training, started by torchrun: `data_parallel.py FOLDER`. It writes what it saw to rankN.json.

Kernels compute nothing on the simulated device, but copies and gloo's sums are real: so the gradients that count are made
on the host, and every parameter travels between host and device in every step.
"""

import hashlib
import json
import os
import pathlib
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from simulated import Kind, ask_device

STEPS = 3
KINDS = (Kind.CONTEXT, Kind.LINEAR, Kind.VMM, Kind.POOL, Kind.STATIC, Kind.GRAPH)


def digest(model):
    """A fingerprint of the bytes of all parameters, as they lie on the device."""
    contents = b"".join(parameter.detach().cpu().numpy().tobytes() for parameter in model.parameters())
    return hashlib.sha256(contents).hexdigest()


def update_on_host(model, random):
    """A step of gradient descent with gradients of this rank's own, averaged over the ranks."""
    for parameter in model.parameters():
        gradient = torch.randn(parameter.shape, generator=random)
        dist.all_reduce(gradient)
        parameter.data.copy_(parameter.data.cpu() - 0.1 * gradient / dist.get_world_size())


def train(model, device, random):
    losses = []
    for _ in range(STEPS):
        loss = model(torch.randn(8, 256, generator=random).to(device)).sum()
        loss.backward()
        update_on_host(model, random)
        losses.append(loss.detach())
        model.zero_grad()
    return losses


def held(devices):
    """Bytes of this process on each device by kind, and of all others; the ranks stand still meanwhile."""
    dist.barrier()
    answer = {"own": [{str(kind): ask_device("used", device, kind) for kind in KINDS} for device in devices],
              "others": [ask_device("other_processes", device) for device in devices]}
    dist.barrier()
    return answer


def main():
    rank = int(os.environ["LOCAL_RANK"])
    dist.init_process_group("gloo")
    device = torch.device("cuda", rank)
    torch.cuda.set_device(device)
    random = torch.Generator().manual_seed(rank)
    torch.manual_seed(rank)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 16)).to(device)
    seen = {"rank": dist.get_rank(), "world": dist.get_world_size(), "made": digest(model)}
    made = [parameter.detach().cpu() for parameter in model.parameters()]
    parallel = DistributedDataParallel(model, device_ids=[rank])
    seen["wrapped"] = digest(model)
    # It packs the parameters with a kernel before it sends them, so what arrived is equal but no longer they.
    for parameter, value in zip(model.parameters(), made, strict=True):
        parameter.data.copy_(value)
        dist.broadcast(parameter.data, 0)
    seen["shared"] = digest(model)
    losses = train(parallel, device, random)
    seen["trained"] = digest(model)
    total = torch.full((1000,), rank + 1.0).to(device)
    dist.all_reduce(total)
    seen["total"] = total.cpu().unique().tolist()
    seen["devices"] = [str(tensor.device) for tensor in (*model.parameters(), *losses, total)]
    seen["reserved"] = [torch.cuda.memory_reserved(i) for i in range(2)]
    seen["held"] = held(range(2))
    pathlib.Path(sys.argv[1], f"rank{rank}.json").write_text(json.dumps(seen))
    dist.destroy_process_group()


main()
