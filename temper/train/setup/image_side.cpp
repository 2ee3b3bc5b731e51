#include "temper/train/setup/image_side.h"

#include <memory>
#include <vector>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/open/open.h"
#include "temper/data/sample/first_samples.h"
#include "temper/data/sample/image_size.h"
#include "temper/data/transform/presets.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {
namespace {

constexpr std::int64_t kLooksAt = 32; // samples
constexpr const char* kUsualSize = "data.image_size = 224";

// Somebody else says it.
bool is_known(const config::Config& config, const data::SourceInfo& info) {
  return info.input != data::Input::image || config.data.image_size > 0 ||
      data::has_own_size(config.data.augment.list) ||
      (info.width > 0 && info.height > 0);
}

int take(const data::ImageSize& size, data::SourceInfo& info) {
  if (size.width == size.height) return size.width;
  info.width = size.width;
  info.height = size.height;
  return 0;
}

// A fact that is missing, and the key that says it.
struct Missing {
  std::string what;
  std::string set;
};

Missing missing_size(const data::ImageSize& size) {
  return {
      size.difference.empty()
          ? "the size of the images: none of the first can be read"
          : cat("one size for all images: ", size.difference),
      kUsualSize};
}

Missing missing_classes(const data::IndexedSource& first) {
  const std::size_t seen = first.info().classes.size();
  return {
      cat("how many classes there are: the first ",
          plural(first.size(), "sample"),
          first.size() == 1 ? " has" : " have",
          seen > 0 ? cat(" labels up to ", seen - 1) : " no label"),
      cat("model.classes = ", seen > 0 ? seen : 10)};
}

[[noreturn]] void refuse_sides(
    const std::string& name,
    const std::vector<Missing>& missing) {
  std::string what;
  std::string hint;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    what += cat(i == 0 ? "" : "; ", missing[i].what);
    hint +=
        cat(i == 0                       ? ""
                : i + 1 < missing.size() ? ", "
                                         : " and ",
            missing[i].set);
  }
  throw Error(
      cat("[train] ", name, " does not say ", what, "."),
      cat("Set ", hint, "."));
}

} // namespace

int image_side(
    const config::Config& config,
    const data::IndexedSource& source,
    data::SourceInfo& info) {
  const auto asked = static_cast<int>(config.data.image_size);
  if (is_known(config, info)) return asked;
  const data::ImageSize size = data::probe_image_size(source, kLooksAt);
  if (size.width > 0) return take(size, info);
  if (size.difference.empty())
    throw Error(
        cat("[train] none of ",
            plural(std::min(kLooksAt, source.size()), "image"),
            " of ",
            info.name,
            " can be read."),
        cat("Look at them with temper data check ", info.name, "."));
  throw Error(
      cat("[train] the images of ",
          info.name,
          " have different sizes, and a batch needs one: ",
          size.difference,
          "."),
      cat("Set ", kUsualSize, ", or data.augment = \"imagenet\"."));
}

int stream_image_side(
    const config::Config& config,
    const std::string& name,
    bool needs_classes,
    data::SourceInfo& info) {
  const auto asked = static_cast<int>(config.data.image_size);
  const bool needs_size = !is_known(config, info);
  needs_classes = needs_classes && !config.model.classes;
  std::vector<Missing> missing;
  int side = asked;
  if (needs_size || needs_classes) {
    const auto stream = data::open_stream(name);
    data::FirstSamplesOptions options;
    options.most = kLooksAt;
    options.seed = static_cast<std::uint64_t>(config.seed);
    const auto first = data::first_samples(*stream, options);
    if (needs_size) {
      const data::ImageSize size = data::probe_image_size(*first, kLooksAt);
      if (size.width > 0)
        side = take(size, info);
      else
        missing.push_back(missing_size(size));
    }
    if (needs_classes) missing.push_back(missing_classes(*first));
  }
  if (needs_length(config.schedule.name) && config.train.max_steps == 0)
    missing.push_back(
        {cat("how long an epoch is, and the schedule ",
             config.schedule.name,
             " needs to know"),
         "train.max_steps = 1000 (or schedule.name = \"constant\")"});
  if (!missing.empty()) refuse_sides(name, missing);
  return side;
}

} // namespace temper::train
