#!/usr/bin/env python3
"""What shapes and types PyTorch's operators really give.

Runs each operator below on tensors of many shapes and types and writes
tests/fixtures/shapes/cases.json; tests/graph/infer/infer_test.cpp holds the rules of
temper/graph/infer/*.cpp against it. A case that PyTorch refuses is recorded as
refused.

    /usr/bin/python3 reference/shapes.py
"""

import itertools
import json
import warnings
from pathlib import Path

import torch

OUT = Path(__file__).resolve().parent.parent / "tests/fixtures/shapes/cases.json"
TYPES = ["bool", "uint8", "int8", "int32", "int64", "float16", "bfloat16",
         "float32", "float64"]


class T:
    """A tensor argument: its sizes and type."""

    def __init__(self, *sizes, dtype="float32"):
        self.sizes, self.dtype = list(sizes), dtype

    def make(self):
        dtype = getattr(torch, self.dtype)
        return torch.ones(self.sizes).to(dtype)


def index(*sizes):
    """Indices: zeros are within any bounds."""
    t = T(*sizes, dtype="int64")
    t.make = lambda: torch.zeros(sizes, dtype=torch.int64)
    return t


def value(a):
    if isinstance(a, T):
        return a.make()
    if isinstance(a, list) and any(isinstance(x, T) for x in a):
        return [None if x is None else x.make() for x in a]
    return a


def text(a):
    """The argument as the test reads it."""
    if a is None:
        return {"none": True}
    if isinstance(a, T):
        return {"tensor": [a.dtype, a.sizes]}
    if isinstance(a, bool):
        return {"bool": a}
    if isinstance(a, int):
        return {"int": a}
    if isinstance(a, float):
        return {"float": a}
    if isinstance(a, str):
        return {"text": a}
    if isinstance(a, torch.dtype):
        return {"dtype": str(a)[6:]}
    if any(x is None for x in a):
        return {"optional": [None if x is None else [x.dtype, x.sizes] for x in a]}
    if a and isinstance(a[0], T):
        return {"tensors": [[x.dtype, x.sizes] for x in a]}
    if a and isinstance(a[0], float):
        return {"floats": a}
    return {"ints": a}


CASES = []


def case(op, **arguments):
    name, overload = (op.split(".") + ["default"])[:2]
    call = getattr(getattr(torch.ops.aten, name), overload)
    made = {k: value(a) for k, a in arguments.items()}
    row = {"op": f"aten.{name}.{overload}",
           "arguments": [[k, text(a)] for k, a in arguments.items()]}
    # By position, as "self" cannot be passed by name.
    places = [made.pop(a.name) if a.name in made else a.default_value
              for a in call._schema.arguments if not a.kwarg_only]
    try:
        result = call(*places, **made)
    except (RuntimeError, IndexError) as error:
        # Kernels that lack a type say nothing about shapes.
        if "not implemented" in str(error) or "dtype" in str(error):
            return
        row["refused"] = True
        CASES.append(row)
        return
    row["list"] = isinstance(result, list)
    results = [result] if torch.is_tensor(result) else list(result)
    row["results"] = [[str(r.dtype)[6:], list(r.shape)] for r in results]
    CASES.append(row)


def elementwise():
    for a, b in itertools.product(TYPES, TYPES):
        for sizes in ([2], []):
            case("add.Tensor", self=T(2, dtype=a), other=T(*sizes, dtype=b))
        case("mul.Tensor", self=T(dtype=a), other=T(dtype=b))
        case("eq.Tensor", self=T(2, dtype=a), other=T(dtype=b))
        case("div.Tensor", self=T(2, dtype=a), other=T(2, dtype=b))
    for a in TYPES:
        for number in (2, 0.5, True):
            case("mul.Tensor", self=T(2, dtype=a), other=number)
            case("div.Tensor", self=T(2, dtype=a), other=number)
            case("gt.Scalar", self=T(2, dtype=a), other=number)
            if number is not True:  # which Python would hand over as 1
                case("pow.Tensor_Scalar", self=T(2, dtype=a), exponent=number)
        for op in ("mean", "sum", "prod", "softmax.int", "sigmoid", "exp",
                   "sqrt", "cumsum", "logical_not", "amax", "argmax", "any"):
            more = {"dim": 0} if op in ("softmax.int", "cumsum") else {}
            case(op, self=T(2, 3, dtype=a), **more)
        case("sum.dim_IntList", self=T(2, 3, dtype=a), dim=[1], dtype=torch.float64)
        case("zeros_like", self=T(2, dtype=a))
        case("new_zeros", self=T(2, dtype=a), size=[3])
        case("_to_copy", self=T(2, dtype=a), dtype=torch.float16)
        case("where.self", condition=T(3, dtype="bool"), self=T(2, 3, dtype=a),
             other=T(1, 1))
    for a, b in [([2, 3], [3]), ([2, 1, 4], [3, 1]), ([2, 3], [2]), ([0, 3], [1]),
                 ([], [2, 2]), ([4, 1], [1, 5])]:
        for op in ("add.Tensor", "sub.Tensor", "maximum", "lt.Tensor",
                   "add_.Tensor", "masked_fill.Scalar"):
            if op == "masked_fill.Scalar":
                case(op, self=T(*a), mask=T(*b, dtype="bool"), value=0.0)
            else:
                case(op, self=T(*a), other=T(*b))
    case("div.Tensor_mode", self=T(2, dtype="int64"), other=T(2, dtype="int64"),
         rounding_mode="floor")
    case("clamp", self=T(2, 2), min=0.0, max=6.0)
    case("addcmul", self=T(2, 2), tensor1=T(2), tensor2=T(2, 1))
    case("lerp.Scalar", self=T(2, 2), end=T(2), weight=0.5)
    for op in ("relu", "relu_", "hardtanh", "hardswish", "hardsigmoid", "silu",
               "gelu", "elu", "leaky_relu", "mish", "tanh", "abs", "neg", "clone",
               "detach", "square", "floor", "tril"):
        case(op, self=T(2, 3))
    case("dropout", input=T(2, 3), p=0.5, train=True)
    case("glu", self=T(2, 6), dim=1)
    case("glu", self=T(2, 3), dim=1)


def windows():
    x, w = T(2, 6, 13, 11), T(8, 6, 3, 3)
    for stride, padding, dilation in itertools.product((1, 2, 3), (0, 1), (1, 2)):
        case("conv2d", input=x, weight=w, bias=T(8), stride=[stride, stride],
             padding=[padding, padding], dilation=[dilation, dilation])
        case("conv_transpose2d.input", input=T(2, 8, 5, 4), weight=w,
             stride=[stride, stride], padding=[padding, padding],
             dilation=[dilation, dilation])
        for ceil in (False, True):
            for kernel in (2, 3):
                case("max_pool2d", self=x, kernel_size=[kernel, kernel],
                     stride=[stride, stride], padding=[padding, padding],
                     dilation=[dilation, dilation], ceil_mode=ceil)
            case("avg_pool2d", self=x, kernel_size=[3, 3],
                 stride=[stride, stride], padding=[padding, padding],
                 ceil_mode=ceil)
    case("conv2d", input=x, weight=T(12, 2, 3, 5), groups=3)
    case("conv2d", input=x, weight=T(12, 3, 3, 5))
    case("conv2d", input=T(6, 13, 11), weight=w)
    case("conv2d", input=T(2, 6, 2, 2), weight=w)
    case("conv2d.padding", input=x, weight=T(8, 6, 4, 3), padding="same")
    case("conv2d.padding", input=x, weight=w, padding="valid")
    case("conv1d", input=T(2, 6, 9), weight=T(4, 6, 3), stride=[2])
    case("conv3d", input=T(2, 6, 9, 8, 7), weight=T(4, 6, 3, 3, 3))
    case("convolution", input=x, weight=w, bias=None, stride=[2, 1],
         padding=[1, 1], dilation=[1, 1], transposed=False,
         output_padding=[0, 0], groups=1)
    case("max_pool2d", self=x, kernel_size=[2, 2])
    case("max_pool2d_with_indices", self=x, kernel_size=[2], stride=[])
    case("max_pool1d", self=T(2, 3, 9), kernel_size=[2])
    case("max_pool2d", self=x, kernel_size=[20, 20])
    case("adaptive_avg_pool2d", self=x, output_size=[1, 1])
    case("adaptive_avg_pool2d", self=x, output_size=[7, 3])
    case("adaptive_avg_pool1d", self=T(2, 3, 9), output_size=[2])
    case("adaptive_max_pool2d", self=x, output_size=[2, 2])
    case("upsample_nearest2d.vec", input=x, output_size=None,
         scale_factors=[2.0, 2.0])
    case("upsample_bilinear2d.vec", input=x, output_size=[20, 30],
         align_corners=False, scale_factors=None)
    case("constant_pad_nd", self=x, pad=[1, 2, 3, 4])
    case("constant_pad_nd", self=x, pad=[-1, -2])
    case("reflection_pad2d", self=x, padding=[1, 2, 3, 4])
    case("pixel_shuffle", self=T(2, 8, 3, 3), upscale_factor=2)
    case("pixel_unshuffle", self=T(2, 2, 4, 6), downscale_factor=2)
    case("channel_shuffle", self=T(2, 8, 3, 3), groups=2)


def normalisation():
    for channels in (6, 5):
        case("batch_norm", input=T(2, 6, 3, 3), weight=T(channels), bias=T(channels),
             running_mean=T(channels), running_var=T(channels), training=True,
             momentum=0.1, eps=1e-5, cudnn_enabled=False)
    case("group_norm", input=T(2, 6, 3, 3), num_groups=3)
    case("group_norm", input=T(2, 6, 3, 3), num_groups=4)
    case("layer_norm", input=T(2, 3, 4), normalized_shape=[3, 4])
    case("layer_norm", input=T(2, 3, 4), normalized_shape=[3])
    case("native_layer_norm", input=T(2, 3, 4), normalized_shape=[4],
         weight=None, bias=None, eps=1e-5)
    case("native_group_norm", input=T(2, 6, 3), weight=None, bias=None, N=2, C=6,
         HxW=3, group=3, eps=1e-5)
    case("native_batch_norm", input=T(2, 6, 3), weight=None, bias=None,
         running_mean=None, running_var=None, training=True, momentum=0.1, eps=1e-5)
    case("instance_norm", input=T(2, 6, 3, 3), weight=None, bias=None,
         running_mean=None, running_var=None, use_input_stats=True, momentum=0.1,
         eps=1e-5, cudnn_enabled=False)


def reductions():
    for dims, keep in itertools.product(([1], [-1], [0, 2], [-1, -2]), (False, True)):
        for op in ("mean.dim", "sum.dim_IntList", "amax", "amin", "logsumexp",
                   "linalg_vector_norm"):
            case(op, self=T(2, 3, 4), dim=dims, keepdim=keep)
        case("var.correction", self=T(2, 3, 4), dim=dims, correction=1, keepdim=keep)
        case("var_mean.correction", self=T(2, 3, 4), dim=dims, correction=0,
             keepdim=keep)
    case("mean.dim", self=T(2, 3), dim=[2])
    for dim in (0, -1):
        case("max.dim", self=T(2, 3, 4), dim=dim)
        case("argmax", self=T(2, 3, 4), dim=dim, keepdim=True)
        case("topk", self=T(4, 4), k=2, dim=dim)
        case("sort", self=T(4, 3), dim=dim)
    case("topk", self=T(4, 4), k=5)
    case("max", self=T(2, 3))
    case("max.other", self=T(2, 3), other=T(3))
    case("all", self=T(2, 3, dtype="bool"))
    case("any.dim", self=T(2, 3, dtype="bool"), dim=1)
    for reduction in (0, 1, 2):
        case("mse_loss", self=T(2, 3), target=T(2, 3), reduction=reduction)
        case("cross_entropy_loss", self=T(2, 5, 3), target=index(2, 3),
             reduction=reduction)


def views():
    x = T(2, 3, 4)
    for size in ([6, 4], [-1], [2, -1, 2, 2], [5, -1], [-1, -1], [24, 1], [7]):
        case("view", self=x, size=size)
        case("reshape", self=x, shape=size)
    for a, b in [(0, -1), (1, -1), (1, 2), (0, 1), (2, 1)]:
        case("flatten.using_ints", self=x, start_dim=a, end_dim=b)
        case("transpose.int", self=x, dim0=a, dim1=b)
    case("flatten.using_ints", self=T())
    case("unflatten.int", self=x, dim=-1, sizes=[2, -1])
    for dims in ([2, 0, 1], [0, -1, 1], [0, 1], [0, 0, 1]):
        case("permute", self=x, dims=dims)
    for size in ([2, 3, 4], [5, 2, 3, 4], [-1, 3, 4], [2, 3, 5], [-1, 2, 3, 4]):
        case("expand", self=x, size=size)
    case("expand", self=T(1, 3, 1), size=[4, -1, 7])
    for dim in (0, 1, -1, 3, -4, 4):
        case("unsqueeze", self=x, dim=dim)
        case("squeeze.dim", self=T(1, 3, 1), dim=dim)
    case("squeeze", self=T(1, 3, 1))
    case("t", self=T(2, 3))
    case("numpy_T", self=x)
    case("movedim.intlist", self=T(2, 3, 4, 5), source=[0, 1], destination=[2, -1])
    case("movedim.int", self=x, source=0, destination=-1)
    case("unfold", self=T(2, 9), dimension=1, size=3, step=2)


def parts():
    x = T(5, 7)
    for start, end, step in [(None, None, 1), (1, None, 1), (-3, -1, 1), (0, 99, 2),
                             (4, 2, 1), (1, 2**63 - 1, 3), (-99, 3, 1)]:
        case("slice.Tensor", self=x, dim=1, start=start, end=end, step=step)
    for dim, at in [(0, 0), (1, -1), (-1, 6), (1, 7), (0, -6)]:
        case("select.int", self=x, dim=dim, index=at)
    for count in (1, 2, 3, 4, 7, 9):
        case("chunk", self=x, chunks=count, dim=1)
        case("split.Tensor", self=x, split_size=count, dim=1)
        case("tensor_split.sections", self=x, sections=count, dim=1)
    case("split_with_sizes", self=x, split_sizes=[1, 2, 4], dim=1)
    case("split_with_sizes", self=x, split_sizes=[1, 2], dim=1)
    case("unbind.int", self=x)
    case("narrow", self=x, dim=1, start=2, length=3)
    case("cat", tensors=[T(2, 3), T(4, 3)])
    case("cat", tensors=[T(2, 3), T(2, 5, dtype="int64")], dim=-1)
    case("cat", tensors=[T(2, 3), T(3, 2)])
    case("cat", tensors=[T(0), T(3, 2)])
    case("stack", tensors=[T(2, 3), T(2, 3), T(2, 3)], dim=-1)
    case("stack", tensors=[T(2, 3), T(2, 4)])
    case("repeat", self=x, repeats=[2, 1, 3])
    case("tile", self=T(2, 3, 4), dims=[2])
    case("repeat_interleave.self_int", self=x, repeats=3)
    case("repeat_interleave.self_int", self=x, repeats=3, dim=1)
    case("roll", self=x, shifts=[1], dims=[0])
    case("flip", self=x, dims=[0])


def products():
    case("linear", input=T(2, 5, 3), weight=T(4, 3), bias=T(4))
    case("linear", input=T(3), weight=T(4, 3))
    case("linear", input=T(2, 5), weight=T(4, 3))
    for a, b in [([3], [3]), ([2, 3], [3]), ([3], [3, 4]), ([2, 3], [3, 4]),
                 ([5, 2, 3], [3, 4]), ([5, 2, 3], [5, 3, 4]), ([5, 1, 2, 3], [6, 3, 4]),
                 ([2, 3], [2, 3]), ([5, 2, 3], [3]), ([4, 2, 3], [5, 3, 4])]:
        case("matmul", self=T(*a), other=T(*b))
    case("mm", self=T(2, 3), mat2=T(3, 4))
    case("bmm", self=T(5, 2, 3), mat2=T(5, 3, 4))
    case("addmm", self=T(4), mat1=T(2, 3), mat2=T(3, 4))
    case("baddbmm", self=T(1), batch1=T(5, 2, 3), batch2=T(5, 3, 4))
    case("outer", self=T(3), vec2=T(4))
    case("bilinear", input1=T(2, 3), input2=T(2, 4), weight=T(5, 3, 4))
    for equation, shapes in [("bhid,bhjd->bhij", ([2, 3, 4, 5], [2, 3, 6, 5])),
                             ("ij,jk", ([2, 3], [3, 4])), ("ii->i", ([3, 3],)),
                             ("bij -> bji", ([2, 3, 4],)), ("ij,jk->ik", ([2, 3], [4, 5]))]:
        case("einsum", equation=equation, tensors=[T(*s) for s in shapes])


def lookups():
    case("embedding", weight=T(9, 4), indices=index(2, 3))
    case("one_hot", self=index(2, 3), num_classes=5)
    case("gather", self=T(4, 5), dim=1, index=index(4, 2))
    case("index_select", self=T(4, 5), dim=1, index=index(7))
    for places in ([index(3)], [index(3), index(3)], [None, index(2, 3)],
                   [index(3), None, index(3)], [None, index(3), index(1)]):
        case("index.Tensor", self=T(4, 5, 6), indices=places)
    for layers, both, first in itertools.product((1, 2), (False, True), (False, True)):
        ways = 2 if both else 1
        state = T(layers * ways, 3, 6)
        for kind, gates in (("lstm", 4), ("gru", 3)):
            params = []
            for layer in range(layers):
                inner = 5 if layer == 0 else 6 * ways
                for _ in range(ways):
                    params += [T(6 * gates, inner), T(6 * gates, 6), T(6 * gates),
                               T(6 * gates)]
            case(f"{kind}.input", input=T(3, 7, 5) if first else T(7, 3, 5),
                 hx=[state, state] if kind == "lstm" else state, params=params,
                 has_biases=True, num_layers=layers, dropout=0.0, train=False,
                 bidirectional=both, batch_first=first)


def creation():
    case("zeros", size=[2, 3])
    case("ones", size=[2], dtype=torch.int64)
    case("full", size=[2], fill_value=1)
    case("full", size=[2], fill_value=1.5)
    case("full_like", self=T(2, dtype="int64"), fill_value=1.5)
    case("new_full", self=T(2, dtype="int64"), size=[3], fill_value=1.5)
    case("arange", end=7)
    case("arange", end=7.5)
    case("arange.start", start=2, end=7, dtype=torch.float32)
    case("arange.start_step", start=10, end=0, step=-3)
    case("arange.start_step", start=0, end=10, step=-3)
    case("linspace", start=0.0, end=1.0, steps=5)
    case("eye", n=3)
    case("scalar_tensor", s=2.0)
    case("meshgrid.indexing", tensors=[T(2), T(3)], indexing="ij")
    case("meshgrid.indexing", tensors=[T(2), T(3)], indexing="xy")


def main():
    warnings.filterwarnings("ignore")
    for part in (elementwise, windows, normalisation, reductions, views, parts,
                 products, lookups, creation):
        part()
    OUT.parent.mkdir(parents=True, exist_ok=True)
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in CASES)
    OUT.write_text(f'{{"torch":"{torch.__version__}","cases":[\n{lines}\n]}}\n')
    refused = sum("refused" in c for c in CASES)
    print(f"{len(CASES)} cases, {refused} of them refused")


main()
