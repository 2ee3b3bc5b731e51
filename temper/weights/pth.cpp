#include "temper/weights/pth.h"

#include <array>
#include <fstream>
#include <map>

#include "temper/base/error.h"
#include "temper/base/file/zip_file.h"
#include "temper/base/text.h"
#include "temper/weights/pickle.h"
#include "temper/weights/safetensors_header.h"
#include "temper/weights/tensor_view.h"

namespace temper::weights {
namespace {

namespace fs = std::filesystem;
using Kind = PickleValue::Kind;

constexpr const char* kHint = "Download or save the file again.";

// The names that training scripts give the state dict beside their epoch and
// optimizer.
constexpr std::array<std::string_view, 6> kWrappers{
    "state_dict",
    "model",
    "model_state_dict",
    "model_state",
    "module",
    "net"};

void check_kind(const fs::path& path) {
  std::array<char, 16> begin{};
  std::ifstream(path, std::ios::binary).read(begin.data(), begin.size());
  const std::string_view text(begin.data(), begin.size());
  // The magic number that torch.save wrote first, before there was the zip.
  if (text.starts_with("\x80\x02\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19"))
    throw Error(
        cat("[model] cannot read ",
            path.string(),
            ": it is in the format that PyTorch used before 1.6."),
        "Save it anew in Python: torch.save(torch.load(\"old.pth\", "
        "map_location=\"cpu\", weights_only=True), \"new.pth\").");
}

// "name/data.pkl": the one folder that torch.save makes.
std::string root_of(const ZipFile& zip) {
  for (const auto& entry : zip.entries())
    if (entry.name.size() > 14 && contains(entry.name, "/constants.pkl"))
      throw Error(
          cat("[model] cannot read ",
              zip.path().string(),
              ": it is a TorchScript program, not a state dict."),
          "Use it as the model, or save its weights in Python: "
          "torch.save(torch.jit.load(\"net.pt\").state_dict(), "
          "\"weights.pth\").");
  for (const auto& entry : zip.entries()) {
    const auto slash = entry.name.find('/');
    if (slash != std::string::npos && entry.name.substr(slash) == "/data.pkl")
      return entry.name.substr(0, slash);
  }
  zip.refuse("it has no data.pkl, which torch.save would have written");
}

class StateDict {
 public:
  StateDict(const ZipFile& zip, std::string root)
      : zip_(zip), root_(std::move(root)) {}

  graph::Weights tensors_of(const PickleValue& dict) {
    graph::Weights weights;
    for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
      const auto& key = *dict.items[i];
      const auto& value = *dict.items[i + 1];
      if (value.kind != Kind::kTensor) continue;
      if (key.kind != Kind::kText)
        zip_.refuse("it has a tensor whose name is not text");
      const std::string name(key.text);
      weights[name] = tensor(*value.tensor, name);
    }
    return weights;
  }

 private:
  graph::TensorData tensor(const PickleTensor& from, const std::string& name) {
    const auto bytes = storage(from, name);
    const StridedPlace place{from.offset, from.sizes, from.strides};
    if (!fits(place, from.storage_elements))
      zip_.refuse(cat(
          "tensor ", shown_name(name), " is larger than the bytes it lies in"));
    const std::size_t width = graph::bytes_of(from.dtype);
    const auto count =
        static_cast<std::size_t>(graph::element_count(from.sizes));
    const std::span<const std::uint8_t> all(
        reinterpret_cast<const std::uint8_t*>(bytes.data.get()), bytes.size);
    if (is_contiguous(place))
      return tensor_over(
          from.dtype,
          from.sizes,
          all.subspan(
              static_cast<std::size_t>(from.offset) * width, count * width),
          bytes.data,
          zip_.path().string(),
          name);
    const auto laid_out = gathered(from.dtype, place, all);
    return tensor_over(
        from.dtype,
        from.sizes,
        {reinterpret_cast<const std::uint8_t*>(laid_out.bytes.get()),
         laid_out.byte_count},
        laid_out.bytes,
        zip_.path().string(),
        name);
  }

  // Tied weights share a storage, and then also here.
  SharedBytes storage(const PickleTensor& from, const std::string& name) {
    const std::string entry_name =
        cat(root_, "/data/", std::string(from.storage));
    const auto known = storages_.find(entry_name);
    const ZipFile::Entry* entry = zip_.find(entry_name);
    if (entry == nullptr)
      zip_.refuse(
          cat("the bytes of tensor ", shown_name(name), " are not in it"));
    std::uint64_t needed = 0;
    if (__builtin_mul_overflow(
            static_cast<std::uint64_t>(from.storage_elements),
            graph::bytes_of(from.dtype),
            &needed) ||
        needed != entry->bytes)
      zip_.refuse(
          cat("tensor ",
              shown_name(name),
              " lies in ",
              entry->bytes,
              " bytes that should be ",
              from.storage_elements,
              " of ",
              graph::name_of(from.dtype)));
    if (known != storages_.end()) return known->second;
    return storages_[entry_name] = zip_.read(*entry);
  }

  const ZipFile& zip_;
  std::string root_;
  std::map<std::string, SharedBytes> storages_;
};

bool has_tensors(const PickleValue& value) {
  if (value.kind != Kind::kDict) return false;
  for (std::size_t i = 1; i < value.items.size(); i += 2)
    if (value.items[i]->kind == Kind::kTensor) return true;
  return false;
}

// The state dict itself, or the one in a training script's dict.
const PickleValue* find_state_dict(
    const PickleValue& value,
    std::string* wrapped_in) {
  if (has_tensors(value)) return &value;
  if (value.kind != Kind::kDict) return nullptr;
  for (const auto wrapper : kWrappers)
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
      if (value.items[i]->kind == Kind::kText &&
          value.items[i]->text == wrapper && has_tensors(*value.items[i + 1])) {
        if (wrapped_in != nullptr) *wrapped_in = std::string(wrapper);
        return value.items[i + 1];
      }
  return nullptr;
}

} // namespace

graph::Weights read_pth(const fs::path& path, std::string* wrapped_in) {
  check_kind(path);
  const ZipFile zip(path, "model", kHint);
  const std::string root = root_of(zip);
  if (const auto* order = zip.find(root + "/byteorder")) {
    const auto text = zip.read(*order);
    if (text.size != 6 ||
        std::string(reinterpret_cast<const char*>(text.data.get()), 6) !=
            "little")
      zip.refuse("its numbers are not in this machine's byte order");
  }
  const auto bytes = zip.read(*zip.find(root + "/data.pkl"));
  const Pickle pickle(
      {reinterpret_cast<const std::uint8_t*>(bytes.data.get()), bytes.size},
      path.string());
  const PickleValue* dict = find_state_dict(pickle.value(), wrapped_in);
  if (dict == nullptr)
    throw Error(
        cat("[model] cannot read ",
            path.string(),
            ": there is no state dict in it, only other values."),
        "Save one in Python: torch.save(model.state_dict(), "
        "\"weights.pth\").");
  return StateDict(zip, root).tensors_of(*dict);
}

} // namespace temper::weights
