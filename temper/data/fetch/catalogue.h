// The datasets that temper knows by name: where their files come from, what
// the files must be, and where they go. `temper data get` is a loop over this.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/data/fetch/download.h"
#include "temper/data/fetch/unpack.h"

namespace temper::data {

struct CatalogueFile {
  std::string name; // added to a mirror's address
  std::uint64_t bytes = 0;
  std::string sha256; // or its beginning: download.h
};

struct CatalogueEntry {
  std::string name; // "cifar10", as in data.source
  std::string help; // one line
  std::string homepage;
  std::vector<std::string> mirrors; // tried in turn
  std::vector<CatalogueFile> files;
  // The members to unpack from the (only) file, a .tar.gz; empty: files are
  // used as they are.
  std::vector<ArchiveMember> members;
};

const std::vector<CatalogueEntry>& catalogue();
// A dataset's entry, or that of weights (pretrained.h). Error, with the
// nearest, when there is none.
const CatalogueEntry& catalogue_entry(const std::string& name);

// Where downloads go, and locate.h looks: $TEMPER_DATA, else the user's cache.
std::filesystem::path download_folder(const Environment& environment);

struct GetProgress {
  std::string what; // "train-images-idx3-ubyte.gz", "unpacking"
  std::uint64_t done_bytes = 0;
  std::uint64_t total_bytes = 0;
};

// Brings a dataset's files to folder / its name, where they are not there yet,
// and returns that place. `options.progress` is set from `progress`.
std::filesystem::path get_dataset(
    const CatalogueEntry& entry,
    const std::filesystem::path& folder,
    DownloadOptions options,
    const std::function<void(const GetProgress&)>& progress);

} // namespace temper::data
