#include "temper/data/inspect/check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/inspect/duplicates.h"
#include "temper/data/loader/finite.h"

namespace temper::data {
namespace {

struct Findings {
  PartReport part;
  std::vector<std::pair<std::int64_t, std::string>> bad; // index, reason
  std::vector<SeenSample> seen;
};

std::uint64_t content_hash(const SourceInfo& info, const Sample& sample) {
  Hasher hasher;
  const auto& image = sample.image;
  switch (info.input) {
    case Input::image:
      hasher.add(static_cast<std::uint64_t>(image.width()));
      hasher.add(static_cast<std::uint64_t>(image.channels()));
      hasher.add(image.pixels(), image.bytes());
      break;
    case Input::numbers:
      hasher.add(sample.numbers.data(), sample.numbers.size() * sizeof(float));
      break;
    case Input::tokens:
      hasher.add(
          sample.tokens.data(), sample.tokens.size() * sizeof(std::int64_t));
      break;
  }
  // Two houses of one size at two prices are two samples.
  const auto& targets = sample.target_numbers;
  if (info.target == Target::numbers)
    hasher.add(targets.data(), targets.size() * sizeof(float));
  return hasher.value();
}

std::string picture_text(const Image& image) {
  return cat(
      image.width(),
      " x ",
      image.height(),
      image.channels() == 1 ? " grey" : " RGB");
}

void look_at_sample(
    const IndexedSource& source,
    std::int64_t index,
    std::int64_t offset,
    Sample& sample,
    Findings& found) {
  const auto& info = source.info();
  sample.warnings = 0;
  source.read(index, sample);
  if (const auto what = not_finite_text(info, sample); !what.empty())
    throw BadSample(cat("[data] ", source.describe(index), ": ", what, "."));
  if (info.target == Target::label) {
    const auto classes = static_cast<std::int64_t>(info.classes.size());
    if (sample.label < 0 || (classes > 0 && sample.label >= classes))
      throw BadSample(
          cat("[data] ",
              source.describe(index),
              " has label ",
              sample.label,
              "; the classes are 0 to ",
              classes - 1,
              "."));
    auto& counts = found.part.class_counts;
    if (static_cast<std::size_t>(sample.label) < counts.size())
      ++counts[static_cast<std::size_t>(sample.label)];
  }
  if (info.input == Input::image)
    ++found.part.sizes[picture_text(sample.image)];
  found.part.decoder_warnings += sample.warnings;
  found.seen.push_back(
      {content_hash(info, sample), offset + index, sample.label});
}

// Threads that share one counter; the caller's thread watches.
class Crew {
 public:
  Crew(const IndexedSource& source, std::int64_t offset, int workers, int named)
      : source_(source),
        offset_(offset),
        named_(named),
        found_(static_cast<std::size_t>(std::max(1, workers))) {
    running_ = static_cast<int>(found_.size());
    for (auto& found : found_) {
      found.part.class_counts.resize(source.info().classes.size());
      threads_.emplace_back([this, &found] { work(found); });
    }
  }
  ~Crew() {
    stop_ = true;
    for (auto& thread : threads_)
      thread.join();
  }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  std::vector<Findings>& watch(
      const std::function<void(std::int64_t)>& progress) {
    constexpr std::chrono::milliseconds kLook{100};
    std::unique_lock lock(mutex_);
    while (!finished_.wait_for(lock, kLook, [&] { return running_ == 0; })) {
      lock.unlock();
      progress(done_);
      lock.lock();
    }
    if (failure_) std::rethrow_exception(failure_);
    return found_;
  }

 private:
  void work(Findings& found) {
    try {
      constexpr std::int64_t kChunk = 16;
      Sample sample;
      while (!stop_) {
        const std::int64_t begin = next_.fetch_add(kChunk);
        const std::int64_t end = std::min(begin + kChunk, source_.size());
        if (begin >= end) break;
        for (std::int64_t i = begin; i < end && !stop_; ++i)
          one(i, sample, found);
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!failure_) failure_ = std::current_exception();
      stop_ = true;
    }
    const std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_all();
  }

  void one(std::int64_t index, Sample& sample, Findings& found) {
    try {
      look_at_sample(source_, index, offset_, sample, found);
    } catch (const BadSample& bad) {
      ++found.part.bad;
      // A worker's indices rise: its first ones are its smallest.
      if (found.bad.size() < static_cast<std::size_t>(named_))
        found.bad.emplace_back(index, bad.what());
    }
    ++found.part.samples;
    ++done_;
  }

  const IndexedSource& source_;
  const std::int64_t offset_;
  const int named_;
  std::vector<Findings> found_;
  std::atomic<std::int64_t> next_{0};
  std::atomic<std::int64_t> done_{0};
  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable finished_;
  int running_ = 0;
  std::exception_ptr failure_;
  std::vector<std::thread> threads_;
};

Findings merge(std::vector<Findings>& parts) {
  Findings all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const auto& other = parts[i];
    all.part.samples += other.part.samples;
    all.part.bad += other.part.bad;
    all.part.decoder_warnings += other.part.decoder_warnings;
    for (const auto& [size, count] : other.part.sizes)
      all.part.sizes[size] += count;
    for (std::size_t c = 0; c < all.part.class_counts.size(); ++c)
      all.part.class_counts[c] += other.part.class_counts[c];
    all.bad.insert(all.bad.end(), other.bad.begin(), other.bad.end());
    all.seen.insert(all.seen.end(), other.seen.begin(), other.seen.end());
  }
  std::sort(all.bad.begin(), all.bad.end());
  return all;
}

} // namespace

std::int64_t DataReport::samples() const {
  std::int64_t sum = 0;
  for (const auto& part : parts)
    sum += part.samples;
  return sum;
}

std::int64_t DataReport::bad() const {
  std::int64_t sum = 0;
  for (const auto& part : parts)
    sum += part.bad;
  return sum;
}

bool DataReport::has_problems() const {
  return !problems().empty();
}

std::vector<std::string> DataReport::problems() const {
  constexpr std::int64_t kOneIn = 100;
  std::vector<std::string> all;
  if (bad() > 0 && !skips_bad)
    all.push_back(cat(plural(bad(), "sample"), " cannot be used."));
  const std::int64_t val = parts.size() > 1 ? parts[1].samples : 0;
  if (!repetitive && leaked_samples * kOneIn > val)
    all.push_back(
        cat(count_text(leaked_samples),
            " of ",
            count_text(val),
            " validation samples are in train, too: validation would be too "
            "good. Remove the duplicates."));
  if (!repetitive && contradictions * kOneIn > samples())
    all.push_back(
        cat(plural(contradictions, "sample"),
            " are the same as another and have different labels. Mend the "
            "labels, or remove them."));
  return all;
}

DataReport check_data(const Splits& splits, const CheckOptions& options) {
  DataReport report;
  report.name = splits.train->info().name;
  report.classes = splits.train->info().classes;
  report.labels = splits.train->info().target == Target::label;
  report.schema = splits.schema;
  report.skips_bad = options.skips_bad;
  const std::int64_t train_size = splits.train->size();
  const std::int64_t total = train_size + (splits.val ? splits.val->size() : 0);
  std::vector<SeenSample> seen;
  std::int64_t offset = 0;
  for (const auto* source : {splits.train.get(), splits.val.get()}) {
    if (source == nullptr) continue;
    Crew crew(*source, offset, options.workers, options.named);
    auto found = merge(crew.watch([&](std::int64_t done) {
      if (options.progress) options.progress(offset + done, total);
    }));
    found.part.name = offset == 0 && report.parts.empty() ? "train" : "val";
    for (const auto& [index, reason] : found.bad)
      if (report.bad_samples.size() < static_cast<std::size_t>(options.named))
        report.bad_samples.push_back(reason);
    seen.insert(seen.end(), found.seen.begin(), found.seen.end());
    report.parts.push_back(std::move(found.part));
    offset += source->size();
  }
  if (options.progress) options.progress(total, total);
  find_duplicates(seen, splits, options.named, report);
  return report;
}

} // namespace temper::data
