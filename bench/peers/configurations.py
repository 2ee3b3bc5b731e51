"""What `make bench` measures: each configuration, once for temper and for its
peers. A network is told in the words of reference/zoo.py, from which temper's
flags follow too, so that both sides train the same one."""
import dataclasses


@dataclasses.dataclass(frozen=True)
class Step:
    """A training step on made-up batches."""

    key: str
    network: dict  # as reference/zoo.py takes it
    batch: int
    optimizer: str  # sgd: with momentum; adamw
    group: int  # steps timed as one, and between two lines of the journal
    # .pt2 rows: "export", what `temper export` writes, or a file of PyTorch's
    # own; they are compared with the zoo's network instead of Python's.
    file: str = ""


MOBILENET = {"name": "mobilenet_v2", "classes": 10}
RESNET = {"name": "resnet18", "classes": 10, "image_size": 32}
CIFAR_RESNET = {**RESNET, "stem": "cifar"}
VIT = {"name": "vit_tiny", "classes": 10, "image_size": 32}
GPT = {"name": "gpt_tiny", "context": 128, "vocabulary": 256}
CONV = {"name": "cnn", "classes": 10, "image_size": 256, "channels": 3}
MLP = {"name": "mlp", "classes": 10, "image_size": 1, "channels": 256, "widths": [512]}
MOBILENET_32 = {**MOBILENET, "image_size": 32}
THIN_MOBILENET = {**MOBILENET_32, "width": 0.25, "dropout": 0.0}

STEPS = [
    Step("mobilenet_v2-32-b128", MOBILENET_32, 128, "sgd", 4),
    Step("mobilenet_v2-96-b32", {**MOBILENET, "image_size": 96}, 32, "sgd", 3),
    Step("mobilenet_v2-224-b16", {**MOBILENET, "image_size": 224}, 16, "sgd", 1),
    Step("resnet18-32-b128", RESNET, 128, "sgd", 2),
    Step("resnet18-cifar-b128", CIFAR_RESNET, 128, "sgd", 1),
    Step("conv-256-b32", CONV, 32, "sgd", 2),
    Step("mlp-256-512-10-b32", MLP, 32, "sgd", 200),
    Step("vit_tiny-32-b128", VIT, 128, "adamw", 1),
    Step("gpt_tiny-b32", GPT, 32, "adamw", 2),
    Step("mobilenet_v2-32-b128-pt2", MOBILENET_32, 128, "sgd", 4, "export"),
    Step("resnet18-32-b128-pt2", RESNET, 128, "sgd", 2, "export"),
    Step("gpt_tiny-b32-pt2", GPT, 32, "adamw", 2, "export"),
    Step("mobilenet_v2-w025-32-b128-pt2", THIN_MOBILENET, 128, "sgd", 10,
         "pt2/mobilenet_v2_w025.pt2"),
]

# Whole runs and epochs with the loader; whole.py knows each.
WHOLE = ["m1-benchmark", "epoch-cifar10-mobilenet", "epoch-fashion-cnn"]

PEERS = ["python-nchw", "python-channels_last", "python-tuned"]


def keys():
    return [each.key for each in STEPS] + WHOLE


def chosen(only):
    """The keys of BENCH_ONLY, in the order of the tables; all if it is empty."""
    wanted = [each.strip() for each in only.split(",") if each.strip()]
    unknown = [each for each in wanted if each not in keys()]
    if unknown:
        raise SystemExit(f"bench: there is no {unknown[0]}; there are {', '.join(keys())}.")
    return [key for key in keys() if not wanted or key in wanted]


def has_images(network):
    return network["name"] not in ("gpt_tiny", "mlp")


def source(network, samples):
    """temper's made-up data for it."""
    if network["name"] == "gpt_tiny":
        tokens = samples * network["context"]
        return (f"synthetic:tokens={tokens},vocabulary={network['vocabulary']}"
                f",sequence={network['context']}")
    if network["name"] == "mlp":
        return (f"synthetic:rows={samples},features={network['channels']}"
                f",classes={network['classes']}")
    return (f"synthetic:images={samples},size={network['image_size']}"
            f",channels={network.get('channels', 3)},classes={network['classes']}")


def model_keys(network, model=""):
    """temper's keys of the network; `model`: a file instead of the zoo."""
    if model:
        return [f"model.name={model}"]
    made = [f"model.name={network['name']}"]
    for option in ("stem", "width", "widths", "dropout"):
        if option in network:
            made.append(f"model.{option}={network[option]}")
    return made


def optimizer_keys(name):
    if name == "sgd":
        return ["optimizer.name=sgd", "optimizer.lr=0.01", "optimizer.momentum=0.9",
                "optimizer.weight_decay=0"]
    return ["optimizer.name=adamw", "optimizer.lr=0.001", "optimizer.weight_decay=0.01"]
