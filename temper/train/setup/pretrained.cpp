#include "temper/train/setup/pretrained.h"

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/fetch/pretrained.h"

namespace temper::train {
namespace {

constexpr const char* kImageNet = "imagenet";
constexpr std::int64_t kImageNetClasses = 1000;

bool takes_imagenet(const config::Config& config, const RunData& data) {
  return data.info.input == data::Input::image && data.input_shape.at(0) == 3 &&
      config.model.stem.empty() && config.model.width == 1;
}

} // namespace

WeightsStore weights_store(
    const Environment& environment,
    const Fetching& fetching) {
  WeightsStore store;
  store.find = [environment](
                   const std::string& model, const std::string& weights) {
    return data::find_pretrained(
        data::pretrained_entry(model, weights), environment);
  };
  store.get = [environment, fetching](
                  const std::string& model, const std::string& weights) {
    const auto& entry = data::pretrained_entry(model, weights);
    return data::get_pretrained(
        entry, environment, {}, [&](const data::GetProgress& progress) {
          if (fetching)
            fetching(
                cat("fetching ", progress.what),
                static_cast<std::int64_t>(progress.done_bytes),
                static_cast<std::int64_t>(progress.total_bytes));
        });
  };
  return store;
}

StartWeights start_weights(
    const WeightsQuestion& question,
    const WeightsStore& store) {
  const auto& [config, data, model, outputs, photo_model] = question;
  const std::string& asked = config.model.weights;
  const bool other = outputs != kImageNetClasses;
  if (store.later) return {};
  if (data::is_pretrained_name(asked) && store.get) {
    const auto& known = data::pretrained_entry(model, asked); // else an Error
    if (!takes_imagenet(config, data))
      throw Error(
          cat("[train] ",
              known.name,
              " is for colour images with the model's own first layer and "
              "width."),
          "Leave model.stem and model.width as they are, or start without "
          "model.weights.");
    return {store.get(model, asked), asked, other, ""};
  }
  if (!asked.empty()) return {asked, asked, false, ""};
  // Where nobody named a model, photographs get what learns them best.
  if (!config.model.name.empty() || model != photo_model || !store.find ||
      !takes_imagenet(config, data))
    return {};
  const auto here = store.find(model, kImageNet);
  if (!here) return {};
  return {
      *here,
      kImageNet,
      other,
      cat(": trained on ImageNet, and on this machine already (--model ",
          model,
          " starts from scratch)")};
}

} // namespace temper::train
