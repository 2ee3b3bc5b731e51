// Runs a fuzz target without libFuzzer:
//   replay                      its seeds, then mutants of a fixed seed
//   replay ITERATIONS           that many mutants
//   replay FILE...              these inputs, say what a fuzzer found
//   replay --write-seeds DIR    lays its seeds down, for libFuzzer to start
//   from
//
// No single allocation may be larger than kLargest: every input is small, so a
// larger one was believed from a header. (C libraries' malloc is not seen
// here; libFuzzer's -malloc_limit_mb sees it.)
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <sstream>

#include "mutate.h"
#include "target.h"

namespace {

namespace fs = std::filesystem;
constexpr std::size_t kLargest = std::size_t{64} << 20;
constexpr int kIterations = 3000;

std::atomic<bool> watching{false};

void* allocate(std::size_t bytes) {
  if (watching && bytes > kLargest) {
    std::fprintf(stderr, "an allocation of %zu bytes\n", bytes);
    std::abort();
  }
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

// What is being tried is kept where a crash leaves it.
std::string current;
fs::path crash_file;

void on_abort() {
  std::ofstream(crash_file, std::ios::binary) << current;
  std::fprintf(stderr, "the input is in %s\n", crash_file.c_str());
}

void run(const std::string& input) {
  current = input;
  watching = true;
  LLVMFuzzerTestOneInput(
      reinterpret_cast<const std::uint8_t*>(input.data()), input.size());
  watching = false;
}

std::string read_file(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_seeds(const fs::path& folder) {
  fs::create_directories(folder);
  int number = 0;
  for (const auto& seed : temper::fuzz::seeds())
    std::ofstream(
        folder / ("seed-" + std::to_string(number++)), std::ios::binary)
        << seed;
}

} // namespace

void* operator new(std::size_t bytes) {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes) {
  return allocate(bytes);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete[](void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  std::free(memory);
}

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 2 && arguments[0] == "--write-seeds") {
    write_seeds(arguments[1]);
    return 0;
  }
  int iterations = kIterations;
  if (!arguments.empty() && fs::exists(arguments[0])) {
    for (const auto& file : arguments)
      run(read_file(file));
    return 0;
  }
  if (!arguments.empty()) iterations = std::atoi(arguments[0].c_str());
  crash_file = fs::path(argv[0]).filename().string() + "-crash";
  std::set_terminate([] {
    on_abort();
    std::abort();
  });
  const auto seeds = temper::fuzz::seeds();
  for (const auto& seed : seeds)
    run(seed);
  run("");
  std::mt19937 random(20240611);
  for (int i = 0; i < iterations; ++i)
    run(temper::fuzz::mutate(seeds, random));
  std::printf("%zu seeds and %d mutants\n", seeds.size(), iterations);
  return 0;
}
