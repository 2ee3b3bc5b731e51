#include "temper/data/loader/finite.h"

#include <cmath>
#include <span>

#include "temper/base/text.h"

namespace temper::data {
namespace {

std::string first_not_finite(const char* what, std::span<const float> numbers) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (std::isfinite(numbers[i])) continue;
    return cat(
        what,
        numbers.size() > 1 ? cat(" ", i + 1, " of ", numbers.size()) : "",
        std::isnan(numbers[i]) ? " is NaN" : " is infinite");
  }
  return "";
}

std::string first_not_finite(
    std::span<const float> inputs,
    std::span<const float> targets) {
  std::string text = first_not_finite("input", inputs);
  return text.empty() ? first_not_finite("target", targets) : text;
}

} // namespace

std::string not_finite_text(const SourceInfo& info, const Sample& sample) {
  std::span<const float> inputs;
  std::span<const float> targets;
  if (info.input == Input::numbers) inputs = sample.numbers;
  if (info.target == Target::numbers) targets = sample.target_numbers;
  return first_not_finite(inputs, targets);
}

std::vector<NotFiniteSample> not_finite_samples(const HostBatch& batch) {
  const bool floats = batch.inputs != nullptr && batch.element == Element::f32;
  std::size_t input_size = floats ? 1 : 0;
  for (const std::int64_t size : batch.shape)
    input_size *= static_cast<std::size_t>(size);
  const std::size_t target_size =
      batch.target_numbers == nullptr ? 0 : batch.target_count;
  const auto* inputs = static_cast<const float*>(batch.inputs);
  std::vector<NotFiniteSample> found;
  for (int slot = 0; slot < batch.size; ++slot) {
    const auto at = static_cast<std::size_t>(slot);
    std::span<const float> own_inputs;
    std::span<const float> own_targets;
    if (input_size > 0) own_inputs = {inputs + at * input_size, input_size};
    if (target_size > 0)
      own_targets = {batch.target_numbers + at * target_size, target_size};
    std::string what = first_not_finite(own_inputs, own_targets);
    if (!what.empty()) found.push_back({slot, std::move(what)});
  }
  return found;
}

std::string blame_text(
    const HostBatch& batch,
    const std::vector<NotFiniteSample>& found,
    const std::function<std::string(std::int64_t index)>& describe) {
  constexpr std::size_t kNamed = 5;
  if (found.empty()) return "";
  std::vector<std::string> names;
  for (const NotFiniteSample& each : found)
    if (names.size() < kNamed)
      names.push_back(
          batch.indices == nullptr ? cat("number ", each.slot, " of its batch")
                                   : describe(batch.indices[each.slot]));
  if (found.size() == 1)
    return cat(names[0], " cannot be used: ", found[0].what, ".");
  const std::size_t more = found.size() - names.size();
  return cat(
      found.size(),
      " of the batch's ",
      batch.size,
      " samples have numbers that are NaN or infinite: ",
      join(names, ", "),
      more > 0 ? cat(" and ", more, " more") : "",
      ".");
}

} // namespace temper::data
