// A run directory with a journal, as training would have written it.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_directory.h"
#include "temper/track/mlflow/mlflow_model.h"

namespace temper::track {

inline journal::RunDirectory made_run(
    const std::filesystem::path& parent,
    const std::string& name) {
  const journal::RunDirectory run{parent / name};
  std::filesystem::create_directories(run.artifacts());
  std::filesystem::create_directories(run.checkpoints());
  std::ofstream(run.config()) << "seed = 7\n";
  std::ofstream(run.plan()) << "{}\n";
  std::ofstream(run.machine()) << "{}\n";
  return run;
}

// An id of its own, unless one is given.
inline journal::Event run_event(const std::string& id = journal::new_run_id()) {
  return {
      "run",
      1'700'000'000.5,
      {{"name", std::string("r")},
       {"id", id},
       {"version", std::string("temper 0.1")},
       {"config",
        std::string("seed = 7\n\n[train]\nbatch = 64\n\n[optimizer]\n"
                    "name = \"adamw\"\n")},
       {"plan",
        journal::Json{
            R"({"device":"cpu","model":"mlp","source":"fashion-mnist",)"
            R"("train_samples":54000,"val_samples":6000,)"
            R"("input_shape":[1,28,28],"notes":["a note"],)"
            R"("settings":{"threads":{"value":"2","reason":"it's fastest"}}})"}},
       {"origin",
        journal::Json{R"({"user":"ada","command":"temper train","host":"box",)"
                      R"("git_commit":"0123abcd","git_branch":"main",)"
                      R"("git_dirty":true})"}}}};
}

inline journal::Event
step_event(std::int64_t step, double loss, double time_s = 0) {
  return {
      "step",
      time_s > 0 ? time_s : 1'700'000'001.0 + static_cast<double>(step),
      {{"step", step},
       {"epoch", std::int64_t{0}},
       {"loss", loss},
       {"lr", 0.001}}};
}

inline journal::Event
epoch_event(std::int64_t update, double val_loss, bool best = true) {
  return {
      "epoch",
      1'700'000'001.5 + static_cast<double>(update),
      {{"epoch", std::int64_t{0}},
       {"update", update},
       {"lr", 0.001},
       {"seconds", 1.5},
       {"samples_per_s", 1000.0},
       {"best", best},
       {"train_loss", 0.5},
       {"val_loss", val_loss}}};
}

inline journal::Event rollback_event(std::int64_t from, std::int64_t to) {
  return {
      "rollback",
      1'700'000'002.5 + static_cast<double>(from),
      {{"epoch", std::int64_t{0}}, {"from", from}, {"to", to}}};
}

inline journal::Event system_event(double time_s, double cpu) {
  return {"system", time_s, {{"cpu_utilization_percentage", cpu}}};
}

inline journal::Event end_event(const std::string& status) {
  return {
      "end",
      1'700'001'000,
      {{"status", status},
       {"best_metric", std::string("val_loss")},
       {"best", 0.25}}};
}

// A model among the run's artifacts, and the event that tells of it.
inline journal::Event kept_model(const journal::RunDirectory& run) {
  write_mlflow_model(
      run.artifacts() / "model",
      {{-1, 4}, {-1, 2}, "float32", "float32", "1.13.1"});
  std::ofstream(run.artifacts() / "model" / "model.pt2") << "a model";
  return {
      "artifact",
      1'700'000'600,
      {{"path", std::string("artifacts/model")},
       {"name", std::string("model")},
       {"update", std::int64_t{2}}}};
}

} // namespace temper::track
