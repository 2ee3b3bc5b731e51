#include "temper/data/loader/loader.h"
#include "temper/data/loader/state_fields.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostLoaderStateBytes = 4096;

LoaderState read_state(const StateJson& json) {
  constexpr std::size_t kKeys = 7;
  if (json.size() != kKeys) refuse_state("it has unknown keys");
  LoaderState state;
  state.seed = hex_field(json, "seed");
  state.epoch =
      static_cast<std::uint32_t>(number_field(json, "epoch", 0xFFFFFFFF));
  state.samples_consumed = number_field(json, "samples_consumed", kMostSamples);
  state.dataset_size = number_field(json, "dataset_size", kMostSamples);
  state.dataset_fingerprint = hex_field(json, "dataset_fingerprint");
  if (number_field(json, "format", kStateFormat) < kStateFormat)
    state.dataset_fingerprint = 0;
  state.pipeline_hash = hex_field(json, "pipeline_hash");
  return state;
}

} // namespace

std::string LoaderState::to_json() const {
  StateJson json;
  json["format"] = kStateFormat;
  json["seed"] = hex_literal(seed);
  json["epoch"] = epoch;
  json["samples_consumed"] = samples_consumed;
  json["dataset_size"] = dataset_size;
  json["dataset_fingerprint"] = hex_literal(dataset_fingerprint);
  json["pipeline_hash"] = hex_literal(pipeline_hash);
  return json.dump();
}

LoaderState LoaderState::from_json(const std::string& text) {
  return parse_state<LoaderState>(text, kMostLoaderStateBytes, read_state);
}

} // namespace temper::data
