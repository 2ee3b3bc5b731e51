#include <c10/util/Exception.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/libtorch/sim/sim_device.h"

namespace temper::libtorch::sim {
namespace {

struct State {
  std::atomic<Key> key{Key::own}; // read by every operator, set once
  std::mutex mutex; // of what follows
  Rules rules;
  std::string faulty; // operator
  double off_by = 0;
  std::int64_t until_failure = 0; // allocations; 0: none will fail
  Counts counts;
  std::map<std::string, std::int64_t> kernels;
};

// Never destroyed: tensors may outlive everything.
State& state() {
  static State& all = *new State;
  return all;
}

class Locked {
 public:
  State* operator->() const {
    return &state();
  }

 private:
  std::lock_guard<std::mutex> lock_{state().mutex};
};

[[noreturn]] void refuse(const Locked& now, std::size_t bytes) {
  ++now->counts.refused;
  const std::string live = bytes_text(now->counts.live_bytes);
  const std::string most = bytes_text(now->rules.memory_bytes);
  if (key() == Key::mps) // the real one's words, and no type of its own
    C10_THROW_ERROR(
        Error,
        cat("MPS backend out of memory (MPS allocated: ",
            live,
            ", other allocations: 0 bytes, max allowed: ",
            most,
            "). Tried to allocate ",
            bytes_text(bytes),
            " on shared pool."));
  C10_THROW_ERROR(
      OutOfMemoryError,
      cat("[sim] out of memory: ",
          bytes_text(bytes),
          " more were asked for, and tensors hold ",
          live,
          now->rules.memory_bytes > 0 ? cat(" of ", most) : "",
          "."));
}

bool fails_now(const Locked& now) {
  if (now->until_failure == 0) return false;
  if (now->until_failure > 1) {
    --now->until_failure;
    return false;
  }
  if (!now->rules.fail_always) now->until_failure = 0;
  return true;
}

void charge(std::size_t bytes) {
  const Locked now;
  Counts& counts = now->counts;
  const std::uint64_t most = now->rules.memory_bytes;
  if (fails_now(now)) refuse(now, bytes);
  if (most > 0 &&
      (counts.live_bytes > most || bytes > most - counts.live_bytes))
    refuse(now, bytes);
  ++counts.allocations;
  counts.live_bytes += bytes;
  counts.peak_bytes = std::max(counts.peak_bytes, counts.live_bytes);
}

// The memory that a device pointer owns: its own, or a CPU result taken over.
struct Block {
  void* memory;
  std::size_t bytes;
  c10::Storage adopted;
};

void release(void* context) {
  auto* block = static_cast<Block*>(context);
  {
    const Locked now;
    now->counts.live_bytes -= block->bytes;
  }
  if (!block->adopted) std::free(block->memory);
  delete block;
}

c10::DataPtr owned(void* memory, std::size_t bytes, c10::Storage adopted) {
  return {
      memory, new Block{memory, bytes, std::move(adopted)}, &release, place()};
}

c10::DataPtr take(std::size_t bytes) {
  charge(bytes);
  constexpr std::size_t kAlignment = 64; // as LibTorch's own memory has it
  void* memory = nullptr;
  if (bytes > 0 && ::posix_memalign(&memory, kAlignment, bytes) != 0) {
    const Locked now;
    now->counts.live_bytes -= bytes;
    refuse(now, bytes);
  }
  return owned(memory, bytes, {});
}

// The two ways LibTorch has declared this interface: allocate() lost its const
// and copy_data() was added in 2.3. Neither is marked override, so that one
// class serves both.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wsuggest-override"
struct SimAllocator final : c10::Allocator {
  c10::DataPtr allocate(std::size_t bytes) const {
    return take(bytes);
  }
  c10::DataPtr allocate(std::size_t bytes) {
    return take(bytes);
  }
  void copy_data(void* to, const void* from, std::size_t bytes) const {
    std::memcpy(to, from, bytes);
  }
};
#pragma GCC diagnostic pop

} // namespace

Key key() {
  return state().key;
}

void set_key(Key key) {
  state().key = key;
  Locked()->rules.has_float64 = key != Key::mps;
}

c10::DeviceType type() {
  return key() == Key::mps ? c10::DeviceType::MPS
                           : c10::DeviceType::PrivateUse1;
}

c10::DispatchKey dispatch_key() {
  return key() == Key::mps ? c10::DispatchKey::MPS
                           : c10::DispatchKey::PrivateUse1;
}

c10::Device place() {
  return {type(), 0};
}

c10::Allocator& allocator() {
  static SimAllocator& all = *new SimAllocator;
  return all;
}

c10::DataPtr adopt_memory(const c10::Storage& host) {
  charge(host.nbytes());
  return owned(
      host.unsafeGetStorageImpl()->data_ptr().get(), host.nbytes(), host);
}

void count_kernel(const std::string& op, bool waits) {
  const Locked now;
  ++now->counts.kernels;
  ++now->kernels[op];
  if (waits) ++now->counts.syncs;
}

void count_copy(bool from_device, bool to_device, std::uint64_t bytes) {
  const Locked now;
  Counts& counts = now->counts;
  if (from_device && to_device) {
    ++counts.kernels;
  } else if (to_device) {
    ++counts.copies_to;
    counts.bytes_to += bytes;
  } else {
    ++counts.copies_from;
    counts.bytes_from += bytes;
    ++counts.syncs;
  }
}

double fault_of(const std::string& op) {
  const Locked now;
  return op == now->faulty ? now->off_by : 0;
}

void check_type(at::ScalarType type, bool number) {
  const Locked now;
  if (now->rules.has_float64 || number) return;
  const char* name = key() == Key::mps ? "MPS" : "SIM";
  TORCH_CHECK_TYPE(
      type != at::kDouble && type != at::kComplexDouble,
      "Cannot convert a ",
      name,
      " Tensor to float64 dtype as the ",
      name,
      " framework doesn't support float64. Please use float32 instead.");
}

void set_rules(const Rules& rules) {
  std::string op;
  double off_by = 0;
  if (!rules.fault.empty()) {
    const auto colon = rules.fault.rfind(':');
    const auto part = colon == std::string::npos
        ? std::nullopt
        : parse_double(rules.fault.substr(colon + 1));
    op = rules.fault.substr(0, colon);
    if (!part || !op.starts_with("aten::"))
      throw Error(
          cat("[sim] cannot read the fault \"", rules.fault, "\"."),
          "Name an operator and how far it is off: aten::convolution:1e-3.");
    off_by = *part;
  }
  const Locked now;
  now->rules = rules;
  now->faulty = op;
  now->off_by = off_by;
  now->until_failure = rules.fail_alloc;
}

Counts counts() {
  return Locked()->counts;
}

void reset_counts() {
  const Locked now;
  const std::uint64_t live = now->counts.live_bytes;
  now->counts = {};
  now->counts.live_bytes = live;
  now->counts.peak_bytes = live;
  now->kernels.clear();
}

void reset_peak() {
  const Locked now;
  now->counts.peak_bytes = now->counts.live_bytes;
}

std::map<std::string, std::int64_t> kernel_counts() {
  return Locked()->kernels;
}

} // namespace temper::libtorch::sim
