#include "temper/kernels/sequence/activate.h"

#include "temper/kernels/sequence/chunks.h"
#include "temper/kernels/sequence/rows.h"

namespace temper::kernels::TEMPER_TARGET {
namespace {

constexpr std::int64_t kRun = 4096;
constexpr std::int64_t kActivateCost = 16; // of a number, in multiply-adds

void run_forward(Activation act, std::int64_t count, const float* x, float* y) {
  for_each_chunk_of(
      count * kActivateCost,
      (count + kRun - 1) / kRun,
      [&](std::int64_t chunk) {
        ActivateRows work;
        work.act = act;
        work.rows = 1;
        const std::int64_t at = chunk * kRun;
        work.columns = count - at < kRun ? count - at : kRun;
        work.from = x + at;
        work.to = y + at;
        activate_rows(work);
      });
}

void run_backward(
    Activation act,
    std::int64_t count,
    const float* x,
    const float* gradient,
    float* dx) {
  for_each_chunk_of(
      count * kActivateCost,
      (count + kRun - 1) / kRun,
      [&](std::int64_t chunk) {
        ActivateBackward work;
        work.act = act;
        work.rows = 1;
        const std::int64_t at = chunk * kRun;
        work.columns = count - at < kRun ? count - at : kRun;
        work.x = x + at;
        work.gradient = gradient + at;
        work.dx = dx + at;
        activate_rows_backward(work);
      });
}

} // namespace

extern const ActivateTable activate_table;
const ActivateTable activate_table{run_forward, run_backward};

} // namespace temper::kernels::TEMPER_TARGET
