#include "temper/train/loop/attempt.h"

#include <algorithm>
#include <utility>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/memory/usage.h"

namespace temper::train {
namespace {

namespace kinds = journal::kinds;
namespace fields = journal::fields;

constexpr const char* kWayOut =
    "Set memory.recompute = \"on\", a smaller train.batch or data.image_size, "
    "or a larger memory.budget.";

std::string without_full_stop(std::string text) {
  while (!text.empty() && text.back() == '.')
    text.pop_back();
  return text;
}

journal::Event event_of(
    const char* kind,
    const std::string& what,
    const StepOrder& order,
    const memory::Change& change) {
  journal::Event event{
      kind,
      0,
      {{fields::kWhat, what},
       {fields::kEpoch, std::int64_t{order.epoch}},
       {fields::kUpdate, order.update},
       {fields::kFrom, std::int64_t{change.from}},
       {fields::kTo, std::int64_t{change.to}},
       {fields::kWhy, change.why}}};
  if (change.cause != memory::Cause::out_of_memory)
    event.fields.emplace_back(
        fields::kCause, std::string(to_string(change.cause)));
  return event;
}

} // namespace

Attempt::Attempt(Engine& engine, memory::Governor& governor, Tell tell)
    : engine_(engine), governor_(governor), tell_(std::move(tell)) {}

bool Attempt::step(const data::HostBatch& batch, StepOrder order) {
  for (;;) {
    order.micro_batch = governor_.micro_batch();
    try {
      return engine_.step(batch, order);
    } catch (const OutOfMemory& error) {
      const auto change = governor_.out_of_memory(batch.size);
      if (!change)
        throw Error(
            cat(without_full_stop(error.what()),
                ", and ",
                governor_.refusal(),
                "."),
            kWayOut);
      memory::release_cached(engine_.facts().device);
      tell_(event_of(kinds::kRetry, "step", order, *change));
    }
  }
}

void Attempt::see(const memory::MemorySample& now, const StepOrder& order) {
  const auto change = governor_.see(now);
  if (!change) return;
  if (change->to < change->from) memory::release_cached(engine_.facts().device);
  tell_(event_of(kinds::kMicroBatch, "step", order, *change));
}

void Attempt::evaluate(const data::HostBatch& batch, const StepOrder& after) {
  bool again = true; // once as it is: memory may have been short for a moment
  for (;;) {
    try {
      return engine_.evaluate(batch);
    } catch (const OutOfMemory& error) {
      const int now = evaluated_at_once_ > 0
          ? std::min(evaluated_at_once_, batch.size)
          : batch.size;
      const int next = again ? now : (now + 1) / 2;
      if ((next == now && !again) || engine_.facts().needs_whole_batch)
        throw Error(
            cat(without_full_stop(error.what()),
                " in the validation, and ",
                engine_.facts().needs_whole_batch
                    ? "this loss couples the samples of a batch"
                    : "one sample alone does not fit",
                "."),
            kWayOut);
      memory::release_cached(engine_.facts().device);
      tell_(event_of(
          kinds::kRetry,
          "validation",
          after,
          {now,
           next,
           memory::Cause::out_of_memory,
           cat("out of memory in the validation: ",
               plural(next, "sample"),
               " at once")}));
      if (!again) engine_.set_evaluation_slice(evaluated_at_once_ = next);
      again = false;
    }
  }
}

} // namespace temper::train
