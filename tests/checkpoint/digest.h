// One number for the whole state of a run: SHA-256 of its newest checkpoint,
// over every tensor and all that the loop remembers but the time it took.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "temper/base/digest/sha256.h"
#include "temper/checkpoint/checkpoint.h"

namespace temper::tests {

inline std::string digest(const checkpoint::Snapshot& snapshot) {
  Sha256 all;
  const auto add = [&](const std::string& text) {
    const std::string sized = std::to_string(text.size()) + ":" + text;
    all.add(sized.data(), sized.size());
  };
  auto loop = nlohmann::json::parse(snapshot.loop);
  loop.erase("seconds");
  loop.erase("spent_s");
  add(std::to_string(snapshot.update));
  add(std::to_string(snapshot.epoch));
  add(snapshot.loader);
  add(loop.dump());
  for (const auto& [name, tensor] : snapshot.tensors) {
    add(name);
    add(graph::name_of(tensor.dtype));
    for (const std::int64_t size : tensor.sizes)
      add(std::to_string(size));
    all.add(tensor.bytes.get(), tensor.byte_count);
  }
  return all.hex();
}

// "" when there is none.
inline std::string digest_of(const std::filesystem::path& checkpoints) {
  const auto newest = checkpoint::Store(checkpoints).load_latest();
  return newest ? digest(*newest) : "";
}

} // namespace temper::tests
