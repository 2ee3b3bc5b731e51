#include "temper/train/loop/shown_numbers.h"

namespace temper::train {

ShownNumbers::ShownNumbers(const Engine& engine, double oldest_s)
    : reads_late_(engine.facts().reads_late), oldest_s_(oldest_s) {}

bool ShownNumbers::is_old() const {
  const std::chrono::duration<double> age = Clock::now() - at_;
  return !reads_late_ && age.count() >= oldest_s_;
}

void ShownNumbers::take(const StepReport& last, const MetricSums& so_far) {
  loss_ = last.loss;
  accuracy_ = metric(so_far, "accuracy");
  at_ = Clock::now();
}

void ShownNumbers::look(Engine& engine, const MetricSums& so_far) {
  MetricSums all = so_far;
  all.add(engine.training_sums());
  take(engine.report(), all);
}

} // namespace temper::train
