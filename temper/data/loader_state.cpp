#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/loader.h"

namespace temper::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 4096;
constexpr int kFormat = 1;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(
      cat("[data] the loader's saved position cannot be read: ", why, "."),
      "Resume from another checkpoint.");
}

// As text: 64 bits are more than most readers of JSON keep.
std::string hex(std::uint64_t value) {
  return cat("0x", std::hex, value);
}

std::uint64_t from_hex(const Json& json, const char* name) {
  const auto& text = json.at(name).get_ref<const std::string&>();
  if (text.size() < 3 || text.size() > 18 || !starts_with(text, "0x") ||
      text.find_first_not_of("0123456789abcdef", 2) != std::string::npos)
    refuse(cat(name, " is not a hexadecimal number"));
  std::uint64_t value = 0;
  for (const char digit : text.substr(2))
    value = value << 4 |
        static_cast<std::uint64_t>(
                digit <= '9' ? digit - '0' : digit - 'a' + 10);
  return value;
}

std::int64_t
from_number(const Json& json, const char* name, std::int64_t most) {
  const Json& number = json.at(name);
  if (!number.is_number_unsigned() ||
      number.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse(cat(name, " is not a number from 0 to ", most));
  return number.get<std::int64_t>();
}

LoaderState read_state(const Json& json) {
  constexpr std::int64_t kMostSamples = std::int64_t{1} << 53;
  constexpr std::size_t kKeys = 7;
  if (from_number(json, "format", 1 << 20) != kFormat)
    refuse("it was written by another version");
  if (json.size() != kKeys) refuse("it has unknown keys");
  LoaderState state;
  state.seed = from_hex(json, "seed");
  state.epoch =
      static_cast<std::uint32_t>(from_number(json, "epoch", 0xFFFFFFFF));
  state.samples_consumed = from_number(json, "samples_consumed", kMostSamples);
  state.dataset_size = from_number(json, "dataset_size", kMostSamples);
  state.dataset_fingerprint = from_hex(json, "dataset_fingerprint");
  state.pipeline_hash = from_hex(json, "pipeline_hash");
  return state;
}

} // namespace

std::string LoaderState::to_json() const {
  Json json;
  json["format"] = kFormat;
  json["seed"] = hex(seed);
  json["epoch"] = epoch;
  json["samples_consumed"] = samples_consumed;
  json["dataset_size"] = dataset_size;
  json["dataset_fingerprint"] = hex(dataset_fingerprint);
  json["pipeline_hash"] = hex(pipeline_hash);
  return json.dump();
}

LoaderState LoaderState::from_json(const std::string& text) {
  if (text.size() > kMostBytes) refuse("it is too long");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) refuse("it is not a JSON object");
  try {
    return read_state(json);
  } catch (const Json::exception& error) {
    refuse(error.what());
  }
}

} // namespace temper::data
