"""Networks as people write them, small, for networks.py: recurrent ones,
transformers, one and three dimensions, detection backbones, tied weights,
several outputs, blocks without gradients. Nothing here draws random numbers in
forward, so that two programs can be compared."""

import math

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 5
WORDS = 32  # the alphabet of the texts


class Unet(nn.Module):
    """Skips, a transposed convolution, resizing; gives back an image."""

    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2d(3, 8, 3, padding=1)
        self.down2 = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.up1 = nn.ConvTranspose2d(16, 8, 2, stride=2)
        self.up2 = nn.Conv2d(16, 8, 3, padding=1)
        self.out = nn.Conv2d(8, 3, 1)

    def forward(self, x):
        a = F.gelu(self.down1(x))
        b = F.gelu(self.down2(a))
        c = torch.cat([self.up1(b), a], 1)
        d = F.interpolate(F.avg_pool2d(c, 2), scale_factor=2, mode="nearest")
        return self.out(F.leaky_relu(self.up2(d), 0.1))


class Autoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.squeeze = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 24), nn.Tanh())
        self.back = nn.Linear(24, 3 * 16 * 16)

    def forward(self, x):
        return self.back(self.squeeze(x)).view(x.shape)


class Pyramid(nn.Module):
    """A detection backbone: features of three sizes, added from above."""

    def __init__(self):
        super().__init__()
        def block(i, o):
            return nn.Sequential(nn.Conv2d(i, o, 3, 2, 1, bias=False),
                                 nn.BatchNorm2d(o), nn.SiLU())
        self.c1, self.c2, self.c3 = block(3, 8), block(8, 16), block(16, 32)
        self.lateral = nn.ModuleList([nn.Conv2d(c, 16, 1) for c in (8, 16, 32)])
        self.smooth = nn.ModuleList([nn.Conv2d(16, 16, 3, padding=1) for _ in range(3)])
        self.head = nn.Linear(48, CLASSES)

    def forward(self, x):
        a = self.c1(x)
        b = self.c2(a)
        c = self.c3(b)
        p3 = self.lateral[2](c)
        p2 = self.lateral[1](b) + F.interpolate(p3, size=b.shape[-2:])
        p1 = self.lateral[0](a) + F.interpolate(p2, size=a.shape[-2:])
        levels = [conv(p).amax((2, 3)) for conv, p in zip(self.smooth, (p1, p2, p3))]
        return self.head(torch.cat(levels, 1))


class Anchors(nn.Module):
    """Classes and boxes of one backbone: a tuple, of which the first counts."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 12, 3, 2, 1), nn.GroupNorm(3, 12), nn.ReLU())
        self.classes = nn.Conv2d(12, CLASSES, 1)
        self.boxes = nn.Conv2d(12, 4, 1)

    def forward(self, x):
        y = self.body(x)
        return self.classes(y).flatten(2).logsumexp(-1), self.boxes(y).exp()


class Named(nn.Module):
    """Results in a dictionary."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 16)
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x):
        features = F.softplus(self.body(x))
        return {"logits": self.head(features), "features": features}


class SqueezeExcite(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 16, 3, padding=1, groups=1)
        self.depth = nn.Conv2d(16, 16, 5, padding=2, groups=16, dilation=1)
        self.norm = nn.BatchNorm2d(16)
        self.down, self.up = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x):
        y = F.hardswish(self.norm(self.depth(self.conv(x))))
        gate = F.hardsigmoid(self.up(F.relu(self.down(y.mean((2, 3), keepdim=True)))))
        return self.head((y * gate).mean((2, 3)))


class Wave(nn.Module):
    """One dimension: dilated causal convolutions, as WaveNet has them."""

    def __init__(self):
        super().__init__()
        self.start = nn.Conv1d(2, 8, 1)
        self.gates = nn.ModuleList([nn.Conv1d(8, 16, 2, dilation=2 ** i) for i in range(3)])
        self.mixes = nn.ModuleList([nn.Conv1d(8, 8, 1) for _ in range(3)])
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        y = self.start(x)
        for i, (gate, mix) in enumerate(zip(self.gates, self.mixes)):
            a, b = gate(F.pad(y, (2 ** i, 0))).chunk(2, 1)
            y = y + mix(torch.tanh(a) * torch.sigmoid(b))
        return self.head(F.adaptive_avg_pool1d(y, 1).squeeze(-1))


class Volume(nn.Module):
    """Three dimensions."""

    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv3d(1, 6, 3, padding=1), nn.BatchNorm3d(6), nn.ELU(), nn.MaxPool3d(2),
            nn.Conv3d(6, 8, 3, padding=1), nn.InstanceNorm3d(8, affine=True), nn.ReLU(),
            nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(8, CLASSES))

    def forward(self, x):
        return self.net(x)


class Cells(nn.Module):
    """Recurrent over rows of numbers, whichever kind."""

    def __init__(self, kind, layers=2, both=True):
        super().__init__()
        self.cell = kind(6, 8, layers, batch_first=True, bidirectional=both)
        self.head = nn.Linear(16 if both else 8, CLASSES)

    def forward(self, x):
        return self.head(self.cell(x)[0].mean(1))


class Unrolled(nn.Module):
    """A cell in a Python loop."""

    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 10)
        self.head = nn.Linear(10, CLASSES)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], 10)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
        return self.head(h)


class Encoder(nn.Module):
    """PyTorch's own transformer layers over rows of numbers."""

    def __init__(self, first=False):
        super().__init__()
        layer = nn.TransformerEncoderLayer(6, 2, 12, dropout=0.0, batch_first=True,
                                           norm_first=first)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        return self.head(self.layers(x)[:, 0])


class Pooling(nn.Module):
    """Attention with a learnt question (nn.MultiheadAttention)."""

    def __init__(self):
        super().__init__()
        self.question = nn.Parameter(torch.randn(1, 1, 6))
        self.attention = nn.MultiheadAttention(6, 3, batch_first=True)
        self.head = nn.Linear(6, CLASSES)

    def forward(self, x):
        q = self.question.expand(x.shape[0], -1, -1)
        return self.head(self.attention(q, x, x, need_weights=False)[0].squeeze(1))


class Causal(nn.Module):
    """nanoGPT in small; `tied` shares the embedding with the head."""

    def __init__(self, tied=False, width=16, heads=2, length=12):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(WORDS, width)
        self.place = nn.Embedding(length, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(),
                                 nn.Linear(4 * width, width))
        self.head = nn.Linear(width, WORDS, bias=False)
        if tied:
            self.head.weight = self.embed.weight

    def forward(self, t):
        n, length = t.shape
        x = self.embed(t) + self.place(torch.arange(length))
        parts = self.qkv(self.norm1(x)).view(n, length, 3, self.heads, -1).unbind(2)
        q, k, v = (p.transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(n, length, -1))
        return self.head(x + self.mlp(self.norm2(x)))


class Llama(nn.Module):
    """RMSNorm, rotary positions, grouped queries, SwiGLU."""

    def __init__(self, width=16, heads=4, groups=2, length=12):
        super().__init__()
        self.heads, self.groups, self.size = heads, groups, width // heads
        self.embed = nn.Embedding(WORDS, width)
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.kv = nn.Linear(width, 2 * groups * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, 32, bias=False)
        self.up = nn.Linear(width, 32, bias=False)
        self.down = nn.Linear(32, width, bias=False)
        self.head = nn.Linear(width, WORDS, bias=False)
        angle = torch.arange(length)[:, None] / 100 ** (
            torch.arange(0, self.size, 2) / self.size)
        self.register_buffer("cos", angle.cos(), persistent=False)
        self.register_buffer("sin", angle.sin(), persistent=False)

    def turn(self, x):
        a, b = x[..., 0::2], x[..., 1::2]
        c, s = self.cos[: x.shape[-2]], self.sin[: x.shape[-2]]
        return torch.stack([a * c - b * s, a * s + b * c], -1).flatten(-2)

    def forward(self, t):
        n, length = t.shape
        x = self.embed(t)
        y = self.norm1(x)
        q = self.q(y).view(n, length, self.heads, -1).transpose(1, 2)
        k, v = self.kv(y).view(n, length, 2, self.groups, -1).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(self.turn(q), self.turn(k), v,
                                           is_causal=True, enable_gqa=True)
        x = x + self.o(y.transpose(1, 2).reshape(n, length, -1))
        y = self.norm2(x)
        return self.head(x + self.down(F.silu(self.gate(y)) * self.up(y)))


class TiedRnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(WORDS, 16)
        self.rnn = nn.GRU(16, 16, batch_first=True)
        self.head = nn.Linear(16, WORDS, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, t):
        return self.head(self.rnn(self.embed(t))[0])


class Repeated(nn.Module):
    """One block again and again (ALBERT): its BatchNorm moves three times."""

    def __init__(self):
        super().__init__()
        self.start = nn.Linear(12, 10)
        self.block = nn.Sequential(nn.Linear(10, 10), nn.BatchNorm1d(10), nn.ReLU())
        self.again = self.block
        self.head = nn.Linear(10, CLASSES)

    def forward(self, x):
        x = self.start(x)
        for block in (self.block, self.again, self.block):
            x = x + block(x)
        return self.head(x)


class Detached(nn.Module):
    """torch.no_grad() and detach() in forward."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(12, 8), nn.Linear(8, CLASSES)
        self.register_buffer("mean", torch.zeros(8))

    def forward(self, x):
        y = torch.relu(self.body(x))
        with torch.no_grad():
            scale = y.abs().mean(0) + 1
            self.mean.lerp_(y.mean(0), 0.1)
        return self.head(y / scale - self.mean) + y.detach().sum(1, keepdim=True) * 0.01


class Spectral(nn.Module):
    """torch.nn.utils.parametrizations.spectral_norm."""

    def __init__(self):
        super().__init__()
        wrap = nn.utils.parametrizations.spectral_norm
        self.net = nn.Sequential(wrap(nn.Linear(12, 10)), nn.ReLU(), nn.Linear(10, CLASSES))

    def forward(self, x):
        return self.net(x)


class WeightNormed(nn.Module):
    def __init__(self):
        super().__init__()
        wrap = nn.utils.parametrizations.weight_norm
        self.net = nn.Sequential(wrap(nn.Conv1d(2, 8, 3, padding=1)), nn.CELU(),
                                 nn.AdaptiveMaxPool1d(1), nn.Flatten(), nn.Linear(8, CLASSES))

    def forward(self, x):
        return self.net(x)


class Uncast(nn.Module):
    """torch.autocast switched off around a sensitive part."""

    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(12, 8), nn.Linear(8, CLASSES)

    def forward(self, x):
        with torch.autocast("cpu", enabled=False):
            y = torch.logsumexp(self.body(x)[:, :, None] * x[:, None, :8], -1)
        return self.head(y)


class Quantiser(nn.Module):
    """A vector quantiser with a straight-through gradient."""

    def __init__(self):
        super().__init__()
        self.body = nn.Linear(12, 8)
        self.codes = nn.Embedding(6, 8)
        self.head = nn.Linear(8, CLASSES)

    def forward(self, x):
        z = self.body(x)
        with torch.no_grad():
            far = (z[:, None] - self.codes.weight[None]).pow(2).sum(-1)
            nearest = far.argmin(1)
        code = self.codes(nearest)
        return self.head(z + (code - z).detach() + 0.1 * code)


class Mixer(nn.Module):
    """MLP-Mixer over patches."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 12, 4, 4)
        self.norm1, self.norm2 = nn.LayerNorm(12), nn.LayerNorm(12)
        self.tokens = nn.Sequential(nn.Linear(16, 16), nn.Mish(), nn.Linear(16, 16))
        self.channels = nn.Sequential(nn.Linear(12, 24), nn.SELU(), nn.Linear(24, 12))
        self.head = nn.Linear(12, CLASSES)

    def forward(self, x):
        x = self.patches(x).flatten(2).transpose(1, 2)
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        x = x + self.channels(self.norm2(x))
        return self.head(x.mean(1))


class Windows(nn.Module):
    """unfold, roll, einsum, gather: what hand-written attention uses."""

    def __init__(self):
        super().__init__()
        self.project = nn.Linear(27, 12)
        self.bias = nn.Parameter(torch.zeros(12, 12))
        self.head = nn.Linear(12, CLASSES)

    def forward(self, x):
        y = F.unfold(torch.roll(x, (1, 1), (2, 3)), 3, stride=2).transpose(1, 2)
        y = self.project(y)
        scores = torch.einsum("bic,bjc,cd->bij", y, y, self.bias + torch.eye(12))
        order = scores.sum(-1).argsort(-1)[:, :8, None].expand(-1, -1, 12)
        y = torch.softmax(scores / math.sqrt(12), -1) @ y
        return self.head(torch.gather(y, 1, order).amax(1))


class PRelu(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.PReLU(8), nn.MaxPool2d(2),
                                 nn.PixelShuffle(2), nn.Flatten(), nn.Linear(512, CLASSES))

    def forward(self, x):
        return self.net(x)


class Tower(nn.Module):
    """A plain perceptron with every activation in turn."""

    def __init__(self):
        super().__init__()
        acts = [nn.ReLU6(), nn.GLU(), nn.Softsign(), nn.LogSigmoid(), nn.Hardtanh(),
                nn.Softshrink(0.1), nn.Tanhshrink(), nn.Threshold(0.0, 0.1)]
        layers, width = [], 12
        for act in acts:
            layers += [nn.Linear(width, 16), act]
            width = 8 if isinstance(act, nn.GLU) else 16
        self.net = nn.Sequential(*layers, nn.Linear(width, CLASSES))

    def forward(self, x):
        return self.net(x)


class Regression(nn.Module):
    def __init__(self):
        super().__init__()
        self.wide = nn.Linear(12, 2)
        self.deep = nn.Sequential(nn.Linear(12, 16), nn.BatchNorm1d(16), nn.Sigmoid(),
                                  nn.Linear(16, 2))
        self.cross = nn.Bilinear(12, 12, 2)

    def forward(self, x):
        return self.wide(x) + self.deep(x) + self.cross(x, x)
