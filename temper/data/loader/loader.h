// Batches, in order, made by a few threads. One fused task per sample reads,
// decodes, augments and writes straight into its slot of a recycled ring of
// batches; memory is depth x batch + workers x scratch, checked before it is
// taken.
//
// A batch depends on (source, augment, seed, epoch, position)
// alone: not on workers, depth, tuning, timing or where a run was resumed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "temper/data/sample/source.h"
#include "temper/data/transform/transform.h"

namespace temper::data {

enum class Element { u8, f32, i64 };

std::size_t bytes_of(Element element);

enum class BadPolicy {
  error, // the run ends, with the file's name and the reason
  skip, // the batch is shorter by one
  replace, // another sample, chosen by the seed, takes its place
};

struct LoaderOptions {
  int batch = 64;
  bool shuffle = true;
  bool drop_last = false;
  std::uint64_t seed = 0;
  BadPolicy bad = BadPolicy::error;
  // Images: u8 leaves normalisation to the device, f32 does it here.
  Element element = Element::f32;
  bool channels_last = true;
  // Worker threads; 0: chosen, and with autotune adapted to the measured
  // stalls.
  int workers = 0;
  // Batches in memory, the one in the consumer's hands included.
  int depth = 0;
  // The bytes that batches and workers may take, and the number of cores: the
  // caller knows the machine's limits.
  std::uint64_t memory_bytes = std::uint64_t{512} << 20;
  int cores = 1;
  bool autotune = true;
  double tune_window_s = 1;
  // The file of settled values, kept from run to run, and the machine they are
  // for; empty: none is kept.
  std::filesystem::path tuning_file;
  std::string machine_key;
};

// A batch in the ring. Valid until the next call of next() or start().
struct HostBatch {
  std::int64_t number = 0; // in its epoch
  int size = 0; // samples in it
  Element element = Element::f32;
  std::vector<std::int64_t> shape; // of one input: {H, W, C} or {C, H, W}
  const void* inputs = nullptr; // size x shape, page-aligned
  // One of these, by the source's target; in the same allocation as the
  // inputs, after the room for a full batch of them.
  const std::int64_t* labels = nullptr; // size x 1, or x target_count tokens
  const float* target_numbers = nullptr; // size x target_count
  std::size_t target_count = 1; // labels, tokens or numbers in a target
  const std::int64_t* indices = nullptr; // which samples of the source
};

// Enough to go on exactly where a run stopped; about 200 bytes of JSON. What
// next() has returned counts as consumed. Samples are counted, not batches, so
// that a run may go on with another batch size.
struct LoaderState {
  std::uint64_t seed = 0;
  std::uint32_t epoch = 0;
  std::int64_t samples_consumed = 0; // of the epoch, bad ones included
  std::int64_t dataset_size = 0;
  // The source's fingerprint; 0 in older states, which do not compare it.
  std::uint64_t dataset_fingerprint = 0;
  std::uint64_t pipeline_hash = 0;

  std::string to_json() const;
  static LoaderState from_json(const std::string& text); // Error if malformed
};

// A hash of all that decides which sample comes where and how it is changed.
// The batch size, the element and the policy for bad samples are left out: a
// run may go on with others.
std::uint64_t pipeline_hash(const Augment* augment, bool shuffle);

struct LoaderStats {
  int workers = 0;
  int depth = 0;
  std::uint64_t memory_bytes = 0;
  std::int64_t samples = 0;
  std::int64_t bad_samples = 0;
  std::int64_t decoder_warnings = 0;
  double wait_s = 0; // the consumer waited for a batch
  double busy_s = 0; // workers, added up
  double first_batch_s = 0;
};

// A loader for one consumer: everything is called from one thread.
class Loader {
 public:
  // Error when the ring does not fit the memory budget, or the source and the
  // augmentation do not go together.
  Loader(
      std::shared_ptr<const IndexedSource> source,
      std::shared_ptr<const Augment> augment, // null: as the source gives it
      LoaderOptions options);
  ~Loader();
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // Begins an epoch, abandoning the one under way. `consumed` samples of it
  // are passed over in constant time.
  void start(std::uint32_t epoch, std::int64_t consumed = 0);
  // Waits for the next batch for at most so long, and lets go of the last one;
  // true: next() comes back at once, or nearly so where samples are bad.
  bool ready(double seconds);
  // The next batch, or nullptr at the end of the epoch. Rethrows what went
  // wrong in a worker: in the order of the samples, whoever met it first.
  const HostBatch* next();

  std::int64_t batches_per_epoch() const;
  // The shape of one input, as in HostBatch.
  const std::vector<std::int64_t>& shape() const;
  Element element() const;
  LoaderState state() const;
  // Goes on where `state` was taken. Error when the data or the pipeline is
  // another one, naming the difference.
  void resume(const LoaderState& state);
  LoaderStats stats() const;
  // The samples that workers are busy with now, by name: what to look at when
  // no batch comes. From any thread, next() being under way or not.
  std::string in_hand() const;

 private:
  class Body;
  std::unique_ptr<Body> body_;
};

} // namespace temper::data
