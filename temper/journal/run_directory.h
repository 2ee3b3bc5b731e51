// Where a run lives: runs/<date-time>-<model>-<data>-<4 hex>/ with config.toml,
// plan.json, machine.json, schema.json, model.graph, data.jsonl, journal.jsonl,
// checkpoints/ and artifacts/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace temper::journal {

struct RunDirectory {
  std::filesystem::path path;

  std::string name() const {
    return path.filename().string();
  }
  std::filesystem::path config() const {
    return path / "config.toml";
  }
  std::filesystem::path plan() const {
    return path / "plan.json";
  }
  // The meaning of the data to the model: data/sample/schema.h.
  std::filesystem::path schema() const {
    return path / "schema.json";
  }
  std::filesystem::path machine() const {
    return path / "machine.json";
  }
  // The model without its weights: train/run/kept_model.h.
  std::filesystem::path model() const {
    return path / "model.graph";
  }
  // The contents of its data when it began; written by the train room.
  std::filesystem::path data() const {
    return path / "data.jsonl";
  }
  std::filesystem::path journal() const {
    return path / "journal.jsonl";
  }
  // The notes about ends that a resume would cut off: restart_log.h.
  std::filesystem::path restarts() const {
    return path / "restarts.jsonl";
  }
  std::filesystem::path lock() const {
    return path / "lock";
  }
  std::filesystem::path checkpoints() const {
    return path / "checkpoints";
  }
  std::filesystem::path artifacts() const {
    return path / "artifacts";
  }
};

// A new one below `parent`. `name` empty: made from the time, `model` and
// `data`. Error when it exists already or cannot be made.
RunDirectory make_run_directory(
    const std::filesystem::path& parent,
    const std::string& name,
    const std::string& model,
    const std::string& data);

// A name for a run wherever its directory lies: 32 random hexadecimal digits,
// in the journal's first event.
std::string new_run_id();

// True when it has a journal or, should that have been lost, a checkpoint.
bool is_run(const RunDirectory& directory);

// The runs below `parent`, oldest first.
std::vector<RunDirectory> list_runs(const std::filesystem::path& parent);

// Finds a run by its path, its name, the beginning, the end or a part of its
// name between dashes, or "latest", the youngest that made a step. Error when
// there is none (with the nearest) or more than one.
RunDirectory find_run(
    const std::filesystem::path& parent,
    const std::string& wanted);

} // namespace temper::journal
