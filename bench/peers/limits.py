"""What the machine can do at most, and how long each configuration's arithmetic
takes at that speed."""
import json
import subprocess

import processes


def measure(program):
    """FP32 peak and memory bandwidth on one core and on all (limits.cpp)."""
    done = subprocess.run([program, str(processes.cores())], check=True,
                          capture_output=True, text=True)
    return json.loads(done.stdout)


def gpt_macs(network, d=128, blocks=4):
    """A token meets 12 d^2 weights a block and the table of the head; causal
    attention looks at half of the window on average, twice."""
    t, v = network["context"], network["vocabulary"]
    token = blocks * (12 * d * d + 2 * d * (t + 1) / 2) + d * v
    return t * token, 0


def cnn_macs(network, filters=32):
    side = network["image_size"] - 2
    first = side * side * filters * 9 * network["channels"]
    return first + (side // 2) ** 2 * filters * network["classes"], first


def mlp_macs(network):
    ends = [network["channels"], *network["widths"], network["classes"]]
    each = [a * b for a, b in zip(ends, ends[1:])]
    return sum(each), each[0]


def shown_macs(temper, network):
    """What `temper model show` counts, for the networks it can be told."""
    flags = []
    for option, flag in (("classes", "--classes"), ("width", "--width"),
                         ("stem", "--stem"), ("image_size", "--image-size")):
        if option in network:
            flags += [flag, str(network[option])]
    done = subprocess.run(
        [temper, "model", "show", network["name"], *flags, "--batch", "1", "--nodes",
         "--json"], check=True, capture_output=True, text=True)
    macs = [each["macs"] for each in json.loads(done.stdout)["nodes"] if each.get("macs")]
    return sum(macs), macs[0]


def flops(temper, network, batch):
    """Of a training step: forward, gradient of the weights and of the inputs
    cost the same; the first layer's input, the data, needs no gradient.
    Arithmetic as it is written down: Winograd's needs fewer."""
    name = network["name"]
    if name == "gpt_tiny":
        macs, first = gpt_macs(network)
    elif name == "cnn":
        macs, first = cnn_macs(network)
    elif name == "mlp":
        macs, first = mlp_macs(network)
    else:
        macs, first = shown_macs(temper, network)
    return 2.0 * batch * (3 * macs - first)


def roof_seconds(limits, step_flops):
    return step_flops / (limits["gflops"] * 1e9)
