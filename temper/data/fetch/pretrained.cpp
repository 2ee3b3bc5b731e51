#include "temper/data/fetch/pretrained.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"

namespace temper::data {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// torchvision names its files after the beginning of their SHA-256, which is
// what torch.hub checks, too. `most` is the published size in MiB, rounded up.
CatalogueEntry entry(
    const std::string& name,
    const std::string& help,
    const std::string& sum,
    const std::string& model,
    std::uint64_t most) {
  return {
      name,
      help,
      cat("https://pytorch.org/vision/stable/models.html"),
      {"https://download.pytorch.org/models/"},
      {{cat(model, "-", sum, ".pth"), most * kMiB, sum}},
      {}};
}

bool is_whole(const fs::path& file, const std::string& sum) {
  std::error_code failed;
  return fs::is_regular_file(file, failed) &&
      sha256_of_file(file).starts_with(sum);
}

// Where torch.hub puts what it loads.
fs::path hub_folder(const Environment& environment) {
  const auto folder = [&](const char* name) -> fs::path {
    return variable(environment, name).value_or("");
  };
  if (const fs::path own = folder("TORCH_HOME"); !own.empty())
    return own / "hub/checkpoints";
  if (const fs::path cache = folder("XDG_CACHE_HOME"); !cache.empty())
    return cache / "torch/hub/checkpoints";
  const fs::path home = folder("HOME");
  return home.empty() ? home : home / ".cache/torch/hub/checkpoints";
}

} // namespace

const std::vector<CatalogueEntry>& pretrained_catalogue() {
  static const std::vector<CatalogueEntry> table{
      entry(
          "resnet18-imagenet",
          "weights of resnet18, 69.8 % on ImageNet, 45 MiB",
          "f37072fd",
          "resnet18",
          45),
      entry(
          "resnet34-imagenet",
          "weights of resnet34, 73.3 % on ImageNet, 84 MiB",
          "b627a593",
          "resnet34",
          84),
      entry(
          "resnet50-imagenet",
          "weights of resnet50, 76.1 % on ImageNet, 98 MiB",
          "0676ba61",
          "resnet50",
          98),
      entry(
          "resnet50-imagenet-v2",
          "weights of resnet50 by a longer recipe, 98 MiB",
          "11ad3fa6",
          "resnet50",
          98),
      entry(
          "mobilenet_v2-imagenet",
          "weights of mobilenet_v2, 71.9 % on ImageNet, 14 MiB",
          "b0353104",
          "mobilenet_v2",
          14),
      entry(
          "mobilenet_v2-imagenet-v2",
          "weights of mobilenet_v2 by a longer recipe, 14 MiB",
          "7ebf99e0",
          "mobilenet_v2",
          14),
  };
  return table;
}

bool is_pretrained_name(const std::string& weights) {
  return weights == "imagenet" || weights == "imagenet-v2";
}

const CatalogueEntry& pretrained_entry(
    const std::string& model,
    const std::string& weights) {
  const std::string wanted = cat(model, "-", weights);
  std::vector<std::string> models;
  for (const CatalogueEntry& each : pretrained_catalogue()) {
    if (each.name == wanted) return each;
    const auto ending = cat("-", weights);
    if (each.name.size() > ending.size() &&
        each.name.substr(each.name.size() - ending.size()) == ending)
      models.push_back(each.name.substr(0, each.name.size() - ending.size()));
  }
  throw Error(
      cat("[model] there are no weights \"", weights, "\" for ", model, "."),
      cat("There are some for ",
          join(models, ", "),
          "; for another model give a file."));
}

std::optional<fs::path> find_pretrained(
    const CatalogueEntry& entry,
    const Environment& environment) {
  const CatalogueFile& file = entry.files.at(0);
  std::vector<fs::path> places;
  try {
    places.push_back(download_folder(environment) / entry.name / file.name);
  } catch (const Error&) { // no place for downloads at all
  }
  if (const fs::path hub = hub_folder(environment); !hub.empty())
    places.push_back(hub / file.name);
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const fs::path& place) {
        return is_whole(place, file.sha256);
      });
  return found == places.end() ? std::nullopt : std::optional(*found);
}

fs::path get_pretrained(
    const CatalogueEntry& entry,
    const Environment& environment,
    const DownloadOptions& options,
    const std::function<void(const GetProgress&)>& progress) {
  if (const auto here = find_pretrained(entry, environment)) return *here;
  return get_dataset(entry, download_folder(environment), options, progress) /
      entry.files.at(0).name;
}

} // namespace temper::data
