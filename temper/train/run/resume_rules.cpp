#include "temper/train/run/resume_rules.h"

#include "temper/base/text.h"
#include "temper/config/fields.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {
namespace {

struct KeyRule {
  const char* keys; // one, or all below one that ends with a dot
  Effect effect;
};

// The first that fits counts; what is not here alters results.
constexpr KeyRule kRules[] = {
    {"run.", Effect::none},
    {"loader.", Effect::none},
    {"checkpoint.metric", Effect::result},
    {"checkpoint.", Effect::none},
    {"watchdog.", Effect::none},
    {"track.", Effect::none},
    {"plan.", Effect::none},
    {"train.log_every", Effect::none},
    // Where they lie; that they are the same is checked by their fingerprint.
    {"data.path", Effect::none},
    {"data.cache", Effect::none},
    // Scored after the last step; told before the first.
    {"data.test", Effect::none},
    {"data.unseen", Effect::none},
    {"device", Effect::last_bits},
    {"threads", Effect::last_bits},
    // How a batch is cut changes the order of sums.
    {"memory.", Effect::last_bits},
    // It counts only when something is not finite.
    {"guard.", Effect::last_bits},
    {"sim.", Effect::last_bits},
    {"train.epochs", Effect::length},
    {"train.max_steps", Effect::length},
};

// A word of a shell's line: text without its quotes where it is plain.
std::string shell_word(const std::string& key, std::string value) {
  constexpr const char* kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._/:,+-";
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
    value = value.substr(1, value.size() - 2);
  const bool plain = value.find_first_not_of(kPlain) == std::string::npos;
  return plain ? cat(key, "=", value) : cat("'", key, "=", value, "'");
}

bool rule_covers(const std::string& key, const std::string& rule) {
  return rule.back() == '.' ? key.starts_with(rule) : key == rule;
}

} // namespace

Effect effect_of(const std::string& key) {
  for (const KeyRule& rule : kRules)
    if (rule_covers(key, rule.keys)) return rule.effect;
  return Effect::result;
}

std::vector<std::string> changed_keys(
    const config::Config& was,
    const config::Config& is) {
  std::vector<std::string> changed;
  for (const config::Field& field : config::fields())
    if (config::value_text(field, was) != config::value_text(field, is))
      changed.emplace_back(field.key);
  return changed;
}

std::string from_command(
    const config::Config& was,
    const config::Config& is,
    const std::string& run) {
  std::string command = cat("temper train --from ", run);
  for (const std::string& key : changed_keys(was, is)) {
    const std::string value = config::value_text(*config::find_field(key), is);
    command += key == "train.epochs" ? cat(" --epochs ", value)
                                     : cat(" --set ", shell_word(key, value));
  }
  return command;
}

void check_changes(
    const config::Config& was,
    const config::Config& is,
    const std::string& run) {
  std::vector<std::string> refused;
  for (const std::string& key : changed_keys(was, is))
    if (effect_of(key) == Effect::result) {
      const config::Field& field = *config::find_field(key);
      refused.push_back(
          cat(key,
              " (was ",
              config::value_text(field, was),
              ", now ",
              config::value_text(field, is),
              ")"));
    }
  if (refused.empty()) return;
  throw RefusedChange(
      cat("[train] a run cannot go on with another ",
          join(refused, ", "),
          ": this would be a different run."),
      cat("Leave it as it was; or train on from its weights, as a new run: ",
          from_command(was, is, run)));
}

void check_length(
    const config::Config& was,
    const config::Config& is,
    std::optional<std::int64_t> per_epoch,
    const Progress& so_far,
    const std::string& run) {
  bool longer = false;
  for (const std::string& key : changed_keys(was, is))
    longer = longer || effect_of(key) == Effect::length;
  if (!longer) return;
  if (is.train.epochs < so_far.epoch ||
      (is.train.max_steps > 0 && is.train.max_steps < so_far.update))
    throw RefusedChange(
        cat("[train] the run is in epoch ",
            so_far.epoch + 1,
            " with ",
            so_far.update,
            " updates, more than is asked for now."),
        "Ask for more, or start a new run.");
  const Updates before(was, per_epoch);
  const Updates now(is, per_epoch);
  for (std::int64_t update = 0; update < so_far.update; ++update)
    if (before.lr(update, 0) != now.lr(update, 0))
      throw RefusedChange(
          cat("[train] a run of another length would have had another learning "
              "rate since update ",
              update + 1,
              ": schedule.name = ",
              is.schedule.name,
              " spreads the rates over the whole run (constant, exponential, "
              "step and plateau do not)."),
          cat("Go on with the length it had; or train on from its weights, as "
              "a new run: ",
              from_command(was, is, run)));
}

} // namespace temper::train
