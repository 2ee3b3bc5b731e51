#include "temper/session/sample_predictions.h"

#include <algorithm>
#include <map>

#include "temper/base/text.h"
#include "temper/data/loader/loader.h"
#include "temper/session/sheet_picture.h"
#include "temper/train/engine/features.h"

namespace temper::session {
namespace {

constexpr int kColumns = 6;
constexpr int kRows = 4;

struct Guess {
  std::int64_t truth = 0;
  std::int64_t taken_for = 0;
};

// By the sample's index, of the first of an epoch: those a sheet shows.
std::map<std::int64_t, Guess> guesses(
    const graph::Program& trained,
    const train::RunData& data,
    const std::shared_ptr<const data::IndexedSource>& source,
    const std::shared_ptr<const data::Augment>& augment,
    std::int64_t classes,
    int at_once) {
  constexpr int kShown = kColumns * kRows;
  data::LoaderOptions options;
  options.batch = at_once > 0 ? std::min(at_once, kShown) : kShown;
  options.bad = data::BadPolicy::skip;
  options.channels_last = false;
  options.workers = 1;
  options.autotune = false;
  data::Loader loader(source, augment, options);
  loader.start(0);
  std::map<std::int64_t, Guess> made;
  const auto run = train::make_extractor(
      {trained, {classes}, data, "cpu", {}, options.batch});
  while (made.size() < kShown) {
    const data::HostBatch* batch = loader.next();
    if (batch == nullptr) break;
    std::vector<float> scores(static_cast<std::size_t>(batch->size * classes));
    run->compute(*batch, scores.data());
    for (int i = 0; i < batch->size; ++i) {
      const float* row = scores.data() + i * classes;
      made[batch->indices[i]] = {
          batch->labels[i], std::max_element(row, row + classes) - row};
    }
  }
  return made;
}

} // namespace

std::optional<plot::Drawing> predictions_picture(
    const graph::Program& trained,
    const train::RunData& data,
    int at_once) {
  const auto& info = data.info;
  const bool validated = data.val != nullptr;
  const auto source = validated ? data.val : data.train;
  const auto augment = validated ? data.val_augment : data.augment;
  const auto classes = static_cast<std::int64_t>(info.classes.size());
  if (source == nullptr || info.input != data::Input::image ||
      info.target != data::Target::label || classes == 0)
    return std::nullopt;
  const auto made = guesses(trained, data, source, augment, classes, at_once);
  const auto name = [&](std::int64_t label) {
    return label < classes ? info.classes[static_cast<std::size_t>(label)]
                           : cat(label);
  };
  const auto caption = [&](const data::SheetSample& sample) -> Caption {
    const auto found = made.find(sample.index);
    if (found == made.end()) return {{"-"}, false};
    const Guess guess = found->second;
    if (guess.truth == guess.taken_for) return {{name(guess.truth)}, false};
    return {
        {name(guess.truth), cat("taken for ", name(guess.taken_for))}, true};
  };
  data::SheetOptions options;
  options.count = kColumns * kRows;
  return sheet_picture(
      data::sheet_samples(*source, nullptr, options), kColumns, caption);
}

} // namespace temper::session
