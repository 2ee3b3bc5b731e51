#include "temper/doctor/known_bad.h"

namespace temper::doctor {
namespace {

using machine::Machine;

bool chip_is_m1_or_m2(const PythonReport&, const Machine& machine) {
  return machine.cpu.model.starts_with("Apple M1") ||
      machine.cpu.model.starts_with("Apple M2");
}

bool chip_is_m5(const PythonReport&, const Machine& machine) {
  return machine.cpu.model.starts_with("Apple M5");
}

bool python_is_translated(const PythonReport& report, const Machine&) {
  return report.translated || report.architecture == "x86_64";
}

} // namespace

// A fault that needs something particular to show, say a layout or a size, is
// a warning even where the numbers are wrong: most runs never meet it.
const std::vector<KnownBad>& known_bad_table() {
  static const std::vector<KnownBad> table{
      {.name = "NumPy 2",
       .package = "torch",
       .versions = {.below = {2, 3, 0}},
       .beside = "numpy",
       .beside_versions = {.from = {2, 0, 0}},
       .verdict = Verdict::bad,
       .sentence =
           "built for NumPy 1; tensors cannot be exchanged with NumPy 2",
       .advice = "pip install 'numpy<2', or torch 2.3 or newer.",
       .source = "pytorch#107302"},

      // MPS, oldest first.
      {.name = "MPS memory limit",
       .package = "torch",
       .versions = {.from = {1, 13, 0}, .below = {2, 0, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "sets no limit on MPS memory; the Mac swaps or stalls "
                   "before an allocation fails",
       .advice = "Set PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.0 in the environment, "
                 "or upgrade to torch 2.",
       .source = "pytorch#105839"},
      {.name = "MPS LSTM",
       .package = "torch",
       .versions = {.below = {2, 0, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "LSTM layers train wrongly on MPS",
       .advice = "Upgrade to torch 2, or train LSTMs on the CPU.",
       .source = "pytorch#92615"},
      {.name = "MPS assignment",
       .package = "torch",
       .versions = {.from = {2, 2, 0}, .below = {2, 2, 2}},
       .apple = true,
       .macos = {.from = {14, 4, 0}},
       .verdict = Verdict::bad,
       .sentence = "assigning to elements of an MPS tensor writes to the wrong "
                   "place on macOS 14.4 and newer",
       .advice = "Upgrade to torch 2.2.2 or newer.",
       .source = "pytorch#122016"},
      {.name = "MPS optimizers",
       .package = "torch",
       .versions = {.below = {2, 4, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "Adam and its relatives update parameters wrongly on MPS "
                   "when these are not contiguous",
       .advice =
           "Upgrade to torch 2.4 or newer, or make parameters contiguous.",
       .source = "pytorch#118115"},
      {.name = "MPS autocast",
       .package = "torch",
       .versions = {.below = {2, 5, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "autocast has no effect on MPS and does not say so",
       .advice = "Upgrade to torch 2.5 or newer for mixed precision.",
       .source = "pytorch#88415"},
      {.name = "MPS bfloat16 autocast",
       .package = "torch",
       .versions = {.from = {2, 5, 0}, .below = {2, 6, 0}},
       .apple = true,
       .verdict = Verdict::note,
       .sentence = "autocast on MPS knows float16 only",
       .advice = "Upgrade to torch 2.6 or newer for bfloat16.",
       .source = "pytorch#139386"},
      {.name = "MPS bfloat16",
       .package = "torch",
       .apple = true,
       .macos = {.below = {14, 0, 0}},
       .verdict = Verdict::note,
       .sentence = "bfloat16 on MPS needs macOS 14",
       .advice = "Upgrade macOS, or use float16 or float32.",
       .source = "pytorch#139386"},
      {.name = "MPS macOS version",
       .package = "torch",
       .apple = true,
       .also = python_is_translated,
       .verdict = Verdict::warn,
       .sentence = "under Rosetta it takes macOS for an older one and refuses "
                   "what that one lacked",
       .advice = "Use an arm64 Python.",
       .source = "pytorch#146236"},
      {.name = "MPS GradScaler",
       .package = "torch",
       .versions = {.below = {2, 8, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "GradScaler fails on MPS: it asks for float64",
       .advice = "Upgrade to torch 2.8 or newer, or train without a scaler.",
       .source = "pytorch#142397"},
      {.name = "MPS linear layer",
       .package = "torch",
       .versions = {.from = {2, 8, 0}, .below = {2, 9, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "linear gives wrong results on MPS when its weight is not "
                   "contiguous",
       .advice = "Upgrade to torch 2.9 or newer, or make weights contiguous.",
       .source = "pytorch#161640"},
      {.name = "MPS matrix product",
       .package = "torch",
       .versions = {.from = {2, 7, 0}, .below = {2, 14, 0}},
       .apple = true,
       .also = chip_is_m1_or_m2,
       .verdict = Verdict::warn,
       .sentence = "products over more than 32,768 elements can be wrong on "
                   "M1 and M2",
       .advice = "Upgrade to torch 2.14 or newer.",
       .source = "pytorch#193487"},
      {.name = "MPS large batches",
       .package = "torch",
       .versions = {.from = {2, 12, 0}, .below = {2, 14, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "linear with a bias gives wrong results on MPS for 3-D "
                   "inputs with more than 65,536 items",
       .advice = "Upgrade to torch 2.14 or newer, or flatten the input to 2-D.",
       .source = "pytorch#189495"},
      {.name = "MPS graph cache",
       .package = "torch",
       .versions = {.below = {2, 13, 0}},
       .apple = true,
       .verdict = Verdict::note,
       .sentence = "empty_cache() leaves MPS's graph cache, which grows with "
                   "every new input shape",
       .advice =
           "Keep shapes the same (drop or pad the last batch), or upgrade "
           "to torch 2.13.",
       .source = "pytorch#164299"},
      {.name = "MPS convolution",
       .package = "torch",
       .versions = {.from = {2, 5, 0}, .below = {2, 15, 0}},
       .apple = true,
       .macos = {.from = {15, 0, 0}},
       .verdict = Verdict::note,
       .sentence = "conv2d gives wrong results on MPS when its weight is not "
                   "contiguous",
       .advice = "Make sliced or transposed weights contiguous.",
       .source = "pytorch#192212"},
      {.name = "MPS threads",
       .package = "torch",
       .versions = {.from = {2, 14, 0}, .below = {2, 16, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "two threads that use MPS at once crash the process",
       .advice = "Let one thread use the GPU; loaders make CPU tensors only.",
       .source = "pytorch#197805"},
      {.name = "MPS half precision",
       .package = "torch",
       .apple = true,
       .also = chip_is_m5,
       .verdict = Verdict::note,
       .sentence = "linear in float16 or bfloat16 without a bias has given "
                   "varying results on M5",
       .advice = "Compare with float32, or flatten the input to 2-D.",
       .source = "pytorch#180776"},
      {.name = "MPS non_blocking",
       .package = "torch",
       .apple = true,
       .verdict = Verdict::note,
       .sentence = "to('mps', non_blocking=True) can copy garbage",
       .advice = "Copy to MPS without non_blocking.",
       .source = "pytorch#139550"},

      // TensorFlow on Apple chips.
      {.name = "tensorflow-metal",
       .package = "tensorflow-metal",
       .versions = {.below = {1, 2, 0}},
       .beside = "tensorflow",
       .beside_versions = {.from = {2, 18, 0}},
       .apple = true,
       .verdict = Verdict::bad,
       .sentence = "does not load beside TensorFlow 2.18 or newer",
       .advice = "pip install -U tensorflow-metal, or tensorflow 2.17.",
       .source = "tensorflow#84167"},
      {.name = "tensorflow-metal",
       .package = "tensorflow-metal",
       .versions = {.from = {1, 2, 0}},
       .beside = "tensorflow",
       .beside_versions = {.from = {2, 21, 0}},
       .apple = true,
       .verdict = Verdict::bad,
       .sentence =
           "does not load beside TensorFlow 2.21; it has had no release "
           "since January 2025",
       .advice = "pip install 'tensorflow<2.19', or train with torch.",
       .source = "tensorflow#126384"},
      {.name = "tensorflow-metal results",
       .package = "tensorflow-metal",
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "the GPU has given other results than the CPU",
       .advice = "Check the first epochs against the CPU.",
       .source = "tensorflow#62361"},
      {.name = "tensorflow-metal memory",
       .package = "tensorflow-metal",
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "leaks memory while training",
       .advice = "Save often and restart the process every few epochs.",
       .source = "tensorflow#60616, tensorflow#62773"},
      {.name = "tensorflow-metal RNN",
       .package = "tensorflow-metal",
       .apple = true,
       .verdict = Verdict::note,
       .sentence = "recurrent layers are many times slower on the GPU than on "
                   "the CPU",
       .advice = "Train recurrent models on the CPU.",
       .source = "tensorflow#62397"},
      {.name = "Keras Adam",
       .package = "tensorflow-metal",
       .beside = "keras",
       .beside_versions = {.from = {2, 11, 0}, .below = {3, 0, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "the optimizers of Keras 2.11 and newer run up to 3 times "
                   "slower than the legacy ones",
       .advice = "Use tf.keras.optimizers.legacy.Adam.",
       .source = "tensorflow#59438"},
      {.name = "Keras AdamW",
       .package = "keras",
       .versions = {.from = {2, 12, 0}, .below = {2, 15, 0}},
       .apple = true,
       .verdict = Verdict::warn,
       .sentence = "AdamW fails on Apple chips",
       .advice = "Use Adam with weight_decay, or a newer Keras.",
       .source = "tensorflow#60652"},
  };
  return table;
}

std::string version_text(const PythonReport& report, std::string_view package) {
  const auto* found = report.package(package);
  if (found == nullptr) return "";
  // A torch built in place has a version only once it is imported.
  if (found->version.empty() && package == "torch") return report.torch.version;
  return found->version;
}

std::optional<Version> installed_version(
    const PythonReport& report,
    std::string_view package) {
  return parse_version(version_text(report, package));
}

bool applies(
    const KnownBad& entry,
    const PythonReport& report,
    const Machine& machine) {
  if (entry.apple && !machine.apple_silicon()) return false;
  const auto version = installed_version(report, entry.package);
  if (!version || !entry.versions.has(*version)) return false;
  if (entry.beside != nullptr) {
    const auto other = installed_version(report, entry.beside);
    if (!other || !entry.beside_versions.has(*other)) return false;
  }
  const bool any_macos =
      entry.macos.from == Version{} && entry.macos.below == kNoEnd;
  if (!any_macos) {
    const auto macos = parse_version(machine.platform.version);
    if (machine.platform.os != "macos" || !macos || !entry.macos.has(*macos))
      return false;
  }
  return entry.also == nullptr || entry.also(report, machine);
}

} // namespace temper::doctor
