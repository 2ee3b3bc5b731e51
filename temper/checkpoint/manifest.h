// state.json of a snapshot: everything but the tensors, with a checksum of each
// of them, of their file, and, in its last line, of all the lines before. No
// bit of either file can change unnoticed.
// Private to checkpoint.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "temper/checkpoint/checkpoint.h"

namespace temper::checkpoint {

// 1: one checksum over all tensors, and of the values in state.json.
inline constexpr int kFormat = 2;

struct Manifest {
  int format = kFormat;
  Snapshot counters; // without its tensors
  std::uint64_t number = 0; // of those saved in its folder; 0: not counted yet
  std::map<std::string, std::uint64_t> tensor_sums; // format 2
  std::uint64_t file_sum = 0; // of state.safetensors; format 2
  std::uint64_t file_bytes = 0;
  std::uint64_t all_tensors_sum = 0; // format 1
};

std::uint64_t sum_of(const std::string& name, const graph::TensorData& tensor);
std::uint64_t all_tensors_sum(const graph::Weights& tensors); // of format 1

std::string to_text(const Manifest& manifest);
// A JSON object without its last brace, with the line that closes and sums it.
std::string with_sum(const std::string& body);
// Error, why it cannot be used, in words that end a sentence: damaged, or of a
// newer temper.
Manifest manifest_from(const std::string& text);

} // namespace temper::checkpoint
