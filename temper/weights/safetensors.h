// Weights as safetensors: the format that Hugging Face, torchvision users and
// timm exchange. Reading runs no code and copies nothing: tensors lie in the
// mapped file. Used by `temper export`, by whoever loads weights and by
// checkpoints.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "temper/graph/ir/weights.h"

namespace temper::weights {

using Metadata = std::map<std::string, std::string>;
// How many bytes of how many are done.
using BytesProgress = std::function<void(std::uint64_t, std::uint64_t)>;

// Error, saying what is wrong where, unless every byte of the file is accounted
// for. Tensors that the file holds unaligned are copied, all others are views.
graph::Weights read_safetensors(
    const std::filesystem::path& path,
    Metadata* metadata = nullptr);

// The same from memory that `owner` keeps alive; `name` is for errors.
graph::Weights parse_safetensors(
    std::span<const std::uint8_t> bytes,
    const std::shared_ptr<const void>& owner,
    const std::string& name,
    Metadata* metadata = nullptr);

// The same weights give the same bytes: widest types first, then by name, as
// the format's own library lays them out. Durable or absent.
void write_safetensors(
    const graph::Weights& weights,
    const std::filesystem::path& path,
    const Metadata& metadata = {{"format", "pt"}},
    const BytesProgress& progress = {});

} // namespace temper::weights
