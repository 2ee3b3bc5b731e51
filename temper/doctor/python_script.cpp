#include "temper/doctor/python_script.h"

namespace temper::doctor {

// The folder temper is run from is taken off the import path first: a stray
// json.py or torch.py in it must not run.
const char* const kPythonScript = R"PY(
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
import glob, importlib.util, json, os, platform, struct

MARK = "temper python " + "report"
real_stdout = os.dup(1)


def say(report):
    text = "\n<<<" + MARK + "\n" + json.dumps(report) + "\n" + MARK + ">>>\n"
    data = text.encode("ascii")
    while data:
        data = data[os.write(real_stdout, data):]


def line(error):
    text = str(error).strip().split("\n")[0]
    return (type(error).__name__ + ": " + text)[:1000]


MACHO = {0x01000007: "x86_64", 0x0100000C: "arm64", 7: "i386", 12: "arm"}
ELF = {3: "i386", 40: "arm", 62: "x86_64", 183: "aarch64", 243: "riscv64"}


def architectures(path):
    try:
        with open(path, "rb") as file:
            head = file.read(4096)
        magic = head[:4]
        if magic == b"\x7fELF":
            order = "<" if head[5] == 1 else ">"
            kinds = [ELF.get(struct.unpack_from(order + "H", head, 18)[0])]
        elif magic in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
            kinds = [MACHO.get(struct.unpack_from("<I", head, 4)[0])]
        elif magic in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"):
            size = 20 if magic[3] == 0xBE else 32
            count = min(struct.unpack_from(">I", head, 4)[0], 16)
            kinds = [MACHO.get(struct.unpack_from(">I", head, 8 + i * size)[0])
                     for i in range(count)]
        else:
            return []
        return sorted(set(kind for kind in kinds if kind))
    except (OSError, struct.error, IndexError):
        return []


# Name for pip, name to import, where its main shared library may be.
PACKAGES = [
    ("torch", "torch", ["lib/libtorch_cpu.*", "lib/libtorch.*", "_C*.so"]),
    ("torchvision", "torchvision", ["_C*.so", "image*.so"]),
    ("torchaudio", "torchaudio", ["lib/*torchaudio*.so", "_torchaudio*.so"]),
    ("tensorflow", "tensorflow",
     ["libtensorflow_framework*", "python/_pywrap_tensorflow*.so"]),
    ("tensorflow-macos", "tensorflow",
     ["libtensorflow_framework*", "python/_pywrap_tensorflow*.so"]),
    ("tensorflow-metal", "tensorflow",
     ["../tensorflow-plugins/libmetal_plugin*"]),
    ("keras", "keras", []),
    ("tf-keras", "tf_keras", []),
    ("numpy", "numpy",
     ["_core/_multiarray_umath*.so", "core/_multiarray_umath*.so"]),
    ("mlx", "mlx", ["lib/libmlx.*", "core*.so"]),
    ("mlflow", "mlflow", []),
    ("lightning", "lightning", []),
]


def version_by_name(name):
    # Python 3.6 and 3.7 have no importlib.metadata.
    stem = name.replace("-", "_").lower() + "-"
    for folder in sys.path:
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in entries:
            plain = entry.lower().replace("-", "_")
            if plain.startswith(stem.replace("-", "_")) and entry.endswith(
                    (".dist-info", ".egg-info")):
                rest = entry[len(stem):].rsplit(".", 1)[0]
                if rest[:1].isdigit():
                    return rest.split("-")[0]
    return ""


def version_of(name):
    try:
        from importlib import metadata
    except ImportError:
        return version_by_name(name)
    try:
        return metadata.version(name) or ""
    except Exception:
        return ""


def folder_of(module):
    try:
        spec = importlib.util.find_spec(module)
        places = list(spec.submodule_search_locations or []) if spec else []
        return places[0] if places else ""
    except Exception:
        return ""


def package(name, module, patterns):
    folder = folder_of(module)
    version = version_of(name)
    # One folder may belong to several packages: only the version tells them
    # apart. torch alone also counts without one, as when it was built in place.
    if not version and (name != "torch" or not folder):
        return None
    found = {"name": name, "version": version, "location": folder,
             "binary": "", "architectures": []}
    for pattern in patterns if folder else []:
        for path in sorted(glob.glob(os.path.join(glob.escape(folder), pattern))):
            kinds = architectures(path)
            if kinds:
                found.update(binary=path, architectures=kinds)
                return found
    return found


def translated():
    if sys.platform != "darwin":
        return False
    try:
        import ctypes
        value = ctypes.c_int(0)
        size = ctypes.c_size_t(ctypes.sizeof(value))
        libc = ctypes.CDLL(None)
        status = libc.sysctlbyname(b"sysctl.proc_translated",
                                   ctypes.byref(value), ctypes.byref(size),
                                   None, ctypes.c_size_t(0))
        return status == 0 and value.value == 1
    except Exception:
        return False


def packages():
    prefix = sys.prefix
    base = getattr(sys, "base_prefix", prefix)
    conda = os.path.isdir(os.path.join(prefix, "conda-meta"))
    say({
        "interpreter": sys.executable or "",
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "architecture": platform.machine(),
        "architectures": architectures(os.path.realpath(sys.executable or "")),
        "translated": translated(),
        "bits": struct.calcsize("P") * 8,
        "prefix": prefix,
        "virtual_environment": prefix if prefix != base else "",
        "conda": prefix if conda else "",
        "packages": [found for found in (package(*row) for row in PACKAGES)
                     if found],
    })


def trial(torch, device, result):
    try:
        square = torch.ones(64, 64, device=device)
        total = (square @ square).sum().item()
        result["usable"] = total == 64.0 ** 3
        if not result["usable"]:
            result["error"] = "a product of ones gave %r, not 262144" % total
    except Exception as error:
        result["error"] = line(error)
        return
    try:
        double = torch.ones(2, dtype=torch.float64, device=device)
        result["float64"] = (double + double).sum().item() == 4.0
    except Exception:
        pass


def torch_devices():
    report = {"step": "import", "imported": False}
    say(report)
    try:
        import torch
    except BaseException as error:
        report.update(step="done", error=line(error))
        say(report)
        return
    report.update(imported=True, version=str(torch.__version__))
    try:
        report["threads"] = int(torch.get_num_threads())
    except Exception:
        pass
    for name in ("cuda", "mps"):
        report["step"] = name
        result = report[name] = {}
        say(report)
        try:
            if name == "cuda":
                version = torch.version
                result["built"] = bool(version.cuda or
                                       getattr(version, "hip", None))
                result["available"] = bool(torch.cuda.is_available())
            else:
                backend = getattr(torch.backends, "mps", None)
                result["built"] = bool(backend and backend.is_built())
                result["available"] = bool(backend and backend.is_available())
        except Exception as error:
            result["error"] = line(error)
        say(report)
        if result.get("available"):
            trial(torch, name, result)
    report["step"] = "done"
    say(report)


(torch_devices if sys.argv[1:] == ["torch"] else packages)()
# Not through the interpreter's own shutdown: a crash there is not news.
os._exit(0)
)PY";

} // namespace temper::doctor
