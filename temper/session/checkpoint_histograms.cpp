#include "temper/session/checkpoint_histograms.h"

#include "temper/base/text.h"
#include "temper/train/metrics/histogram.h"
#include "temper/weights/safetensors.h"

namespace temper::session {

std::vector<track::Histogram> checkpoint_histograms(
    const std::filesystem::path& checkpoint) {
  const std::string weights = "model.";
  std::vector<track::Histogram> made;
  for (const auto& [name, tensor] :
       weights::read_safetensors(checkpoint / "state.safetensors")) {
    if (!name.starts_with(weights)) continue;
    const auto spread = train::histogram_of(tensor);
    if (!spread) continue;
    track::Histogram each;
    each.key = cat("weights/", name.substr(weights.size()));
    each.buckets =
        track::equal_buckets(spread->low, spread->high, spread->counts);
    made.push_back(std::move(each));
  }
  return made;
}

} // namespace temper::session
