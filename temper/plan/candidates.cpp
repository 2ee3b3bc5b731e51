#include "temper/plan/candidates.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/machine/startup.h"

namespace temper::plan {
namespace {

using machine::DeviceKind;
using machine::Machine;

bool is_mps(const std::string& device) {
  return machine::device_kind(device) == DeviceKind::mps;
}

bool has_feature(const Machine& machine, const char* name) {
  const auto& features = machine.cpu.features;
  return std::find(features.begin(), features.end(), name) != features.end();
}

// 3 of "Apple M3 Max"; 0 when it is not told, as in a virtual machine.
int apple_generation(const Machine& machine) {
  std::vector<std::string> names{machine.cpu.model};
  for (const auto& gpu : machine.gpus)
    names.push_back(gpu.model);
  for (const std::string& name : names) {
    constexpr std::string_view kFront = "Apple M";
    if (!name.starts_with(kFront)) continue;
    const auto version = parse_version(name.substr(kFront.size()));
    if (version) return version->major;
  }
  return 0;
}

Version torch_version(const Machine& machine) {
  return parse_version(machine.libtorch.version).value_or(Version{});
}

// Empty: the layout may be tried. Gradients of convolutions and BatchNorm are
// wrong there in some versions, and not fixed in any that is known
// (pytorch#140902, #174269, #175251).
std::string layout_trouble(const std::string& device, Layout layout) {
  if (layout == Layout::channels_last && is_mps(device))
    return "gives wrong gradients on MPS (pytorch#174269)";
  return "";
}

std::string mps_trouble(const Machine& machine, Precision precision) {
  const Version torch = torch_version(machine);
  const std::string has = cat("this is ", machine.libtorch.version);
  // Before 2.5 autocast on MPS is accepted and does nothing.
  if (precision == Precision::fp16)
    return torch < Version{2, 5, 0}
        ? cat("needs LibTorch 2.5 or newer on MPS, ", has)
        : "";
  if (torch < Version{2, 6, 0})
    return cat("needs LibTorch 2.6 or newer on MPS, ", has);
  const auto system = parse_version(machine.platform.version);
  if (machine.platform.os == "macos" && system && *system < Version{14, 0, 0})
    return cat("needs macOS 14 or newer, this is ", machine.platform.version);
  const int generation = apple_generation(machine);
  if (generation == 1 || generation == 2)
    return cat("is emulated on an M", generation, " (native from M3 on)");
  return "";
}

// Empty: the precision can be had on that device.
std::string precision_trouble(
    const Machine& machine,
    const std::string& device,
    Precision precision) {
  if (precision == Precision::fp32) return "";
  if (is_mps(device)) return mps_trouble(machine, precision);
  if (machine::is_sim(device)) return "is nothing the simulated device has";
  if (machine::is_cpu(device) && precision == Precision::fp16)
    return "is not for training on a CPU: autocast there has bf16 only";
  return "";
}

// The reason why a precision that can be had is not worth the time unless asked
// for.
std::string precision_doubt(
    const Machine& machine,
    const std::string& device,
    Precision precision) {
  if (!machine::is_cpu(device) || precision != Precision::bf16) return "";
  for (const char* fast : {"amx_bf16", "avx512_bf16", "bf16", "svebf16"})
    if (has_feature(machine, fast)) return "";
  return "is slower than fp32: this processor has no bf16 instructions";
}

// The first of each kind that works: several GPUs of one machine are alike.
std::vector<std::string> devices_for(
    const std::vector<machine::DeviceReport>& devices,
    const Requests& asked,
    std::vector<RuledOut>& ruled_out) {
  if (!asked.any_device())
    return {machine::choose_device(asked.device, devices)};
  std::vector<std::string> names;
  std::vector<std::string> kinds;
  for (const auto& each : devices) {
    const std::string kind = each.device.substr(0, each.device.find(':'));
    if (!each.works && !machine::is_cpu(each.device)) {
      ruled_out.push_back({each.device, cat("does not work: ", each.why_not)});
      continue;
    }
    if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
    kinds.push_back(kind);
    names.push_back(each.device);
  }
  if (std::find(names.begin(), names.end(), "cpu") == names.end())
    names.emplace_back("cpu");
  return names;
}

// The performance cores first: every operator waits for its slowest thread.
// One thread is best for models that are smaller than the cost of sharing.
std::vector<int> threads_for(
    const machine::Cpu& cpu,
    const std::string& device,
    std::optional<int> asked) {
  if (asked) return {*asked};
  const int fast = machine::fast_threads(cpu);
  if (!machine::is_cpu(device)) return {fast};
  const int usable = std::max(1, static_cast<int>(cpu.usable));
  std::vector<int> counts{fast};
  for (const int more : {std::min(cpu.physical, usable), 1})
    if (more > 0 &&
        std::find(counts.begin(), counts.end(), more) == counts.end())
      counts.push_back(more);
  return counts;
}

constexpr Layout kLayouts[] = {Layout::contiguous, Layout::channels_last};
constexpr Precision kPrecisions[] = {
    Precision::fp32,
    Precision::bf16,
    Precision::fp16};

// The choice that is asked for, or all there are.
template <class Enum, std::size_t N>
std::vector<Enum> choices(std::optional<Enum> asked, const Enum (&all)[N]) {
  if (asked) return {*asked};
  return {std::begin(all), std::end(all)};
}

[[noreturn]] void refuse_requests(
    const Machine& machine,
    const std::vector<std::string>& devices,
    const Requests& asked) {
  std::vector<std::string> reasons;
  std::vector<std::string> instead;
  for (const std::string& device : devices) {
    std::vector<std::string> precisions;
    for (const Precision precision : kPrecisions)
      if (precision_trouble(machine, device, precision).empty())
        precisions.emplace_back(to_text(precision));
    if (asked.precision) {
      const auto why = precision_trouble(machine, device, *asked.precision);
      if (!why.empty()) {
        reasons.push_back(cat(to_text(*asked.precision), " ", why));
        instead.push_back(
            cat("precision ", join(precisions, " or "), " on ", device));
        continue;
      }
    }
    const Layout layout = asked.layout.value_or(Layout::channels_last);
    reasons.push_back(
        cat(to_text(layout), " ", layout_trouble(device, layout)));
    instead.push_back(cat("layout contiguous on ", device));
  }
  std::string hint = cat("Possible here: ", join(instead, "; "));
  if (asked.layout == Layout::channels_last && !asked.any_device())
    hint += "; layout channels_last on cpu";
  throw Error(
      cat("[plan] what is asked for cannot be had on ",
          join(devices, ", "),
          ": ",
          join(reasons, "; "),
          "."),
      hint + ".");
}

// Which to try first when time is short: the GPU, then the CPU's fast cores
// with temper's kernels; half precision after full, one thread last.
int promise(const Setting& setting, int fast) {
  int rank = setting.on_cpu() ? 1 : 0;
  if (setting.on_cpu() && setting.kernels == Kernels::stock)
    rank += setting.layout == Layout::contiguous ? 2 : 1;
  if (setting.precision != Precision::fp32) rank += 4;
  if (setting.threads != fast) rank += setting.threads == 1 ? 16 : 8;
  return rank;
}

// Settings of one device and precision: temper's kernels in the layout they
// compute in, unless LibTorch's are asked for, and LibTorch's in every layout,
// unless temper's are.
std::vector<std::pair<Kernels, Layout>> ways(
    const std::string& device,
    Precision precision,
    const std::vector<Layout>& layouts,
    const Requests& asked,
    const ModelTraits& model) {
  std::vector<std::pair<Kernels, Layout>> found;
  if (model.fusable && machine::is_cpu(device) &&
      precision == Precision::fp32 && asked.kernels != Kernels::stock &&
      !layouts.empty())
    found.emplace_back(Kernels::fused, layouts.back());
  if (!found.empty() && asked.kernels == Kernels::fused) return found;
  for (const Layout layout : layouts)
    found.emplace_back(Kernels::stock, layout);
  return found;
}

// Temper's kernels, where they fit. Of a GPU and of LibTorch's layouts nobody
// knows before they are measured.
std::optional<Setting> likely_fastest(const Candidates& found, int threads) {
  for (const Setting& each : found.settings)
    if (each.kernels == Kernels::fused && each.threads == threads) return each;
  return std::nullopt;
}

} // namespace

Requests requests_of(const config::Config& config) {
  Requests asked;
  asked.device = config.device;
  asked.layout = config::layout_of(config);
  asked.kernels = config::kernels_of(config);
  asked.precision = config::precision_of(config);
  if (config.threads) asked.threads = static_cast<int>(*config.threads);
  return asked;
}

Candidates find_candidates(
    const Machine& machine,
    const std::vector<machine::DeviceReport>& devices,
    const Requests& asked,
    const ModelTraits& model) {
  Candidates found;
  found.asked = asked;
  const auto names = devices_for(devices, asked, found.ruled_out);
  const int fast = machine::fast_threads(machine.cpu);
  const auto rule_out = [&](const std::string& device,
                            const std::string& what,
                            const std::string& why) {
    found.ruled_out.push_back({cat(device, ", ", what), cat(what, " ", why)});
  };
  for (const std::string& device : names) {
    std::vector<Layout> layouts;
    for (const Layout layout : choices(asked.layout, kLayouts)) {
      // Without images there are no channels to put last.
      if (!model.images && !asked.layout && layout != Layout::contiguous)
        continue;
      const auto why = layout_trouble(device, layout);
      if (why.empty())
        layouts.push_back(layout);
      else
        rule_out(device, to_text(layout), why);
    }
    for (const Precision precision : choices(asked.precision, kPrecisions)) {
      auto why = precision_trouble(machine, device, precision);
      if (why.empty() && !asked.precision)
        why = precision_doubt(machine, device, precision);
      if (!why.empty()) {
        rule_out(device, to_text(precision), why);
        continue;
      }
      // Half precision is about the arithmetic: fewer combinations are enough.
      auto threads = threads_for(machine.cpu, device, asked.threads);
      if (precision != Precision::fp32 && !asked.precision) threads.resize(1);
      for (const auto& [kernels, layout] :
           ways(device, precision, layouts, asked, model))
        for (const int count : threads)
          found.settings.push_back({device, layout, count, precision, kernels});
    }
  }
  if (found.settings.empty()) refuse_requests(machine, names, asked);
  std::stable_sort(
      found.settings.begin(),
      found.settings.end(),
      [&](const Setting& a, const Setting& b) {
        return promise(a, fast) < promise(b, fast);
      });
  // Simplest of all, and with the fast cores: nobody measured that one is best.
  found.fallback = *std::min_element(
      found.settings.begin(),
      found.settings.end(),
      [&](const Setting& a, const Setting& b) {
        Setting left = a;
        Setting right = b;
        left.threads = a.threads == fast ? 0 : a.threads;
        right.threads = b.threads == fast ? 0 : b.threads;
        return simpler(left, right);
      });
  found.prior = likely_fastest(found, asked.threads.value_or(fast));
  return found;
}

} // namespace temper::plan
