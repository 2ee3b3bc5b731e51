#include "temper/data/npz.h"

#include <zip.h>

#include <memory>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/gzip.h"

namespace temper::data {
namespace {

constexpr zip_int64_t kMostArrays = 10000;
constexpr std::string_view kEnding = ".npy";

[[noreturn]] void refuse(
    const std::filesystem::path& path,
    const std::string& why) {
  throw Error(
      cat("[data] cannot read ", path.string(), ": ", why, "."),
      "Save it again with numpy.savez.");
}

struct Discard {
  void operator()(zip_t* archive) const {
    zip_discard(archive);
  }
  void operator()(zip_file_t* file) const {
    zip_fclose(file);
  }
};
using Archive = std::unique_ptr<zip_t, Discard>;
using Member = std::unique_ptr<zip_file_t, Discard>;

Archive open_archive(const std::filesystem::path& path) {
  int code = 0;
  Archive archive(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!archive) {
    zip_error_t error;
    zip_error_init_with_code(&error, code);
    const std::string why = zip_error_strerror(&error);
    zip_error_fini(&error);
    refuse(path, why);
  }
  if (zip_get_num_entries(archive.get(), 0) > kMostArrays)
    refuse(path, "it has too many members");
  return archive;
}

} // namespace

std::vector<std::string> npz_names(const std::filesystem::path& path) {
  const Archive archive = open_archive(path);
  std::vector<std::string> names;
  const auto count = zip_get_num_entries(archive.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* text =
        zip_get_name(archive.get(), static_cast<zip_uint64_t>(i), 0);
    std::string name = text != nullptr ? text : "";
    if (name.size() <= kEnding.size() ||
        name.substr(name.size() - kEnding.size()) != kEnding)
      continue;
    name.resize(name.size() - kEnding.size());
    names.push_back(std::move(name));
  }
  return names;
}

NpyArray read_npz(const std::filesystem::path& path, const std::string& name) {
  const Archive archive = open_archive(path);
  const std::string member = cat(name, kEnding);
  zip_stat_t about;
  zip_stat_init(&about);
  if (zip_stat(archive.get(), member.c_str(), 0, &about) != 0 ||
      (about.valid & ZIP_STAT_SIZE) == 0)
    refuse(path, cat("it has no array ", name));
  // The sizes come from the archive; only the file's own size is certain.
  const std::uint64_t certain = std::filesystem::file_size(path);
  if (about.size / kDeflateLimit > certain)
    refuse(
        path,
        cat(name,
            " announces ",
            bytes_text(about.size),
            ", more than the file can unpack to"));
  const Member file(zip_fopen(archive.get(), member.c_str(), 0));
  if (!file) refuse(path, zip_strerror(archive.get()));
  // One byte more than announced, to see that there is none.
  auto bytes = std::make_shared<std::vector<std::uint8_t>>(about.size + 1);
  std::uint64_t got = 0;
  while (got < bytes->size()) {
    const auto read =
        zip_fread(file.get(), bytes->data() + got, bytes->size() - got);
    if (read < 0) refuse(path, cat(name, ": ", zip_file_strerror(file.get())));
    if (read == 0) break;
    got += static_cast<std::uint64_t>(read);
  }
  if (got != about.size)
    refuse(path, cat(name, " is not as long as the archive says"));
  const std::span<const std::uint8_t> whole(bytes->data(), about.size);
  return parse_npy(whole, bytes, cat(path.string(), ":", name));
}

} // namespace temper::data
