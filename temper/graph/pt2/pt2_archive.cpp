#include "temper/graph/pt2/pt2_archive.h"

#include <algorithm>
#include <set>

#include "temper/base/text.h"

namespace temper::graph::pt2 {
namespace {

constexpr const char* kAgain =
    "Export the model again with PyTorch 2.9 or newer: torch.export.save.";

// Text may be packed, but no model's JSON shrinks more than this; a parsed
// value takes several times the memory of its text.
constexpr std::uint64_t kTextRatio = 64;
constexpr std::uint64_t kSmallText = 1 << 16;

// "net/" of "net/models/model.json"; the folder may be absent.
struct Found {
  std::string root;
  std::string model;
};

std::vector<Found> models_in(const ZipFile& zip) {
  constexpr std::string_view kFolder = "models/";
  constexpr std::string_view kEnding = ".json";
  std::vector<Found> found;
  for (const auto& entry : zip.entries()) {
    const auto& name = entry.name;
    auto start = name.find(kFolder);
    if (start != 0) start = name.find('/');
    if (start == std::string::npos) continue;
    if (start != 0) ++start;
    const std::string_view rest = std::string_view(name).substr(start);
    if (!rest.starts_with(kFolder) || !rest.ends_with(kEnding)) continue;
    const auto model = rest.substr(
        kFolder.size(), rest.size() - kFolder.size() - kEnding.size());
    if (contains(model, "/")) continue;
    found.push_back({name.substr(0, start), std::string(model)});
  }
  return found;
}

[[noreturn]] void explain(const ZipFile& zip) {
  const auto has = [&](std::string_view ending) {
    return std::ranges::any_of(zip.entries(), [&](const auto& entry) {
      return entry.name.ends_with(ending);
    });
  };
  if (has("serialized_exported_program.json"))
    throw Unreadable(
        "PyTorch 2.7 or older wrote it, with its weights pickled, and pickles "
        "can run code",
        kAgain);
  if (has(".so") || has(".wrapper.cpp"))
    throw Unreadable(
        "it is a model compiled by AOTInductor, not an exported one",
        "Save what torch.export.export gives with torch.export.save.");
  if (has("constants.pkl") || has("data.pkl"))
    throw Unreadable(
        "it is a TorchScript file or a state dict, not an exported model",
        "Name it .pt or .pth, or save what torch.export.export gives with "
        "torch.export.save.");
  throw Unreadable("there is no models/model.json in it", kAgain);
}

} // namespace

Archive::Archive(const ZipFile& zip) : zip_(zip) {
  const auto found = models_in(zip);
  if (found.empty()) explain(zip);
  if (found.size() > 1)
    throw Unreadable(
        cat("it holds ", found.size(), " models, and temper reads one"),
        "Save each model to a file of its own with torch.export.save.");
  root_ = found[0].root;
  model_ = found[0].model;
  if (zip.find(cat(root_, "data/weights/", model_, ".pt")) != nullptr)
    throw Unreadable(
        "PyTorch 2.8 wrote it, with its weights pickled, and pickles can run "
        "code",
        kAgain);
  const auto* order = zip.find(cat(root_, "byteorder"));
  if (order == nullptr || order->bytes > kSmallText) return;
  const SharedBytes text = zip.read(*order);
  if (trim({reinterpret_cast<const char*>(text.data.get()), text.size}) ==
      "big")
    throw Unreadable(
        "its numbers are big-endian", "Export it on an ordinary machine.");
}

Json Archive::program() const {
  return parse(*zip_.find(cat(root_, "models/", model_, ".json")));
}

Json Archive::payload(const std::string& folder) const {
  const auto* entry = zip_.find(
      cat(root_, "data/", folder, "/", model_, "_", folder, "_config.json"));
  if (entry == nullptr) return Json::object();
  return object_of(need(parse(*entry), "config"), "config");
}

const ZipFile::Entry* Archive::find(
    const std::string& folder,
    const std::string& path_name) const {
  return zip_.find(cat(root_, "data/", folder, "/", path_name));
}

const ZipFile::Entry* Archive::find_extra(const std::string& name) const {
  return zip_.find(cat(root_, kExtraFolder, name));
}

Json Archive::parse(const ZipFile::Entry& entry) const {
  if (entry.bytes > kSmallText && entry.bytes / kTextRatio > entry.packed_bytes)
    throw Unreadable(cat(
        shown(entry.name), " is packed tighter than a model's text can be"));
  const SharedBytes text = zip_.read(entry);
  return parse_json(
      {reinterpret_cast<const char*>(text.data.get()), text.size},
      shown(entry.name));
}

} // namespace temper::graph::pt2
