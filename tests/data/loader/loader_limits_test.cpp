// What a loader may use: file descriptors, memory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loader_samples.h"
#include "temper/base/file/file.h"
#include "temper/base/text.h"
#include "tests/temp_folder.h"

namespace temper::data {
namespace {

using tests::TempFolder;

// One file a sample, open while it is read.
class FileSource : public IndexedSource {
 public:
  FileSource(const TempFolder& place, std::int64_t size)
      : place_(place), size_(size) {
    info_.name = "files";
    info_.channels = 1;
    info_.height = info_.width = 2;
    for (std::int64_t i = 0; i < size; ++i)
      place.write(cat(i), std::string(4, static_cast<char>(i % 100)));
  }
  const SourceInfo& info() const override {
    return info_;
  }
  std::int64_t size() const override {
    return size_;
  }
  void read(std::int64_t index, Sample& sample) const override {
    const auto bytes = read_small_file(place_ / cat(index), 4);
    if (!bytes) throw BadSample(cat("cannot open ", index, "."));
    sample.image.reshape(2, 2, 1);
    std::copy(bytes->begin(), bytes->end(), sample.image.pixels());
    sample.label = index;
  }
  std::uint64_t fingerprint() const override {
    return 1;
  }

 private:
  const TempFolder& place_;
  std::int64_t size_;
  SourceInfo info_;
};

// 0 when a whole epoch came.
int epoch_with_few_descriptors(const TempFolder& place) {
  const auto source = std::make_shared<FileSource>(place, 5000);
  rlimit limit{64, 64};
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 2;
  LoaderOptions options;
  options.workers = 8;
  Loader loader(source, nullptr, options);
  loader.start(0);
  std::int64_t samples = 0;
  try {
    while (const HostBatch* batch = loader.next())
      samples += batch->size;
  } catch (const std::exception&) {
    return 3;
  }
  return samples == 5000 ? 0 : 4;
}

TEST(LoaderLimits, FiveThousandFilesNeedFewDescriptors) {
  const TempFolder place;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(epoch_with_few_descriptors(place));
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

std::int64_t resident_pages() {
  const auto text = read_small_file("/proc/self/statm");
  if (!text) return -1;
  return parse_int(split(*text, ' ').at(1)).value_or(-1);
}

// What an epoch over so many samples adds to what is resident. A sanitizer
// keeps what earlier loaders gave back.
std::int64_t pages_of(std::int64_t samples) {
  const std::int64_t before = resident_pages();
  LoaderOptions options;
  options.batch = 256;
  options.workers = 2;
  options.element = Element::u8;
  Loader loader(std::make_shared<MadeSource>(samples, 2, 1), nullptr, options);
  loader.start(0);
  while (loader.next() != nullptr) {
  }
  return resident_pages() - before;
}

TEST(LoaderLimits, MemoryDoesNotGrowWithTheNumberOfSamples) {
  if (resident_pages() < 0) GTEST_SKIP() << "this system has no /proc";
  pages_of(10'000); // what is allocated once
  const auto few = pages_of(10'000);
  const auto many = pages_of(1'000'000);
  // 8 bytes a sample would be 2,000 pages.
  EXPECT_LT(many - few, 200);
}

} // namespace
} // namespace temper::data
