#include "temper/data/format/npz.h"

#include "temper/base/file/zip_file.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

constexpr std::string_view kEnding = ".npy";

ZipFile open_archive(const std::filesystem::path& path) {
  return {path, "data", "Save it again with numpy.savez."};
}

} // namespace

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  const ZipFile archive = open_archive(path);
  std::vector<std::string> names;
  for (const auto& entry : archive.entries()) {
    const auto& name = entry.name;
    if (name.size() > kEnding.size() &&
        name.substr(name.size() - kEnding.size()) == kEnding)
      names.push_back(name.substr(0, name.size() - kEnding.size()));
  }
  return names;
}

NpyArray read_npz(const std::filesystem::path& path, const std::string& name) {
  const ZipFile archive = open_archive(path);
  const auto* entry = archive.find(cat(name, kEnding));
  if (entry == nullptr) archive.refuse(cat("it has no array ", name));
  const SharedBytes file = archive.read(*entry);
  NpyArray array = parse_npy(
      {reinterpret_cast<const std::uint8_t*>(file.data.get()), file.size},
      file.data,
      cat(path.string(), ":", name));
  array.path = path.string();
  return array;
}

} // namespace temper::data
