#include "temper/track/tensorboard/tensorboard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "temper/base/file/file.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/track/tensorboard/tensorboard_events.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// A name as TensorBoard's own writers give; the key keeps two apart.
std::string file_name(const RunFacts& run) {
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) host[0] = 0;
  return cat(
      "events.out.tfevents.",
      run.start_ms / 1000,
      ".",
      host[0] == 0 ? "host" : host.data(),
      ".",
      ::getpid(),
      ".",
      run.key.substr(0, 8));
}

bool is_picture(const Artifact& artifact) {
  return fs::path(artifact.name).extension() == ".png";
}

} // namespace

TensorBoard::TensorBoard(fs::path folder, ReadHistograms histograms)
    : folder_(std::move(folder)), histograms_(std::move(histograms)) {}

std::string TensorBoard::where() const {
  return cat("tensorboard:", folder_.string());
}

std::string TensorBoard::memory() const {
  if (name_.empty()) return "";
  return json{{"file", name_}, {"size", size_}}.dump();
}

bool TensorBoard::begin(const RunFacts& run, const std::string& memory) {
  std::error_code failed;
  fs::create_directories(folder_, failed);
  const json known = json::parse(memory, nullptr, false);
  if (known.is_object()) {
    name_ = known.value("file", "");
    size_ = known.value("size", std::uint64_t{0});
    file_ = Descriptor(::open((folder_ / name_).c_str(), O_RDWR | O_CLOEXEC));
    struct stat about {};
    if (file_.open() && ::fstat(file_.get(), &about) == 0 &&
        static_cast<std::uint64_t>(about.st_size) >= size_) {
      if (::ftruncate(file_.get(), static_cast<off_t>(size_)) != 0)
        refuse_to_write(folder_ / name_, std::strerror(errno));
      return false;
    }
  }
  name_ = file_name(run);
  size_ = 0;
  file_ = Descriptor(::open(
      (folder_ / name_).c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file_.open()) refuse_to_write(folder_ / name_, std::strerror(errno));
  std::string first = event_record(version_event(run.start_ms)) +
      event_record(hparams_experiment_event(run)) +
      event_record(hparams_event(run));
  const auto config = read_small_file(run.directory / "config.toml");
  if (config)
    first += event_record(text_event(
        {"config", cat("```\n", *config, "```\n"), 0, run.start_ms}));
  for (const Pair& tag : run.tags)
    if (tag.key == "mlflow.note.content")
      first += event_record(text_event({"plan", tag.value, 0, run.start_ms}));
  append(first);
  return true;
}

void TensorBoard::append(const std::string& records) {
  std::size_t written = 0;
  while (written < records.size()) {
    const ssize_t put = ::pwrite(
        file_.get(),
        records.data() + written,
        records.size() - written,
        static_cast<off_t>(size_ + written));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0)
      refuse_to_write(
          folder_ / name_, std::strerror(put == 0 ? ENOSPC : errno));
    written += static_cast<std::size_t>(put);
  }
  size_ += written;
}

std::string TensorBoard::histograms_of(const SavedWeights& weights) const {
  std::error_code failed;
  if (!histograms_ || !fs::exists(weights.folder, failed)) return "";
  std::string records;
  try {
    for (const Histogram& each : histograms_(weights.folder))
      records +=
          event_record(histogram_event(each, weights.step, weights.time_ms));
  } catch (const std::exception& error) { // removed while it was read
    log::detail(
        cat("no histograms of ", weights.folder.string(), ": ", error.what()));
    return "";
  }
  return records;
}

void TensorBoard::deliver(const Delivery& batch) {
  std::string records;
  for (const Point& point : batch.points)
    records += event_record(scalar_event(point));
  for (const Note& note : batch.notes)
    records += event_record(text_event(note));
  for (const Artifact& artifact : batch.artifacts) {
    if (!is_picture(artifact)) continue;
    const auto png =
        read_small_file(artifact.file, std::size_t{64} << 20).value_or("");
    const std::string image = image_event(
        fs::path(artifact.name).replace_extension().generic_string(),
        png,
        artifact.step,
        artifact.time_ms);
    if (!image.empty()) records += event_record(image);
  }
  for (const Histogram& each : batch.histograms)
    records += event_record(histogram_event(each, each.step, each.time_ms));
  for (const SavedWeights& weights : batch.weights)
    records += histograms_of(weights);
  if (batch.status && batch.status->status != Status::running)
    records += event_record(hparams_end_event(*batch.status));
  append(records);
}

} // namespace temper::track
