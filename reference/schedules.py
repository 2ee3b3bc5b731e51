"""Learning rates as PyTorch's schedulers give them, for tests/train.

Run with a Python that has torch; writes tests/fixtures/train/schedules.json.
"""
import json
import pathlib

import torch
from torch.optim import lr_scheduler as s

TOTAL, LR = 40, 0.3


def rates(make):
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=LR)
    scheduler = make(optimizer)
    out = []
    for _ in range(TOTAL):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if len(out) < TOTAL:
            scheduler.step()
    return out


made = {
    "constant": rates(lambda o: s.LambdaLR(o, lambda u: 1.0)),
    "linear": rates(lambda o: s.LinearLR(o, 1.0, 0.01 / LR, TOTAL)),
    "cosine": rates(lambda o: s.CosineAnnealingLR(o, TOTAL, 0.01)),
    "one-cycle": rates(lambda o: s.OneCycleLR(o, LR, total_steps=TOTAL)),
    "exponential": rates(lambda o: s.ExponentialLR(o, 0.5 ** (1 / 8))),
    "step": rates(lambda o: s.StepLR(o, 8, 0.5)),
}
out = pathlib.Path(__file__).parent.parent / "tests/fixtures/train"
out.mkdir(parents=True, exist_ok=True)
(out / "schedules.json").write_text(json.dumps(made, indent=1) + "\n")
