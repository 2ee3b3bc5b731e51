#include <nlohmann/json.hpp>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/loader/state_fields.h"
#include "temper/data/loader/stream_loader.h"

namespace temper::data {
namespace {

constexpr std::size_t kMostStreamStateBytes = std::size_t{4} << 20;

// Whatever bytes a source saves: two hexadecimal digits each.
std::string to_digits(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += kDigits[value >> 4];
    text += kDigits[value & 15];
  }
  return text;
}

std::string from_digits(const std::string& text) {
  const auto value = [](char digit) {
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
  };
  if (text.size() % 2 != 0 ||
      text.find_first_not_of("0123456789abcdef") != std::string::npos)
    refuse_state("source is not hexadecimal");
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(value(text[i]) << 4 | value(text[i + 1]));
  return bytes;
}

} // namespace

std::string StreamState::to_json() const {
  StateJson json;
  json["format"] = kStateFormat;
  json["seed"] = hex_literal(seed);
  json["epoch"] = epoch;
  json["samples_consumed"] = samples_consumed;
  json["pipeline_hash"] = hex_literal(pipeline_hash);
  if (source) json["source"] = to_digits(*source);
  return json.dump();
}

StreamState StreamState::from_json(const std::string& text) {
  return parse_state<StreamState>(
      text, kMostStreamStateBytes, [](const StateJson& json) {
        const bool has_source = json.contains("source");
        if (json.size() != (has_source ? 6U : 5U))
          refuse_state("it has unknown keys");
        StreamState state;
        state.seed = hex_field(json, "seed");
        state.epoch =
            static_cast<std::uint32_t>(number_field(json, "epoch", 0xFFFFFFFF));
        state.samples_consumed =
            number_field(json, "samples_consumed", kMostSamples);
        state.pipeline_hash = hex_field(json, "pipeline_hash");
        if (has_source)
          state.source =
              from_digits(json.at("source").get_ref<const std::string&>());
        return state;
      });
}

} // namespace temper::data
