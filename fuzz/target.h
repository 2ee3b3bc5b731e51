// A fuzz target: one function that eats any bytes, and a few inputs to
// begin with. libFuzzer calls the first; replay_main.cpp, for compilers without
// it, calls both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(
    const std::uint8_t* data,
    std::size_t size);

namespace temper::fuzz {

// Valid inputs, made by code.
std::vector<std::string> seeds();

// Bytes of a number, the lowest first.
template <class Number>
std::string little_endian(Number value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof value; ++i)
    bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return bytes;
}

template <class Number>
std::string big_endian(Number value) {
  const std::string bytes = little_endian(value);
  return {bytes.rbegin(), bytes.rend()};
}

} // namespace temper::fuzz
