#include "temper/cli/sample_predictions.h"

#include <algorithm>
#include <map>

#include "temper/base/text.h"
#include "temper/data/contact_sheet.h"
#include "temper/data/loader.h"
#include "temper/train/features.h"

namespace temper::cli {
namespace {

constexpr int kColumns = 6;
constexpr int kRows = 4;

struct Guess {
  std::int64_t truth = 0;
  std::int64_t taken_for = 0;
};

// By the sample's index, of the first of an epoch: those a sheet shows.
std::map<std::int64_t, Guess> guesses(
    const RunModelAndData& trained,
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
      {trained.program, {classes}, trained.data, "cpu", {}, options.batch});
  while (made.size() < kShown) {
    const data::Batch* batch = loader.next();
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

std::optional<data::Image> predictions_picture(
    const RunModelAndData& trained,
    int at_once) {
  const auto& info = trained.data.info;
  const bool validated = trained.data.val != nullptr;
  const auto source = validated ? trained.data.val : trained.data.train;
  const auto augment =
      validated ? trained.data.val_augment : trained.data.augment;
  const auto classes = static_cast<std::int64_t>(info.classes.size());
  if (source == nullptr || info.input != data::Input::image ||
      info.target != data::Target::label || classes == 0)
    return std::nullopt;
  const auto made = guesses(trained, source, augment, classes, at_once);
  const auto name = [&](std::int64_t label) {
    return label < classes ? info.classes[static_cast<std::size_t>(label)]
                           : cat(label);
  };
  data::SheetOptions options;
  options.columns = kColumns;
  options.rows = kRows;
  options.caption = [&](std::int64_t index) -> data::SheetOptions::Caption {
    const auto found = made.find(index);
    if (found == made.end()) return {"-", false};
    const Guess guess = found->second;
    if (guess.truth == guess.taken_for) return {name(guess.truth), false};
    return {cat(name(guess.taken_for), " not ", name(guess.truth)), true};
  };
  return data::contact_sheet(*source, nullptr, options);
}

} // namespace temper::cli
