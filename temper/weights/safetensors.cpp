#include "temper/weights/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "temper/base/error.h"
#include "temper/base/file/atomic_file.h"
#include "temper/base/file/mapped_file.h"
#include "temper/base/text.h"
#include "temper/weights/safetensors_header.h"
#include "temper/weights/tensor_view.h"

namespace temper::weights {
namespace {

using graph::DType;

static_assert(
    std::endian::native == std::endian::little,
    "safetensors holds the lowest byte first, and so must this machine");

constexpr std::size_t kLengthBytes = 8;

[[noreturn]] void refuse_file(const std::string& name, const std::string& why) {
  throw Error(
      cat("[model] cannot read ", name, ": ", why, "."),
      "Is it a safetensors file, and whole? Download or save it again.");
}

// The rank of a type in the format's own library, which writes the highest
// first: every tensor is then aligned, whatever sizes the others have.
int rank(DType type) {
  constexpr DType kOrder[] = {
      DType::kBool,
      DType::kUint8,
      DType::kInt8,
      DType::kInt16,
      DType::kFloat16,
      DType::kBfloat16,
      DType::kInt32,
      DType::kFloat32,
      DType::kFloat64,
      DType::kInt64};
  return static_cast<int>(
      std::find(std::begin(kOrder), std::end(kOrder), type) -
      std::begin(kOrder));
}

SafetensorsHeader lay_out(
    const graph::Weights& weights,
    const Metadata& metadata) {
  SafetensorsHeader header;
  header.metadata = metadata;
  for (const auto& [name, tensor] : weights)
    header.entries.push_back({name, tensor.dtype, tensor.sizes, 0, 0});
  std::stable_sort(
      header.entries.begin(),
      header.entries.end(),
      [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return rank(a.dtype) > rank(b.dtype);
      });
  std::uint64_t at = 0;
  for (auto& entry : header.entries) {
    entry.begin = at;
    at += weights.at(entry.name).byte_count;
    entry.end = at;
  }
  return header;
}

} // namespace

graph::Weights parse_safetensors(
    std::span<const std::uint8_t> bytes,
    const std::shared_ptr<const void>& owner,
    const std::string& name,
    Metadata* metadata) {
  if (bytes.size() < kLengthBytes)
    refuse_file(name, cat("it has only ", plural(bytes.size(), "byte")));
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kLongestHeader)
    refuse_file(
        name,
        cat("its header would be ",
            length,
            " bytes long, and ",
            kLongestHeader,
            " is the most"));
  if (length > bytes.size() - kLengthBytes)
    refuse_file(
        name,
        cat("its header of ",
            length,
            " bytes does not fit into its ",
            bytes.size()));
  const auto text = bytes.subspan(kLengthBytes, length);
  const auto data = bytes.subspan(kLengthBytes + length);
  SafetensorsHeader header = parse_safetensors_header(
      {reinterpret_cast<const char*>(text.data()), text.size()},
      data.size(),
      name);
  graph::Weights weights;
  for (const auto& entry : header.entries) {
    const auto place = data.subspan(entry.begin, entry.end - entry.begin);
    weights.emplace(
        entry.name,
        tensor_over(entry.dtype, entry.sizes, place, owner, name, entry.name));
  }
  if (metadata != nullptr) *metadata = std::move(header.metadata);
  return weights;
}

graph::Weights read_safetensors(
    const std::filesystem::path& path,
    Metadata* metadata) {
  const auto file = std::make_shared<const MappedFile>(path);
  return parse_safetensors(file->bytes(), file, path.string(), metadata);
}

void write_safetensors(
    const graph::Weights& weights,
    const std::filesystem::path& path,
    const Metadata& metadata,
    const BytesProgress& progress) {
  constexpr std::size_t kPiece = std::size_t{16} << 20;
  check(weights.count("__metadata__") == 0, "a tensor named __metadata__");
  const SafetensorsHeader header = lay_out(weights, metadata);
  const std::string text = safetensors_header_text(header);
  if (text.size() > kLongestHeader)
    throw Error(
        cat("[model] cannot write ",
            path.string(),
            ": the names of its tensors need more than ",
            kLongestHeader,
            " bytes."));
  const std::uint64_t total =
      header.entries.empty() ? 0 : header.entries.back().end;
  const std::uint64_t length = text.size();
  AtomicFile file(path);
  file.write(&length, kLengthBytes);
  file.write(text);
  std::uint64_t done = 0;
  for (const auto& entry : header.entries) {
    const auto& tensor = weights.at(entry.name);
    for (std::size_t at = 0; at < tensor.byte_count; at += kPiece) {
      const std::size_t piece = std::min(kPiece, tensor.byte_count - at);
      file.write(tensor.bytes.get() + at, piece);
      done += piece;
      if (progress) progress(done, total);
    }
  }
  file.commit();
}

} // namespace temper::weights
