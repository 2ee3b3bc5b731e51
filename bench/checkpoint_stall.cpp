// The cost of saving to a run, in CPU time, which a busy machine does not
// distort: for states of several sizes, what the training thread spends on the
// copy as a part of a minute, what the writing thread does beside it, and both
// as a part of what all cores do in a minute.
//   temper_bench_checkpoint [FOLDER]
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <thread>

#include "temper/checkpoint/background_writer.h"

namespace {

namespace fs = std::filesystem;
using temper::checkpoint::Snapshot;

constexpr std::size_t kTensors = 60; // as a ResNet-18 has
constexpr double kMinute_s = 60;

double clock_s(clockid_t which) {
  timespec now{};
  ::clock_gettime(which, &now);
  return static_cast<double>(now.tv_sec) +
      1e-9 * static_cast<double>(now.tv_nsec);
}

Snapshot state_of(std::size_t bytes) {
  Snapshot made;
  for (std::size_t i = 0; i < kTensors; ++i) {
    const auto count = static_cast<std::int64_t>(bytes / kTensors / 4);
    made.tensors["model." + std::to_string(i)] =
        temper::graph::make_tensor(temper::graph::DType::kFloat32, {count})
            .data;
  }
  return made;
}

// A copy as an engine makes it: every tensor in memory of its own.
Snapshot copy_of(const Snapshot& from) {
  Snapshot made;
  for (const auto& [name, tensor] : from.tensors) {
    auto copy = temper::graph::make_tensor(tensor.dtype, tensor.sizes, false);
    std::memcpy(copy.bytes, tensor.bytes.get(), tensor.byte_count);
    made.tensors[name] = copy.data;
  }
  return made;
}

} // namespace

int main(int count, char** arguments) {
  const fs::path folder =
      count > 1 ? arguments[1] : fs::temp_directory_path() / "temper-bench";
  const double cores = std::max(std::thread::hardware_concurrency(), 1U);
  std::printf(
      "state     training's copy  of a minute   the writer's work  both\n");
  for (const std::size_t megabytes : {1, 90, 500}) {
    fs::remove_all(folder);
    temper::checkpoint::Store store(folder);
    temper::checkpoint::BackgroundWriter writer(store);
    const Snapshot state = state_of(megabytes << 20);
    double copy_s = 0;
    double work_s = 0;
    constexpr int kSaves = 3;
    for (int save = 1; save <= kSaves; ++save) {
      const double begin_s = clock_s(CLOCK_THREAD_CPUTIME_ID);
      const double all_s = clock_s(CLOCK_PROCESS_CPUTIME_ID);
      Snapshot copy = copy_of(state);
      copy.update = save;
      writer.submit(std::move(copy));
      const double held_s = clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
      writer.wait();
      copy_s += held_s / kSaves;
      work_s += (clock_s(CLOCK_PROCESS_CPUTIME_ID) - all_s - held_s) / kSaves;
    }
    std::printf(
        "%4zu MB %13.1f ms %10.2f %% %16.1f ms %5.2f %%\n",
        megabytes,
        copy_s * 1e3,
        copy_s / kMinute_s * 100,
        work_s * 1e3,
        (copy_s + work_s / cores) / kMinute_s * 100);
  }
  fs::remove_all(folder);
}
