"""Small networks that between them make torch.export write every kind of
argument, output and input that its files can hold. pt2_fixtures.py exports and
trains them."""

import torch
import torch.nn.functional as F
from torch import nn


class Cnn(nn.Module):
    """BatchNorm, in-place operators, dropout."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.drop = nn.Dropout(dropout)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        x = self.relu(self.norm(self.conv(x)))
        x = F.adaptive_avg_pool2d(x, 1).flatten(1)
        return self.head(self.drop(x))


class Arguments(nn.Module):
    """Every kind of argument an ATen operator takes."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.head = nn.Linear(4, 3)
        self.register_buffer("rows", torch.tensor([0, 2, 1]))

    def forward(self, x):
        y = self.conv(x)
        # as_floats, as_string
        y = F.interpolate(y, scale_factor=(2.0, 1.5), mode="bilinear")
        y = F.gelu(y, approximate="tanh")
        # as_memory_format
        y = y.clone(memory_format=torch.channels_last)
        # as_optional_tensors, with None among them
        y = y[:, :, self.rows]
        # as_bools; outputs that nobody asked for
        ones = torch.ones_like(y)
        again = torch.ops.aten.convolution_backward(
            ones.detach(), y.detach(), self.conv.weight[:, :1].detach(), None,
            [1, 1], [1, 1], [1, 1], False, [0, 0], 4, [True, False, False])[0]
        # as_scalar_type, as_layout, as_device, as_sym_ints with a name in it
        base = torch.zeros(x.shape[0], 4, dtype=torch.float32,
                           layout=torch.strided, device="cpu", pin_memory=False)
        total = y.sum((2, 3), dtype=torch.float64).to(torch.float32)
        mean = total / 27.0 + base + again.mean((2, 3)) * 0.125
        # as_tensors, as_int, as_none (clamp's upper bound)
        both = torch.cat([mean, torch.clamp(mean, None, 0.5)], 1)
        # as_tensor where a number stands: wrapped
        return self.head(both[:, :4] + 2 * both[:, 4:])


class Lists(nn.Module):
    """Operators with a list of results, or several."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 12)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        a, b, c = self.inner(x).chunk(3, -1)
        d, e = torch.split(x, [2, 4], dim=-1)
        rows = torch.unbind(torch.stack([a, b]), 0)
        values, places = torch.topk(c, 2, dim=-1)
        top, _ = c.max(dim=-1, keepdim=True)
        var, mean = torch.var_mean(e, dim=-1, keepdim=True)
        taken = torch.gather(a, -1, places)
        return self.head(rows[0] * rows[1] + e + top - mean / (var + 1.0)
                         + torch.cat([values + taken, d], -1))


class Sizes(nn.Module):
    """Two symbolic sizes, expressions of them, and numbers made of them."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 6)
        self.head = nn.Linear(3, 3)
        self.position = nn.Parameter(torch.linspace(-1, 1, 40).reshape(10, 4))

    def forward(self, x):
        batch, length, _ = x.shape
        y = self.inner(x + self.position[:length])
        y = y.view(batch, length * 2, 3)
        y = torch.cat([y, y[:, : length - 2]], 1)
        y = y.reshape(batch * y.shape[1], 3).view(batch, -1, 3)
        mask = torch.arange(y.shape[1]) >= length
        y = y.masked_fill(mask[:, None], 0.0)
        half = torch.ones(length // 2).sum()
        # as_sym_float, as_sym_int
        return self.head(y.sum(1) / (length / 2) / (2 * length + 1) * half)


class Tied(nn.Module):
    """Shared, frozen, strided and unused parameters; buffers of both sorts; a
    constant; views of one storage."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(7, 4)
        self.head = nn.Linear(4, 7, bias=False)
        self.head.weight = self.embed.weight
        self.unused = nn.Linear(2, 2)
        self.turned = nn.Parameter(torch.arange(12.0).reshape(3, 4).t() / 12)
        self.frozen = nn.Parameter(torch.full((4,), 0.5), requires_grad=False)
        both = torch.linspace(-1, 1, 8)
        self.register_buffer("low", both[:4])
        self.register_buffer("high", both[4:])
        self.register_buffer("scale", torch.ones(4) * 0.75, persistent=False)

    def forward(self, x):
        y = self.embed(x) * self.scale + torch.tensor([0.1, 0.2, 0.3, 0.4])
        y = y + self.turned.sum(1) * self.frozen + self.low * self.high
        return self.head(y).transpose(1, 2)


class Buffers(nn.Module):
    """A buffer of every type of element."""

    TYPES = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
             torch.float16, torch.float32, torch.float64, torch.bool,
             torch.bfloat16]

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        for kind in self.TYPES:
            name = str(kind).replace("torch.", "of_")
            self.register_buffer(name, torch.tensor([0, 1, 2]).to(kind))
        self.register_buffer("empty", torch.zeros(0, 3))

    def forward(self, x):
        y = self.inner(x)
        for kind in self.TYPES:
            name = str(kind).replace("torch.", "of_")
            y = y + getattr(self, name).to(y.dtype) * 0.1
        return torch.cat([self.empty, y])


class Counting(nn.Module):
    """Buffers that change with every step."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)
        self.register_buffer("steps", torch.tensor(0))
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        y = self.inner(x)
        if self.training:
            self.steps.add_(1)
            self.seen.mul_(0.9).add_(y.detach().mean(0), alpha=0.1)
        return y + self.seen


class TwoInputs(nn.Module):
    """Two inputs, one by keyword; results in a dictionary."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(5, 4)
        self.inner = nn.Linear(4, 4)
        self.head = nn.Linear(4, 3)

    def forward(self, x, *, kind):
        features = torch.tanh(self.inner(x) + self.embed(kind))
        return {"logits": self.head(features), "features": features}


class Attention(nn.Module):
    """A transformer block, causal."""

    def __init__(self, width=8, heads=2, words=11, length=6):
        super().__init__()
        self.heads = heads
        self.embed = nn.Embedding(words, width)
        self.position = nn.Parameter(torch.randn(1, length, width) * 0.1)
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.up = nn.Linear(width, 2 * width)
        self.down = nn.Linear(2 * width, width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, x):
        y = self.embed(x) + self.position
        batch, length, width = y.shape
        parts = [t.view(batch, length, self.heads, -1).transpose(1, 2)
                 for t in self.qkv(self.norm1(y)).chunk(3, -1)]
        seen = F.scaled_dot_product_attention(*parts, is_causal=True)
        y = y + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        y = y + self.down(F.gelu(self.up(self.norm2(y))))
        return self.head(y).transpose(1, 2)


class Recurrent(nn.Module):
    """An LSTM: a list of parameters in, three results out."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 5, batch_first=True)
        self.head = nn.Linear(5, 3)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


class NoGrad(nn.Module):
    """Parts without a gradient: values, a parameter, a buffer that moves, and a
    value that is changed in place behind autograd's back."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 5)
        self.head = nn.Linear(5, 3)
        self.register_buffer("seen", torch.zeros(5))

    def forward(self, x):
        y = torch.relu(self.inner(x))
        with torch.no_grad():
            scale = y.abs().mean(0) + 1
            self.seen.mul_(0.9).add_(y.mean(0), alpha=0.1)
            length = self.head.weight.norm()
            place = y.argmax(1)
        z = y / scale + self.seen
        w = torch.tanh(z * 0.5) + z
        with torch.no_grad():
            w.mul_(1.5)
        return self.head(w) / (1 + length) + place[:, None] * 0.01


class Autocast(nn.Module):
    """bfloat16 where autocast takes it, and a part where it is off."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.inner = nn.Linear(4, 6)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            y = torch.relu(self.norm(self.conv(x))).mean((2, 3))
            y = torch.softmax(self.inner(y), -1) + 1.0
            z = y @ y.t()
            y = torch.cat([y, y.float() * 0.5], 1)[:, 3:9]
            with torch.autocast("cpu", enabled=False):
                y = self.head(y.float())
        return y + z.float().mean()


class Shared(nn.Module):
    """A module under two names: its statistics move twice a step."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 6)
        self.norm = nn.BatchNorm1d(6)
        self.again = self.inner
        self.norm_again = self.norm
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = torch.relu(self.norm(self.inner(x)))
        return self.head(self.norm_again(self.again(x)))


class Modern(nn.Module):
    """Operators that LibTorch 1.13 does not have."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(6, 16)
        self.norm = nn.RMSNorm(8)
        self.head = nn.Linear(8, 3)

    def forward(self, x):
        y = self.embed(x).view(-1, 1, 2, 8)
        y = self.norm(y)
        y = F.scaled_dot_product_attention(y, y, y, enable_gqa=True)
        some = (y > 100).any(dim=(1, 2, 3)) | (y > -100).all(dim=(1, 2, 3))
        y = torch.squeeze(y[:, :, :1], (1, 2))
        return self.head(y) + some[:, None].to(y.dtype)


class PerChannel(nn.Module):
    """PReLU with a weight for each channel."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.slope = nn.PReLU(4)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(self.slope(self.conv(x)).mean((2, 3)))


class HardBatch(nn.Module):
    """Exported without dynamic_shapes, its batch is part of the graph."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, padding=1)
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        y = self.conv(x).relu()
        y = y.view(x.shape[0], 4, -1).mean(-1)
        return self.head(y - y.sum(0) / x.shape[0])


class Loop(nn.Module):
    """A loop of torch's own: temper refuses it."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        from torch._higher_order_ops.while_loop import while_loop
        _, y = while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 0.5),
                          (torch.tensor(0), x))
        return self.head(y)


class Waves(nn.Module):
    """Complex numbers: temper refuses them."""

    def __init__(self):
        super().__init__()
        self.head = nn.Linear(4, 3)

    def forward(self, x):
        return self.head(torch.fft.fft(x).real)


class Branch(nn.Module):
    """Control flow: temper refuses it."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(4, 3)

    def forward(self, x):
        return torch.cond(x.sum() > 0, lambda y: self.inner(y),
                          lambda y: self.inner(-y), (x,))
