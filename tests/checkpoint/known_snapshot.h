// Snapshots whose every byte follows from (update, version): whoever loads one
// can tell whether it is what was saved.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "temper/checkpoint/checkpoint.h"

namespace temper::tests {

inline checkpoint::Snapshot
known_snapshot(std::int64_t update, int version, std::size_t bytes) {
  checkpoint::Snapshot made;
  made.update = update;
  made.epoch = static_cast<std::uint32_t>(update / 3);
  made.loader = "loader " + std::to_string(update);
  made.journal_offset = static_cast<std::uint64_t>(update * 100);
  made.loop = std::to_string(version) + " " + std::to_string(bytes);
  made.writer = "test";
  made.config = "seed = 1\n";
  made.score = static_cast<double>(update % 4);
  made.best = update % 4 == 2;
  const auto count = static_cast<std::int64_t>(bytes / 4 + 1);
  for (const char* name : {"model.w", "optimizer.momentum.w"}) {
    auto tensor = graph::make_tensor(graph::DType::kInt32, {count});
    for (std::int64_t i = 0; i < count; ++i) {
      const auto value = static_cast<std::int32_t>(
          update * 1000003 + version * 7919 + i * 31 + name[0]);
      std::memcpy(tensor.bytes + i * 4, &value, sizeof value);
    }
    made.tensors[name] = tensor.data;
  }
  return made;
}

inline bool is_known(const checkpoint::Snapshot& loaded) {
  const auto space = loaded.loop.find(' ');
  if (space == std::string::npos) return false;
  const auto expected = known_snapshot(
      loaded.update,
      std::stoi(loaded.loop.substr(0, space)),
      std::stoul(loaded.loop.substr(space)));
  if (loaded.loader != expected.loader || loaded.epoch != expected.epoch ||
      loaded.journal_offset != expected.journal_offset ||
      loaded.score != expected.score || loaded.best != expected.best ||
      loaded.config != expected.config ||
      loaded.tensors.size() != expected.tensors.size())
    return false;
  for (const auto& [name, tensor] : expected.tensors) {
    const auto found = loaded.tensors.find(name);
    if (found == loaded.tensors.end() || found->second.sizes != tensor.sizes ||
        found->second.byte_count != tensor.byte_count ||
        std::memcmp(
            found->second.bytes.get(), tensor.bytes.get(), tensor.byte_count) !=
            0)
      return false;
  }
  return true;
}

} // namespace temper::tests
