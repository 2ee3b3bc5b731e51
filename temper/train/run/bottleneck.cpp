#include "temper/base/text.h"
#include "temper/train/run/run.h"

namespace temper::train {

std::string bottleneck(const Outcome& outcome, const RunOverview& overview) {
  // A wait that took less is not worth an advice.
  constexpr double kWorthIt_s = 5;
  const auto part_of_run = [&](double seconds) {
    return outcome.seconds > 0 ? seconds / outcome.seconds : 0;
  };
  const double waiting = part_of_run(outcome.waiting_s);
  const double evaluating = part_of_run(outcome.evaluating_s);
  const auto percent = [](double part) {
    return percent_text(part, part < 0.1 ? 1 : 0);
  };
  constexpr double kMuch = 0.2;
  if (waiting > kMuch)
    return cat(
        "the model waited ",
        percent(waiting),
        " of the time for data",
        outcome.waiting_s < kWorthIt_s ? ""
            : overview.input_shape.size() == 3 // to decode and to augment
            ? ": more loader.workers or temper data pack help"
            : ": more loader.workers help");
  if (evaluating > kMuch)
    return cat(
        "validation took ",
        percent(evaluating),
        " of the time",
        outcome.evaluating_s < kWorthIt_s
            ? ""
            : ": train.eval_every makes it rarer");
  return cat(
      "computing is what takes the time; waiting for data took ",
      percent(waiting),
      ", validation ",
      percent(evaluating));
}

} // namespace temper::train
