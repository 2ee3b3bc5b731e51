#include "temper/base/digest/hash.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/data/loader/loader_body.h"

namespace temper::data {
namespace {

[[noreturn]] void refuse_to_resume(const std::string& difference) {
  throw Error(
      cat("[data] cannot go on where the run stopped: ", difference, "."),
      "Resume with the data and the configuration it had, or start a new run.");
}

} // namespace

std::uint64_t pipeline_hash(const Augment* augment, bool shuffle) {
  Hasher hasher;
  hasher.add(augment != nullptr ? augment->hash() : 0);
  hasher.add(static_cast<std::uint64_t>(shuffle));
  return hasher.value();
}

LoaderState Loader::Body::state() const {
  LoaderState state;
  state.seed = seed_;
  state.epoch = epoch_;
  state.samples_consumed = consumed_;
  state.dataset_size = size_;
  state.dataset_fingerprint = source_->fingerprint();
  state.pipeline_hash = pipeline_hash(augment_.get(), options_.shuffle);
  return state;
}

void Loader::Body::resume(const LoaderState& state) {
  const LoaderState here = this->state();
  const std::string& name = source_->info().name;
  if (state.dataset_size != here.dataset_size)
    refuse_to_resume(
        cat(name,
            " has ",
            plural(here.dataset_size, "sample"),
            ", the run had ",
            count_text(state.dataset_size)));
  if (state.dataset_fingerprint != 0 &&
      state.dataset_fingerprint != here.dataset_fingerprint)
    refuse_to_resume(
        cat(name,
            " has as many samples as the run had, but other ones (what its "
            "files hold differs)"));
  if (state.pipeline_hash != here.pipeline_hash)
    refuse_to_resume(
        cat("the augmentation or the shuffling is another one (now \"",
            augment_ ? augment_->name : "none",
            "\", ",
            options_.shuffle ? "" : "not ",
            "shuffled)"));
  if (state.samples_consumed > state.dataset_size)
    refuse_to_resume(
        cat("its position, ",
            count_text(state.samples_consumed),
            ", is beyond the end of the data"));
  seed_ = state.seed;
  start(state.epoch, state.samples_consumed);
}

} // namespace temper::data
