#include "temper/track/follow/parent.h"

#include <algorithm>
#include <optional>

#include "temper/base/text.h"
#include "temper/track/follow/delivery_state.h"

namespace temper::track {
namespace {

namespace fs = std::filesystem;

// Its ids are UUIDs without their dashes.
bool is_mlflow_id(const std::string& text) {
  return text.size() == 32 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// The run of ours that is meant; no value: it is an id of MLflow's, as far as
// we know.
std::optional<journal::RunDirectory> run_of_ours(
    const std::string& wanted,
    const fs::path& runs) {
  try {
    return journal::find_run(runs, wanted);
  } catch (const Error& error) {
    if (is_mlflow_id(wanted)) return std::nullopt;
    throw Error(
        cat(error.what(), " track.parent says so."),
        cat(error.hint(),
            error.hint().empty() ? "" : " ",
            "It takes a run of ours, or MLflow's id of one."));
  }
}

} // namespace

std::string parent_id(
    const std::string& wanted,
    const fs::path& runs,
    const std::string& place,
    const std::string& shown) {
  const auto found = run_of_ours(wanted, runs);
  if (!found) return wanted;
  const auto state =
      read_follow_state(found->path / cat("track-", place, ".json"));
  if (!state)
    throw Error(
        cat("[track] ", found->name(), ", the parent, is not in ", shown, "."),
        cat("Deliver it first: temper runs export ",
            found->path.string(),
            " --to ",
            shown,
            "."));
  if (state->run_id.empty())
    throw Unavailable(
        cat("[track] ",
            found->name(),
            ", the parent, has not arrived in ",
            shown,
            "."));
  return state->run_id;
}

void check_parent(const Options& options, const fs::path& runs) {
  if (options.parent.empty()) return;
  for (const Target& target : targets_of(options, runs / "run")) {
    if (target.kind == Target::Kind::tensorboard) continue;
    try {
      const std::string id =
          parent_id(options.parent, runs, target.id(), target.shown);
      if (target.kind != Target::Kind::http)
        require_run(*make_tracker(target, options), id);
    } catch (const Unavailable&) { // the follower asks again and again
    }
  }
}

std::string lasting_parent(const std::string& wanted, const fs::path& runs) {
  if (wanted.empty()) return "";
  const auto found = run_of_ours(wanted, runs);
  if (!found) return wanted;
  std::error_code failed;
  return fs::equivalent(found->path, runs / found->name(), failed)
      ? found->name()
      : fs::absolute(found->path).lexically_normal().string();
}

} // namespace temper::track
