#include "temper/kernels/simd/threads.h"

namespace temper::kernels {
namespace {

std::atomic<const ThreadRunner*>& runner_in_use() {
  static std::atomic<const ThreadRunner*> runner{nullptr};
  return runner;
}

} // namespace

void set_thread_runner(const ThreadRunner& runner) {
  // Set a few times in a process and read by every kernel: the old one stays,
  // because a kernel may still hold it.
  runner_in_use().store(
      runner.run == nullptr ? nullptr : new ThreadRunner(runner));
}

int thread_count() {
  const ThreadRunner* runner = runner_in_use().load();
  return runner == nullptr ? 1 : runner->count();
}

void run_on_threads(int workers, void (*body)(void* context), void* context) {
  const ThreadRunner* runner = runner_in_use().load();
  if (runner == nullptr || workers <= 1)
    body(context);
  else
    runner->run(workers, body, context);
}

} // namespace temper::kernels
