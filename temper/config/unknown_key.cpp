#include <array>

#include "temper/base/error.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/config/fields.h"

namespace temper::config {
namespace {

// Words of other programs, without their section, and the key that means it.
struct OtherWord {
  const char* word;
  const char* key;
};
constexpr std::array kOtherWords{
    OtherWord{"learning_rate", "optimizer.lr"},
    OtherWord{"base_lr", "optimizer.lr"},
    OtherWord{"wd", "optimizer.weight_decay"},
    OtherWord{"optim", "optimizer.name"},
    OtherWord{"batch_size", "train.batch"},
    OtherWord{"num_epochs", "train.epochs"},
    OtherWord{"max_epochs", "train.epochs"},
    OtherWord{"patience", "train.early_stop"},
    OtherWord{"early_stopping", "train.early_stop"},
    OtherWord{"grad_clip", "train.clip"},
    OtherWord{"scheduler", "schedule.name"},
    OtherWord{"warmup_epochs", "schedule.warmup"},
    OtherWord{"num_workers", "loader.workers"},
    OtherWord{"dataset", "data.source"},
    OtherWord{"num_classes", "model.classes"},
    OtherWord{"augmentation", "data.augment"},
};

} // namespace

void unknown_key(const std::string& key, const std::string& from) {
  const auto last_of = [](const std::string& name) {
    return name.substr(name.rfind('.') + 1);
  };
  const std::string last = last_of(key);
  std::optional<std::string> close;
  for (const OtherWord& each : kOtherWords)
    if (last == each.word) close = each.key;
  if (!close) close = nearest(key, keys());
  // The last part counts double: batch is train.batch to most people.
  for (const std::string& known : keys())
    if (!close && last_of(known) == last) close = known;
  throw Error(
      cat("[config] there is no key ",
          key,
          from.empty() ? "" : cat(" (", from, ")"),
          "."),
      close ? cat("Did you mean ", *close, "?")
            : "temper help config lists them all.");
}

} // namespace temper::config
