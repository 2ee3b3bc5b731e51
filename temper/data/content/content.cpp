#include "temper/data/content/content.h"

#include <fcntl.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <optional>
#include <thread>
#include <utility>

#include "temper/base/digest/hash.h"
#include "temper/base/environment.h"
#include "temper/base/file/descriptor.h"
#include "temper/base/file/file_stamp.h"
#include "temper/base/log.h"
#include "temper/base/text.h"
#include "temper/data/content/sum_memory.h"
#include "temper/data/fetch/locate.h"

namespace temper::data {
namespace {

constexpr std::uint64_t kUnreadable = 0x756E7265616461;
constexpr std::size_t kContentBlock = std::size_t{256} << 10;
constexpr std::size_t kMostThreads = 4;
// Reading more than this takes long enough to be told.
constexpr std::uint64_t kSaidBytes = std::uint64_t{2} << 30;

struct Reading {
  std::uint64_t sum = kUnreadable;
  // The file's stamp, if it was the same before and after.
  std::optional<FileStamp> stamp;
};

// A file that cannot be read is a bad sample later; here it has a sum, too.
Reading read_sum(const std::string& path, std::vector<char>& block) {
  const Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.open()) return {};
  const auto before = file_stamp(file.get());
  if (!before) return {};
  Hasher hasher;
  for (;;) {
    const ssize_t got = ::read(file.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return {};
    if (got == 0) break;
    hasher.add(block.data(), static_cast<std::size_t>(got));
  }
  Reading made{hasher.value(), before};
  if (file_stamp(file.get()) != before) made.stamp.reset();
  return made;
}

// Calls work(index, block) for each index, from a few threads.
template <class Work>
void in_parallel(std::size_t count, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&] {
    std::vector<char> block(kContentBlock);
    for (std::size_t i = next++; i < count; i = next++)
      work(i, block);
  };
  const std::size_t cores =
      std::max<std::size_t>(1, std::thread::hardware_concurrency());
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < std::min({kMostThreads, cores, count}); ++i)
    others.emplace_back(run);
  run();
  for (std::thread& other : others)
    other.join();
}

} // namespace

ContentOptions usual_content_options() {
  ContentOptions options;
  const auto cache = cache_directory(current_environment());
  if (!cache.empty()) options.memory = cache / "sums";
  return options;
}

Content::Content(
    std::size_t count,
    std::function<ContentFile(std::size_t)> file,
    ContentOptions options)
    : count_(count), file_(std::move(file)), options_(std::move(options)) {}

const std::vector<FilePrint>& Content::prints() const {
  std::call_once(once_, [this] {
    read();
    sum_up();
  });
  return prints_;
}

bool Content::was_read() const {
  prints();
  return was_read_;
}

void Content::read() const {
  prints_.resize(count_);
  std::vector<std::size_t> unread;
  std::uint64_t all_bytes = 0;
  const bool many = count_ >= options_.remembered_files;
  std::vector<FileStamp> found(count_);
  for (std::size_t i = 0; i < count_; ++i) {
    const ContentFile file = file_(i);
    const auto stamp = file_stamp(file.path);
    FilePrint& print = prints_[i];
    if (stamp) {
      found[i] = *stamp;
      print.modified_ns = stamp->modified_ns;
    }
    if (file.bytes.data() != nullptr) {
      print.bytes = file.bytes.size();
      print.sum = hash64(file.bytes.data(), file.bytes.size());
      continue;
    }
    print.bytes = stamp ? stamp->bytes : 0;
    print.sum = stamp ? stamp->hash() : kUnreadable;
    all_bytes += print.bytes;
    unread.push_back(i);
  }
  was_read_ = all_bytes <= options_.most_bytes;
  if (!was_read_ || unread.empty()) return;

  const bool remembers = many || all_bytes >= options_.remembered_bytes;
  SumMemory memory(
      remembers ? options_.memory : std::filesystem::path(),
      file_(unread.front()).path);
  std::uint64_t new_bytes = 0;
  std::erase_if(unread, [&](std::size_t i) {
    const auto known = memory.recall(file_(i).path, found[i]);
    if (known)
      prints_[i].sum = *known;
    else
      new_bytes += prints_[i].bytes;
    return known.has_value();
  });
  if (new_bytes >= kSaidBytes)
    log::note(
        cat("[data] ",
            bytes_text(new_bytes),
            " are read once, so that a change to them is noticed later."));
  const std::int64_t now_ns =
      options_.now_ns != 0 ? options_.now_ns : wall_clock_ns();
  std::mutex memory_mutex;
  in_parallel(unread.size(), [&](std::size_t at, std::vector<char>& block) {
    const std::size_t i = unread[at];
    const std::string path = file_(i).path;
    const Reading reading = read_sum(path, block);
    prints_[i].sum = reading.sum;
    if (!remembers || !reading.stamp || !reading.stamp->is_settled(now_ns))
      return;
    const std::lock_guard<std::mutex> lock(memory_mutex);
    memory.remember(path, *reading.stamp, reading.sum);
  });
  memory.save();
}

void Content::sum_up() const {
  Hasher everywhere;
  Hasher here;
  for (std::size_t i = 0; i < count_; ++i) {
    const FilePrint& print = prints_[i];
    for (Hasher* each : {&everywhere, &here})
      each->add(print.bytes);
    here.add(print.sum);
    if (was_read_)
      everywhere.add(print.sum);
    else
      everywhere.add(std::string_view(file_(i).name));
  }
  value_ = everywhere.value();
  value_here_ = here.value();
}

bool Content::is_unchanged() const {
  for (std::size_t i = 0; i < count_; ++i) {
    const auto stamp = file_stamp(file_(i).path);
    if ((stamp ? stamp->modified_ns : 0) != prints()[i].modified_ns)
      return false;
  }
  return true;
}

std::uint64_t Content::value() const {
  prints();
  return value_;
}

std::uint64_t Content::value_here() const {
  prints();
  return value_here_;
}

} // namespace temper::data
