// How fast batches are made, beside Python's DataLoader doing the same work
// (reference/loader_peer.py), and beside the pure decoding of JPEG.
//
//   make bench-loader       or: temper_bench_loader [ROUNDS]
//
// Images per core-second are compared: CPU time of all threads and
// processes, because the wall clock of a shared machine says nothing. Each
// round runs everything once, in turn; the median of the rounds counts. One
// worker each, which is where Python spends least CPU on an image. The wall
// figures are of a last round with as many workers as cores.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "temper/base/file/file.h"
#include "temper/base/process/process.h"
#include "temper/base/statistics.h"
#include "temper/base/text.h"
#include "temper/data/codec/decode.h"
#include "temper/data/loader/loader.h"
#include "temper/data/open/open.h"
#include "temper/data/pack/pack.h"
#include "temper/data/transform/presets.h"

namespace {

namespace fs = std::filesystem;
using namespace temper;
using namespace temper::data;

constexpr const char* kPython = "/usr/bin/python3";

struct Speed {
  double per_core_s = 0;
  double wall_per_s = 0;
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) +
        1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// `work` returns how many images it handled.
Speed measure(const std::function<std::int64_t()>& work) {
  const double cpu = cpu_seconds();
  const double wall = wall_seconds();
  const auto images = static_cast<double>(work());
  return {images / (cpu_seconds() - cpu), images / (wall_seconds() - wall)};
}

std::shared_ptr<const IndexedSource> train_of(
    const std::string& name,
    const fs::path& path) {
  OpenOptions options;
  options.path = path;
  return open_source(name, options).train;
}

// Whole epochs until `wanted` images came, after one that does not count: it
// is the first to touch the memory of the batches.
Speed load(
    const std::shared_ptr<const IndexedSource>& source,
    const std::string& preset,
    Element element,
    int workers,
    std::int64_t wanted) {
  const auto augment = std::make_shared<const Augment>(make_augment(
      {preset}, true, preset == "imagenet" ? 224 : 0, source->info()));
  LoaderOptions options;
  options.batch = preset == "imagenet" ? 64 : 256;
  options.element = element;
  options.workers = workers;
  options.depth = 3;
  options.autotune = false;
  Loader loader(source, augment, options);
  const auto run_epoch = [&](std::uint32_t epoch) {
    std::int64_t images = 0;
    loader.start(epoch);
    while (const HostBatch* batch = loader.next())
      images += batch->size;
    return images;
  };
  run_epoch(0);
  return measure([&] {
    std::int64_t images = 0;
    for (std::uint32_t epoch = 1; images < wanted; ++epoch)
      images += run_epoch(epoch);
    return images;
  });
}

// JPEG bytes in memory to pixels, and nothing else.
Speed decode_all(const std::vector<std::string>& files, std::int64_t wanted) {
  return measure([&] {
    Image image;
    int warnings = 0;
    DecodeOptions options;
    options.channels = 3;
    std::int64_t images = 0;
    while (images < wanted)
      for (const auto& file : files) {
        decode_image(
            {reinterpret_cast<const std::uint8_t*>(file.data()), file.size()},
            options,
            image,
            warnings);
        ++images;
      }
    return images;
  });
}

std::optional<Speed>
peer(const std::string& kind, const fs::path& data, int workers, int wanted) {
  ProcessLimits limits;
  limits.time = std::chrono::minutes(5);
  const auto result = run_process(
      {kPython,
       cat(TEMPER_SOURCE_DIR, "/reference/loader_peer.py"),
       kind,
       data.string(),
       cat(workers),
       cat(wanted)},
      "",
      limits);
  if (!result.succeeded()) return std::nullopt;
  const auto json = nlohmann::json::parse(result.out, nullptr, false);
  if (json.is_discarded()) return std::nullopt;
  const double images = json.at("images");
  return Speed{
      images / json.at("cpu_s").get<double>(),
      images / json.at("wall_s").get<double>()};
}

bool peer_is_here() {
  ProcessLimits limits;
  limits.time =
      std::chrono::minutes(1); // importing takes long on a busy machine
  return run_process(
             {kPython, "-c", "import torch, torchvision, PIL, numpy"},
             "",
             limits)
      .succeeded();
}

std::vector<std::string> jpeg_files(const fs::path& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      if (auto bytes = read_small_file(entry.path()))
        files.push_back(std::move(*bytes));
  return files;
}

struct Line {
  std::string name;
  std::function<std::optional<Speed>(int workers)> run;
  std::string against; // the line whose figure it is compared with
  double bar = 0; // as a ratio to that
  std::vector<double> per_core_s;
  double wall_per_s = 0;
};

void print(const std::vector<Line>& lines) {
  std::map<std::string, double> figures;
  for (const auto& line : lines)
    figures[line.name] = line.per_core_s.empty() ? 0 : median(line.per_core_s);
  std::printf(
      "\n%-34s %14s %12s %10s %8s\n",
      "",
      "img/core-s",
      "wall img/s",
      "ratio",
      "bar");
  for (const auto& line : lines) {
    const double own = figures[line.name];
    std::printf("%-34s ", line.name.c_str());
    if (own == 0) {
      std::printf("%14s\n", "not here");
      continue;
    }
    std::printf(
        "%14s %12s",
        count_text(static_cast<std::int64_t>(own)).c_str(),
        count_text(static_cast<std::int64_t>(line.wall_per_s)).c_str());
    const double other = line.against.empty() ? 0 : figures[line.against];
    if (other > 0)
      std::printf(
          " %9.2fx %7.1fx  %s",
          own / other,
          line.bar,
          own / other >= line.bar ? "PASS" : "miss");
    std::printf("\n");
  }
}

int bench(const fs::path& data, int rounds) {
  const auto cifar = train_of("cifar10", data / "cifar-10-batches-bin");
  const fs::path photos = data / "imagenette-mini";
  const auto folder = train_of(cat("folder:", photos.string()), "");
  const auto files = jpeg_files(photos / "train");
  const fs::path pack_file =
      fs::temp_directory_path() / cat("temper-bench-", ::getpid(), ".tpk");
  write_pack({folder, nullptr}, pack_file);
  const auto packed = open_pack(pack_file, {}).train;
  fs::remove(pack_file); // the mapping keeps it

  const bool python = peer_is_here();
  const auto python_run = [&](const char* kind, int images) {
    return [=](int workers) {
      return python ? peer(kind, data, workers, images) : std::nullopt;
    };
  };
  const auto ours = [](const std::shared_ptr<const IndexedSource>& source,
                       const char* preset,
                       Element element,
                       std::int64_t images) {
    return [=](int workers) {
      return std::optional(load(source, preset, element, workers, images));
    };
  };
  const std::string cifar_peer = "Python: CIFAR crop, flip, f32";
  const std::string photo_peer = "Python: 224 JPEG crop, f32";
  const std::string limit = "decoding of JPEG alone";
  const std::string to_u8 = "224 JPEG crop to u8";
  std::vector<Line> lines;
  const auto add = [&](const std::string& name,
                       const auto& run,
                       const std::string& against,
                       double bar) {
    Line line;
    line.name = name;
    line.run = run;
    line.against = against;
    line.bar = bar;
    lines.push_back(std::move(line));
  };
  add(cifar_peer, python_run("cifar", 10'000), "", 0);
  add("CIFAR crop, flip, f32",
      ours(cifar, "cifar", Element::f32, 200'000),
      cifar_peer,
      60);
  add(photo_peer, python_run("folder", 1000), "", 0);
  add("224 JPEG crop to f32",
      ours(folder, "imagenet", Element::f32, 4000),
      photo_peer,
      5);
  add(to_u8, ours(folder, "imagenet", Element::u8, 4000), photo_peer, 6);
  add("packed, crop to f32",
      ours(packed, "imagenet", Element::f32, 4000),
      photo_peer,
      8);
  add(
      limit,
      [&](int) { return std::optional(decode_all(files, 4000)); },
      "",
      0);

  const int cores = std::max(1U, std::thread::hardware_concurrency());
  for (int round = 0; round <= rounds; ++round)
    for (auto& line : lines) {
      const bool wall = round == rounds;
      std::fprintf(
          stderr,
          "\r\033[Kround %d of %d: %s",
          std::min(round + 1, rounds),
          rounds,
          line.name.c_str());
      const auto speed = line.run(wall ? cores : 1);
      if (!speed) continue;
      if (wall)
        line.wall_per_s = speed->wall_per_s;
      else
        line.per_core_s.push_back(speed->per_core_s);
    }
  std::fprintf(stderr, "\r\033[K");
  // The same figures once more, against the limit.
  for (const char* name : {"224 JPEG crop to f32", "224 JPEG crop to u8"}) {
    auto line = *std::find_if(lines.begin(), lines.end(), [&](const Line& l) {
      return l.name == name;
    });
    line.name += " / decoding";
    line.against = limit;
    line.bar = 0.5;
    lines.push_back(std::move(line));
  }
  print(lines);
  std::printf(
      "\nMedian of %d rounds, one worker; wall: %d workers. "
      "Python: a DataLoader over torchvision, the same augmentation.\n",
      rounds,
      cores);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  const char* set = std::getenv("TEMPER_SHARED_DATA");
  const fs::path data =
      set != nullptr ? set : cat(TEMPER_SOURCE_DIR, "/../shared/data");
  if (!fs::exists(data / "imagenette-mini") ||
      !fs::exists(data / "cifar-10-batches-bin")) {
    std::fprintf(
        stderr,
        "no data in %s: set TEMPER_SHARED_DATA to a folder with "
        "cifar-10-batches-bin and imagenette-mini\n",
        data.c_str());
    return 1;
  }
  try {
    return bench(data, argc > 1 ? std::max(1, std::atoi(argv[1])) : 3);
  } catch (const Error& error) {
    std::fprintf(stderr, "%s\n  %s\n", error.what(), error.hint().c_str());
    return 1;
  }
}
