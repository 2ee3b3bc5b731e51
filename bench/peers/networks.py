"""The networks of temper's zoo in plain PyTorch, as a peer trains them."""
import math
import pathlib
import sys

import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "reference"))
import zoo  # noqa: E402

_masks = {}


def attend(qkv, heads, causal):
    """reference/zoo.py's, as fast as plain PyTorch has it: the mask is made
    once, and the queries are scaled instead of the much larger scores."""
    b, t, c = qkv.shape
    q, k, v = qkv.view(b, t, 3, heads, c // 3 // heads).permute(2, 0, 3, 1, 4).unbind(0)
    scores = (q * q.shape[-1] ** -0.5) @ k.transpose(2, 3)
    if causal:
        if t not in _masks:
            _masks[t] = torch.ones(t, t, dtype=torch.bool).triu(1)
        scores = scores.masked_fill(_masks[t], -math.inf)
    return (scores.softmax(-1) @ v).transpose(1, 2).reshape(b, t, c // 3)


def network(options):
    """A mobilenet has torchvision's dropout unless the options say otherwise."""
    zoo.attend = attend
    net = zoo.network(options)
    if options["name"] == "mobilenet_v2":
        net.classifier[0].p = options.get("dropout", 0.2)
    if options["name"] in ("vit_tiny", "gpt_tiny"):
        for module in net.modules():
            if isinstance(module, (nn.Linear, nn.Embedding)):
                nn.init.normal_(module.weight, std=0.02)
    return net


def batch(options, size):
    """Made-up samples and their targets."""
    if options["name"] == "gpt_tiny":
        shape = (size, options["context"])
        return (torch.randint(0, options["vocabulary"], shape),
                torch.randint(0, options["vocabulary"], shape))
    y = torch.randint(0, options["classes"], (size,))
    if options["name"] == "mlp":
        return torch.randn(size, options["channels"]), y
    side = options["image_size"]
    return torch.randn(size, options.get("channels", 3), side, side), y


def optimizer(name, net):
    if name == "sgd":
        return torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    return torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.01)


def loss(net, x, y):
    return F.cross_entropy(net(x), y)
