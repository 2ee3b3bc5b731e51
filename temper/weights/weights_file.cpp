#include "temper/weights/weights_file.h"

#include <array>
#include <fstream>

#include "temper/base/error.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "temper/graph/pt2/pt2.h"
#include "temper/weights/pth.h"
#include "temper/weights/safetensors.h"

namespace temper::weights {
namespace {

namespace fs = std::filesystem;

constexpr const char* kState = "state.safetensors";

// The state file of a checkpoint, or of the newest in a run.
fs::path state_in(const fs::path& folder) {
  if (fs::exists(folder / kState)) return folder / kState;
  const fs::path checkpoints = folder / "checkpoints";
  if (const auto latest = read_small_file(checkpoints / "latest", 4096)) {
    const std::string name(trim(*latest));
    const bool plain = !name.empty() && name.front() != '.' &&
        !contains(name, "/") && name.find('\0') == std::string::npos;
    if (plain && fs::exists(checkpoints / name / kState))
      return checkpoints / name / kState;
  }
  throw Error(
      cat("[model] ",
          folder.string(),
          " is a folder without weights: it has neither ",
          kState,
          " nor checkpoints."),
      "Name a weights file, or a run's folder.");
}

bool begins_like_torch_save(const fs::path& path) {
  std::array<char, 4> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  const std::string_view text(begin.data(), begin.size());
  return text.starts_with("PK") || text.starts_with("\x80\x02\x8a\n");
}

// A checkpoint's tensors are "model.x", "optimizer.what.x" and "ema.x". Its
// weights are the averaged ones where there are some, else the model's.
graph::Weights model_part(const graph::Weights& state) {
  constexpr std::string_view kModel = "model.";
  constexpr std::string_view kAverage = "ema.";
  graph::Weights part;
  for (const std::string_view prefix : {kModel, kAverage})
    for (const auto& [name, tensor] : state)
      if (name.starts_with(prefix)) part[name.substr(prefix.size())] = tensor;
  return part.empty() ? state : part;
}

} // namespace

WeightsFile read_weights(const fs::path& path) {
  if (!fs::exists(path))
    throw Error(
        cat("[model] there is no ", path.string(), "."),
        "Weights are a .safetensors, .pth or .pt2 file, or a run's folder.");
  if (fs::is_directory(path)) {
    const fs::path state = state_in(path);
    return {model_part(read_safetensors(state)), state.string()};
  }
  if (lower(path.extension().string()) == ".pt2")
    return {graph::read_pt2(path).weights, path.string()};
  if (begins_like_torch_save(path)) {
    std::string wrapped_in;
    auto weights = read_pth(path, &wrapped_in);
    return {
        std::move(weights),
        wrapped_in.empty() ? path.string()
                           : cat(path.string(), " (its ", wrapped_in, ")")};
  }
  return {read_safetensors(path), path.string()};
}

} // namespace temper::weights
