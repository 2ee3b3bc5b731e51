// Work in chunks. A kernel cuts its work by the shapes alone, never by the
// number of threads, and adds partial sums in the order of chunks: so its bits
// do not depend on how many threads there are.
//
// The threads are a pool of the kernels' own. A call does not wait until its
// helpers have come: it takes chunk after chunk itself, helpers join when the
// system lets them run, and at the end only chunks under way are waited for. So
// a helper that lost its core to another program costs one chunk at most, where
// a barrier of OpenMP would stall the whole call.
#pragma once

#include <atomic>
#include <cstdint>

namespace temper::kernels {

// Process-wide: how many threads a call may use, the caller among them. It is
// asked before every call, so that whoever runs on LibTorch answers with
// LibTorch's own number. Null: one thread.
void set_thread_count(int (*count)());
int thread_count();

// Calls body(context) on the calling thread and on up to `threads` - 1 others,
// and returns when all who began are done; what a body throws is thrown to the
// caller then. Bodies share their work through the context. A call inside
// another, or beside one of another thread, has the calling thread alone.
void run_on_threads(int threads, void (*body)(void* context), void* context);

// Whether this thread is in such a body, one that others can be in, too.
bool inside_chunk();

// Calls work(chunk) for every chunk in [0, chunks), in any order, on as many
// threads as there are.
template <class Work>
void for_each_chunk(std::int64_t chunks, const Work& work) {
  if (chunks <= 1 || thread_count() == 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk)
      work(chunk);
    return;
  }
  struct Shared {
    const Work& work;
    std::int64_t chunks;
    std::atomic<std::int64_t> next;
  } shared{work, chunks, {0}};
  const auto body = [](void* context) {
    auto& all = *static_cast<Shared*>(context);
    for (;;) {
      const std::int64_t chunk =
          all.next.fetch_add(1, std::memory_order_relaxed);
      if (chunk >= all.chunks) return;
      all.work(chunk);
    }
  };
  const std::int64_t most = thread_count();
  run_on_threads(
      static_cast<int>(chunks < most ? chunks : most), body, &shared);
}

// [begin, end) of a chunk when `count` things are cut into `chunks` nearly
// equal pieces of whole `grain`s.
struct ChunkRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};
[[gnu::always_inline]] inline ChunkRange chunk_range(
    std::int64_t count,
    std::int64_t grain,
    std::int64_t chunks,
    std::int64_t chunk) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t begin = grains * chunk / chunks * grain;
  const std::int64_t end = grains * (chunk + 1) / chunks * grain;
  return {begin < count ? begin : count, end < count ? end : count};
}

} // namespace temper::kernels
