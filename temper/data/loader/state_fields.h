// The saved positions of the loaders as strict, bounded JSON. For
// loader_state.cpp and stream_state.cpp.
// Private to data/loader.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace temper::data {

using StateJson = nlohmann::ordered_json;

// The format that is written. In format 1, fingerprints followed from names and
// sizes.
constexpr int kStateFormat = 2;
constexpr std::int64_t kMostSamples = std::int64_t{1} << 53;

[[noreturn]] void refuse_state(const std::string& why);

// 64 bits as text: they are more than most readers of JSON keep.
std::string hex_literal(std::uint64_t value);
std::uint64_t hex_field(const StateJson& json, const char* name);
// A whole number from 0 to `most`.
std::int64_t
number_field(const StateJson& json, const char* name, std::int64_t most);
// Error when it is too long, no object or of another format.
StateJson parse_state_object(const std::string& text, std::size_t most_bytes);

template <class State, class Read>
State parse_state(
    const std::string& text,
    std::size_t most_bytes,
    const Read& read) {
  const StateJson json = parse_state_object(text, most_bytes);
  try {
    return read(json);
  } catch (const StateJson::exception& error) {
    refuse_state(error.what());
  }
}

} // namespace temper::data
