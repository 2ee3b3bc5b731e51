#include "temper/data/fetch/locate.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/log.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

using Path = std::filesystem::path;

struct NamedDataset {
  std::string name;
  // Any of these files shows that it is there.
  std::vector<std::string> marks;
  // Where its archives, and other programs, put it.
  std::vector<std::string> folders;
  // Files of the version for Python, which is pickled.
  std::vector<std::string> pickles;
  // Where a system package puts it.
  std::vector<std::string> packaged;
};

std::vector<std::string> idx_marks() {
  return {
      "train-images-idx3-ubyte",
      "train-images-idx3-ubyte.gz",
      "train-images.idx3-ubyte",
      "train-images.idx3-ubyte.gz"};
}

const std::vector<NamedDataset>& datasets() {
  static const std::vector<NamedDataset> table{
      {"cifar10",
       {"data_batch_1.bin",
        "data_batch_2.bin",
        "data_batch_3.bin",
        "data_batch_4.bin",
        "data_batch_5.bin"},
       {"cifar-10-batches-bin"},
       {"data_batch_1", "cifar-10-batches-py/data_batch_1"},
       {}},
      {"cifar100",
       {"train.bin"},
       {"cifar-100-binary"},
       {"cifar-100-python/train"},
       {}},
      {"mnist", idx_marks(), {"MNIST/raw"}, {}, {}},
      {"fashion-mnist",
       idx_marks(),
       {"FashionMNIST/raw"},
       {},
       {"/usr/share/datasets/fashion-mnist"}}, // Debian
  };
  return table;
}

const NamedDataset& dataset_named(const std::string& name) {
  const auto found = std::find_if(
      datasets().begin(), datasets().end(), [&](const NamedDataset& known) {
        return known.name == name;
      });
  check(found != datasets().end(), "only known datasets are located");
  return *found;
}

bool holds_any(const Path& folder, const std::vector<std::string>& files) {
  return std::any_of(files.begin(), files.end(), [&](const std::string& file) {
    std::error_code unreadable;
    return std::filesystem::is_regular_file(folder / file, unreadable);
  });
}

// Empty when the variable is not set; an empty variable is as good as none.
Path path_in(const Environment& environment, const std::string& name) {
  return variable(environment, name).value_or("");
}

[[noreturn]] void refuse_missing(
    const std::string& name,
    const std::vector<Path>& looked_in) {
  std::vector<std::string> places;
  for (const auto& place : looked_in)
    places.push_back(place.string());
  throw Error(
      cat("[data] ",
          name,
          " is not here: looked in ",
          places.empty() ? "no place" : join(places, ", "),
          "."),
      cat("Get it with `temper data get ",
          name,
          "`, or say where it is with data.path."));
}

} // namespace

Path cache_directory(const Environment& environment) {
  if (auto own = path_in(environment, "TEMPER_CACHE_DIR"); !own.empty())
    return own;
  // The specification has relative paths ignored.
  if (auto xdg = path_in(environment, "XDG_CACHE_HOME"); xdg.is_absolute())
    return xdg / "temper";
  if (auto home = path_in(environment, "HOME"); !home.empty())
    return home / home_cache_folder() / "temper";
  return {};
}

std::vector<Path> candidate_directories(
    const std::string& dataset,
    const Path& given,
    const Environment& environment) {
  const NamedDataset& known = dataset_named(dataset);
  std::vector<Path> places;
  // Several datasets share a root, and MNIST's file names are those of
  // Fashion-MNIST: below a shared root only folders of its own count.
  const auto add = [&](const Path& root, bool shared) {
    if (root.empty()) return;
    if (!shared) places.push_back(root);
    places.push_back(root / dataset);
    for (const auto& folder : known.folders) {
      places.push_back(root / folder);
      places.push_back(root / dataset / folder);
    }
  };
  add(given, false);
  add(path_in(environment, "TEMPER_DATA"), false);
  add(cache_directory(environment), true);
  for (const auto& folder : known.packaged)
    places.emplace_back(folder);
  return places;
}

Path locate(
    const std::string& dataset,
    const Path& given,
    const Environment& environment) {
  const NamedDataset& known = dataset_named(dataset);
  const auto places = candidate_directories(dataset, given, environment);
  for (const auto& place : places) {
    if (!holds_any(place, known.marks)) continue;
    if (!given.empty() && !place.string().starts_with(given.string()))
      log::warn(
          cat("[data] ",
              dataset,
              " is not in ",
              given.string(),
              "; using the one in ",
              place.string(),
              "."));
    return place;
  }
  for (const auto& place : places)
    if (holds_any(place, known.pickles))
      throw Error(
          cat("[data] cannot read the ",
              dataset,
              " in ",
              place.string(),
              ": it is the version for Python, which is pickled, and a pickle "
              "may run any program."),
          cat("Get the binary version: `temper data get ", dataset, "`."));
  refuse_missing(dataset, places);
}

std::vector<std::string> datasets_in(const Path& folder) {
  std::vector<std::string> found;
  for (const NamedDataset& known : datasets())
    if (holds_any(folder, known.marks) || holds_any(folder, known.pickles))
      found.push_back(known.name);
  return found;
}

bool is_there(const std::string& dataset, const Environment& environment) {
  const auto& marks = dataset_named(dataset).marks;
  const auto places = candidate_directories(dataset, {}, environment);
  return std::any_of(places.begin(), places.end(), [&](const Path& place) {
    return holds_any(place, marks);
  });
}

} // namespace temper::data
