#include "temper/data/fetch/catalogue.h"

#include <algorithm>
#include <system_error>

#include "temper/base/error.h"
#include "temper/base/file/sync.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/data/fetch/locate.h"
#include "temper/data/fetch/pretrained.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

std::vector<ArchiveMember> cifar10_members() {
  constexpr std::uint64_t kBatch = 10'000 * 3073;
  const std::string folder = "cifar-10-batches-bin/";
  std::vector<ArchiveMember> members;
  for (int batch = 1; batch <= 5; ++batch)
    members.push_back({cat(folder, "data_batch_", batch, ".bin"), kBatch});
  members.push_back({folder + "test_batch.bin", kBatch});
  members.push_back({folder + "batches.meta.txt", 4096});
  return members;
}

std::vector<ArchiveMember> cifar100_members() {
  const std::string folder = "cifar-100-binary/";
  return {
      {folder + "train.bin", 50'000 * 3074},
      {folder + "test.bin", 10'000 * 3074},
      {folder + "fine_label_names.txt", 65536},
      {folder + "coarse_label_names.txt", 65536}};
}

bool all_there(const CatalogueEntry& entry, const fs::path& folder) {
  std::error_code ignored;
  return std::all_of(
      entry.members.begin(), entry.members.end(), [&](const auto& member) {
        return fs::is_regular_file(folder / member.name, ignored);
      });
}

// All members or none, as far as a reader of the folder can see: they are
// unpacked beside their place and then moved.
void unpack_entry(
    const CatalogueEntry& entry,
    const fs::path& place,
    const std::function<void(std::uint64_t)>& progress) {
  const fs::path fresh = place / ".unpacking";
  std::error_code ignored;
  fs::remove_all(fresh, ignored);
  try {
    unpack_tar_gz(
        place / entry.files.at(0).name, fresh, entry.members, progress);
    for (const auto& member : entry.members) {
      const fs::path path = place / member.name;
      fs::create_directories(path.parent_path());
      fs::rename(fresh / member.name, path);
      sync_directory(path.parent_path());
    }
  } catch (...) {
    fs::remove_all(fresh, ignored);
    throw;
  }
  fs::remove_all(fresh, ignored);
}

} // namespace

// The sizes and SHA-256 sums of MNIST, Fashion-MNIST and CIFAR-10 are published
// by TensorFlow Datasets for the same files; those of CIFAR-100 are the ones
// public projects pin.
const std::vector<CatalogueEntry>& catalogue() {
  static const std::vector<CatalogueEntry> table{
      {"cifar10",
       "60,000 photos of 32 x 32 in 10 classes, 162 MiB",
       "https://www.cs.toronto.edu/~kriz/cifar.html",
       {"https://www.cs.toronto.edu/~kriz/"},
       {{"cifar-10-binary.tar.gz",
         170'052'171,
         "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}},
       cifar10_members()},
      {"cifar100",
       "60,000 photos of 32 x 32 in 100 classes, 161 MiB",
       "https://www.cs.toronto.edu/~kriz/cifar.html",
       {"https://www.cs.toronto.edu/~kriz/"},
       {{"cifar-100-binary.tar.gz",
         168'513'733,
         "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"}},
       cifar100_members()},
      {"mnist",
       "70,000 handwritten digits of 28 x 28, 11 MiB",
       "http://yann.lecun.com/exdb/mnist/",
       {"https://storage.googleapis.com/cvdf-datasets/mnist/",
        "https://ossci-datasets.s3.amazonaws.com/mnist/"},
       {{"train-images-idx3-ubyte.gz",
         9'912'422,
         "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609"},
        {"train-labels-idx1-ubyte.gz",
         28'881,
         "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c"},
        {"t10k-images-idx3-ubyte.gz",
         1'648'877,
         "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6"},
        {"t10k-labels-idx1-ubyte.gz",
         4'542,
         "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6"}},
       {}},
      {"fashion-mnist",
       "70,000 pictures of clothes of 28 x 28 in 10 classes, 29 MiB",
       "https://github.com/zalandoresearch/fashion-mnist",
       {"https://github.com/zalandoresearch/fashion-mnist/raw/master/data/"
        "fashion/",
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/"},
       {{"train-images-idx3-ubyte.gz",
         26'421'880,
         "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
        {"train-labels-idx1-ubyte.gz",
         29'515,
         "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
        {"t10k-images-idx3-ubyte.gz",
         4'422'102,
         "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
        {"t10k-labels-idx1-ubyte.gz",
         5'148,
         "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"}},
       {}},
  };
  return table;
}

const CatalogueEntry& catalogue_entry(const std::string& name) {
  std::vector<std::string> names;
  for (const auto* table : {&catalogue(), &pretrained_catalogue()})
    for (const auto& entry : *table) {
      if (entry.name == name) return entry;
      names.push_back(entry.name);
    }
  const auto meant = nearest(name, names);
  throw Error(
      cat("[data] there is no dataset \"", name, "\" to get."),
      meant ? cat("Did you mean ", *meant, "?")
            : cat("Known: ", join(names, ", "), "."));
}

fs::path download_folder(const Environment& environment) {
  const fs::path own = variable(environment, "TEMPER_DATA").value_or("");
  const fs::path folder = own.empty() ? cache_directory(environment) : own;
  if (!folder.empty()) return folder;
  throw Error(
      "[data] there is no place for downloads: HOME is not set.",
      "Set TEMPER_DATA to a folder.");
}

fs::path get_dataset(
    const CatalogueEntry& entry,
    const fs::path& folder,
    DownloadOptions options,
    const std::function<void(const GetProgress&)>& progress) {
  const fs::path place = folder / entry.name;
  if (!entry.members.empty() && all_there(entry, place)) return place;
  for (const auto& file : entry.files) {
    Download what;
    for (const auto& mirror : entry.mirrors)
      what.urls.push_back(mirror + file.name);
    what.file = place / file.name;
    what.sha256 = file.sha256;
    what.limit_bytes = file.bytes;
    options.progress = [&](std::uint64_t done, std::uint64_t) {
      if (progress) progress({file.name, done, file.bytes});
    };
    download(what, options);
  }
  if (entry.members.empty()) return place;
  std::uint64_t total = 0;
  for (const auto& member : entry.members)
    total += member.limit_bytes;
  unpack_entry(entry, place, [&](std::uint64_t done) {
    if (progress) progress({"unpacking", done, total});
  });
  std::error_code ignored; // only space is lost
  fs::remove(place / entry.files.at(0).name, ignored);
  return place;
}

} // namespace temper::data
