#include "temper/train/setup/batches.h"

#include <utility>

#include "temper/base/text.h"

namespace temper::train {
namespace {

class IndexedBatches final : public Batches {
 public:
  IndexedBatches(
      std::shared_ptr<const data::IndexedSource> source,
      std::shared_ptr<const data::Augment> augment,
      const data::LoaderOptions& options)
      : source_(source),
        loader_(std::move(source), std::move(augment), options) {}

  void start(std::uint32_t epoch) override {
    loader_.start(epoch);
  }
  bool ready(double seconds) override {
    return loader_.ready(seconds);
  }
  const data::HostBatch* next() override {
    return loader_.next();
  }
  std::optional<std::int64_t> batches_per_epoch() const override {
    return loader_.batches_per_epoch();
  }
  std::optional<std::int64_t> samples() const override {
    return source_->size();
  }
  std::string state() const override {
    return loader_.state().to_json();
  }
  void resume(const std::string& state) override {
    loader_.resume(data::LoaderState::from_json(state));
  }
  data::LoaderStats stats() const override {
    return loader_.stats();
  }
  std::string describe(std::int64_t index) const override {
    return source_->describe(index);
  }
  std::string in_hand() const override {
    return loader_.in_hand();
  }

 private:
  std::shared_ptr<const data::IndexedSource> source_;
  data::Loader loader_;
};

class StreamBatches final : public Batches {
 public:
  StreamBatches(
      std::unique_ptr<data::StreamSource> source,
      const std::shared_ptr<const data::Augment>& augment,
      const data::LoaderOptions& options)
      : loader_(std::move(source), augment, options) {}

  void start(std::uint32_t epoch) override {
    loader_.start(epoch);
  }
  bool ready(double seconds) override {
    return loader_.ready(seconds);
  }
  const data::HostBatch* next() override {
    return loader_.next();
  }
  std::optional<std::int64_t> batches_per_epoch() const override {
    return std::nullopt;
  }
  std::optional<std::int64_t> samples() const override {
    return std::nullopt;
  }
  std::string state() const override {
    return loader_.state().to_json();
  }
  void resume(const std::string& state) override {
    loader_.resume(data::StreamState::from_json(state));
  }
  data::LoaderStats stats() const override {
    return loader_.stats();
  }
  std::string in_hand() const override {
    return loader_.in_hand();
  }

 private:
  data::StreamLoader loader_;
};

} // namespace

std::string Batches::describe(std::int64_t index) const {
  return cat("sample ", index);
}

std::unique_ptr<Batches> indexed_batches(
    std::shared_ptr<const data::IndexedSource> source,
    std::shared_ptr<const data::Augment> augment,
    const data::LoaderOptions& options) {
  return std::make_unique<IndexedBatches>(
      std::move(source), std::move(augment), options);
}

std::unique_ptr<Batches> stream_batches(
    std::unique_ptr<data::StreamSource> source,
    const std::shared_ptr<const data::Augment>& augment,
    const data::LoaderOptions& options) {
  return std::make_unique<StreamBatches>(std::move(source), augment, options);
}

} // namespace temper::train
