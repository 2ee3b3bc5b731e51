#include "temper/data/loader/loader.h"

#include "temper/base/digest/hash.h"
#include "temper/base/text.h"
#include "temper/data/loader/loader_body.h"

namespace temper::data {

Loader::Loader(
    std::shared_ptr<const IndexedSource> source,
    std::shared_ptr<const Augment> augment,
    LoaderOptions options)
    : body_(std::make_unique<Body>(
          std::move(source),
          std::move(augment),
          std::move(options))) {}

Loader::~Loader() = default;

void Loader::start(std::uint32_t epoch, std::int64_t consumed) {
  body_->start(epoch, consumed);
}

bool Loader::ready(double seconds) {
  return body_->ready(seconds);
}

const HostBatch* Loader::next() {
  return body_->next();
}

std::int64_t Loader::batches_per_epoch() const {
  return body_->batches_per_epoch();
}

const std::vector<std::int64_t>& Loader::shape() const {
  return body_->layout().shape;
}

Element Loader::element() const {
  return body_->layout().element;
}

LoaderState Loader::state() const {
  return body_->state();
}

void Loader::resume(const LoaderState& state) {
  body_->resume(state);
}

LoaderStats Loader::stats() const {
  return body_->stats();
}

std::string Loader::in_hand() const {
  return body_->in_hand();
}

} // namespace temper::data
