#include "temper/checkpoint/snapshot_files.h"

#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/file.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"
#include "temper/checkpoint/manifest.h"
#include "temper/checkpoint/names.h"
#include "temper/weights/safetensors.h"

namespace temper::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestManifest = std::size_t{64} << 20;

Manifest read_manifest(const fs::path& folder) {
  const auto text = read_small_file(folder / kManifestFile, kLongestManifest);
  if (!text) throw Error("state.json is missing");
  return manifest_from(*text);
}

// Says which tensor it is; nothing: all are what the manifest says.
void check_tensors(const Manifest& manifest, const graph::Weights& tensors) {
  if (manifest.format == 1) {
    if (all_tensors_sum(tensors) != manifest.all_tensors_sum)
      throw Error("state.safetensors has another checksum");
    return;
  }
  for (const auto& [name, sum] : manifest.tensor_sums) {
    const auto found = tensors.find(name);
    if (found == tensors.end())
      throw Error(cat("state.safetensors has no ", name));
    if (sum_of(name, found->second) != sum)
      throw Error(cat(name, " in state.safetensors has another checksum"));
  }
  if (tensors.size() != manifest.tensor_sums.size())
    throw Error("state.safetensors has tensors that state.json does not know");
}

Error unusable(const fs::path& folder, const Error& error) {
  std::string why = error.what();
  if (!why.empty() && why.back() == '.') why.pop_back();
  return Error(
      cat("[checkpoint] ", folder.string(), " cannot be used: ", why, "."));
}

} // namespace

void write_snapshot(
    const Snapshot& snapshot,
    std::uint64_t number,
    const fs::path& folder) {
  const fs::path tensors = folder / kTensorsFile;
  weights::write_safetensors(snapshot.tensors, tensors);
  Manifest manifest;
  manifest.counters = snapshot;
  manifest.counters.tensors.clear();
  manifest.number = number;
  for (const auto& [name, tensor] : snapshot.tensors)
    manifest.tensor_sums[name] = sum_of(name, tensor);
  // Reads what is on disk, not what was meant to be: each tensor is held
  // against the sum of the one in memory.
  const auto written = std::make_shared<const MappedFile>(tensors);
  const auto bytes = written->bytes();
  manifest.file_bytes = bytes.size();
  manifest.file_sum = hash64(bytes.data(), bytes.size());
  write_file_atomically(folder / kManifestFile, to_text(manifest));
  try {
    check_tensors(
        read_manifest(folder),
        weights::parse_safetensors(bytes, written, kTensorsFile));
  } catch (const Error& error) {
    throw unusable(folder, error);
  }
}

std::optional<Age> age_of(const fs::path& folder) {
  try {
    const Manifest manifest = read_manifest(folder);
    return Age{manifest.number, manifest.counters.journal_offset};
  } catch (const Error&) {
    return std::nullopt;
  }
}

Snapshot read_snapshot(const fs::path& folder) {
  try {
    Manifest manifest = read_manifest(folder);
    const auto file = std::make_shared<const MappedFile>(folder / kTensorsFile);
    const auto bytes = file->bytes();
    if (manifest.format > 1 && bytes.size() != manifest.file_bytes)
      throw Error(
          cat("state.safetensors has ",
              bytes.size(),
              " bytes, not ",
              manifest.file_bytes));
    Snapshot made = std::move(manifest.counters);
    made.tensors = weights::parse_safetensors(bytes, file, kTensorsFile);
    check_tensors(manifest, made.tensors);
    if (manifest.format > 1 &&
        hash64(bytes.data(), bytes.size()) != manifest.file_sum)
      throw Error("the head of state.safetensors has another checksum");
    return made;
  } catch (const Error& error) {
    throw unusable(folder, error);
  }
}

} // namespace temper::checkpoint
