#include "temper/graph/pt2/pt2_weights.h"

#include <cstring>
#include <limits>

#include "temper/base/text.h"
#include "temper/graph/pt2/pt2_values.h"

namespace temper::graph::pt2 {
namespace {

constexpr int kStrided = 7;
constexpr std::uint64_t kSmallGather = 1 << 20;
// Bytes of zeros for one tensor; they cost memory once somebody writes to them.
constexpr std::uint64_t kMostZeros = std::uint64_t{64} << 30;

// Which elements of a storage a tensor is.
struct View {
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> sizes;
  std::vector<std::int64_t> strides;
  std::int64_t offset = 0;
  std::int64_t elements = 0;

  bool in_order() const {
    std::int64_t step = 1;
    for (std::size_t i = sizes.size(); i-- > 0;) {
      if (sizes[i] != 1 && strides[i] != step) return false;
      step *= sizes[i];
    }
    return true;
  }
};

std::int64_t fixed(const Size& size) {
  if (!size.fixed()) throw Unreadable("a size of its values is a symbol");
  return size.value;
}

// Error when the elements do not all lie within the storage.
View view_of(const TensorMeta& meta, std::uint64_t storage_bytes) {
  View view;
  view.dtype = meta.dtype;
  for (const Size& each : meta.sizes)
    view.sizes.push_back(fixed(each));
  for (const Size& each : meta.strides)
    view.strides.push_back(fixed(each));
  view.offset = fixed(meta.storage_offset);
  view.elements = element_count(view.sizes);
  if (view.elements == 0) return view;
  std::int64_t last = view.offset;
  for (std::size_t i = 0; i < view.sizes.size(); ++i) {
    std::int64_t span = 0;
    if (__builtin_mul_overflow(view.sizes[i] - 1, view.strides[i], &span) ||
        __builtin_add_overflow(last, span, &last))
      throw Unreadable("its strides lead out of its bytes");
  }
  if (static_cast<std::uint64_t>(last) >= storage_bytes / bytes_of(meta.dtype))
    throw Unreadable(
        cat("its element ",
            count_text(last),
            " would lie outside its ",
            bytes_text(storage_bytes)));
  return view;
}

// Copies the elements, the last index running fastest.
void gather(const View& view, const std::byte* storage, std::byte* out) {
  const std::size_t item = bytes_of(view.dtype);
  std::vector<std::int64_t> index(view.sizes.size(), 0);
  std::int64_t at = view.offset;
  for (std::int64_t n = 0; n < view.elements; ++n) {
    std::memcpy(out, storage + static_cast<std::size_t>(at) * item, item);
    out += item;
    for (std::size_t i = index.size(); i-- > 0;) {
      at += view.strides[i];
      if (++index[i] < view.sizes[i]) break;
      at -= view.strides[i] * view.sizes[i];
      index[i] = 0;
    }
  }
}

SharedBytes zeros_for(const TensorMeta& meta) {
  std::vector<std::int64_t> sizes;
  for (const Size& each : meta.sizes)
    sizes.push_back(fixed(each));
  const auto elements = static_cast<std::uint64_t>(element_count(sizes));
  if (elements > kMostZeros / bytes_of(meta.dtype))
    throw Unreadable(cat("it would have ", count_text(elements), " elements"));
  const TensorData made = make_tensor(meta.dtype, sizes).data;
  return {made.bytes, made.byte_count};
}

bool is_boolean(const TensorData& data) {
  for (std::size_t i = 0; i < data.byte_count; ++i)
    if (std::to_integer<int>(data.bytes.get()[i]) > 1) return false;
  return true;
}

} // namespace

WeightsReader::WeightsReader(const Archive& archive, MayLack may_lack)
    : archive_(archive),
      may_lack_(may_lack),
      weights_(archive.payload("weights")),
      constants_(archive.payload("constants")) {
  // A view that repeats or turns its elements is copied; so much at most.
  for (const auto& entry : archive.zip().entries())
    may_gather_bytes_ += entry.bytes;
  may_gather_bytes_ += kSmallGather;
}

const Json* WeightsReader::find(
    const std::string& target,
    bool constant,
    std::string& folder) {
  for (const bool in_constants : {constant, !constant}) {
    const Json& config = in_constants ? constants_ : weights_;
    folder = in_constants ? "constants" : "weights";
    if (const Json* found = pt2::find(config, target.c_str())) return found;
  }
  return nullptr;
}

const SharedBytes& WeightsReader::storage(
    const std::string& folder,
    const std::string& name,
    const TensorMeta& meta) {
  const auto key = cat(folder, "/", name);
  if (const auto found = storages_.find(key); found != storages_.end())
    return found->second;
  const auto* entry = archive_.find(folder, name);
  if (entry == nullptr && may_lack_ == MayLack::kWeights && folder == "weights")
    return storages_[key] = zeros_for(meta);
  if (entry == nullptr)
    throw Unreadable(cat("the archive has no entry ", shown(key)));
  return storages_[key] = archive_.zip().read(*entry);
}

WeightsReader::Weight WeightsReader::read(
    const std::string& target,
    bool constant) {
  std::string folder;
  const Json* about = find(target, constant, folder);
  if (about == nullptr) throw Unreadable("the archive has no values for it");
  if (const Json* pickled = pt2::find(*about, "use_pickle");
      pickled != nullptr && bool_of(*pickled, "use_pickle"))
    throw Unreadable(
        "its values are pickled, and pickles can run code",
        "Make it an ordinary tensor (not a subclass or a custom object) before "
        "torch.export.save.");
  const TensorMeta meta = read_meta(need(*about, "tensor_meta"));
  if (meta.layout != kStrided)
    throw Unreadable(
        "its values are sparse", "Make it dense before torch.export.save.");
  const std::string name = name_of(need(*about, "path_name"), "path_name");
  const SharedBytes& bytes = storage(folder, name, meta);
  const View view = view_of(meta, bytes.size);

  Weight weight;
  weight.requires_grad = meta.requires_grad;
  weight.data.dtype = view.dtype;
  weight.data.sizes = view.sizes;
  const std::size_t item = bytes_of(view.dtype);
  if (view.elements == 0) return weight;
  const std::byte* start =
      bytes.data.get() + static_cast<std::size_t>(view.offset) * item;
  const bool aligned = reinterpret_cast<std::uintptr_t>(start) % item == 0;
  if (view.in_order() && aligned) {
    weight.data.byte_count = static_cast<std::size_t>(view.elements) * item;
    weight.data.bytes = std::shared_ptr<const std::byte>(bytes.data, start);
  } else {
    std::string key = cat(folder, "/", name, " ", item, " ", view.offset);
    for (std::size_t i = 0; i < view.sizes.size(); ++i)
      key += cat(" ", view.sizes[i], ":", view.strides[i]);
    auto& made = gathered_[key];
    if (made.bytes == nullptr) {
      std::uint64_t needed = 0;
      if (__builtin_mul_overflow(
              static_cast<std::uint64_t>(view.elements), item, &needed) ||
          needed > may_gather_bytes_)
        throw Unreadable("its strides repeat its bytes beyond reason");
      may_gather_bytes_ -= needed;
      auto fresh = make_tensor(view.dtype, view.sizes);
      gather(view, bytes.data.get(), fresh.bytes);
      made = fresh.data;
    }
    weight.data = made;
    weight.data.dtype = view.dtype;
  }
  if (view.dtype == DType::kBool && !is_boolean(weight.data))
    throw Unreadable("its truth values are neither 0 nor 1");
  return weight;
}

} // namespace temper::graph::pt2
