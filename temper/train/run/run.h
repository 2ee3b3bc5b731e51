// A run from its config to its end: opens the data, builds the model, makes the
// run directory, journals what was asked for and what was found, and drives the
// loop. What `temper train` calls; C++ users too. No torch.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "temper/config/config.h"
#include "temper/config/load.h"
#include "temper/journal/run_directory.h"
#include "temper/machine/machine.h"
#include "temper/plan/decide.h"
#include "temper/plan/plan.h"
#include "temper/train/engine/features.h"
#include "temper/train/engine/make_engine.h"
#include "temper/train/forecast/sim_fit.h"
#include "temper/train/forecast/state_copies.h"
#include "temper/train/loop/loop.h"
#include "temper/train/loop/observer.h"
#include "temper/train/setup/parameter_table.h"
#include "temper/train/setup/run_kernels.h"
#include "temper/train/watch/hang.h"

namespace temper::train {

// The overview of a run to come, for --dry-run and the start-up table.
struct RunOverview {
  EngineFacts engine;
  std::string source;
  std::int64_t train_samples = 0;
  std::int64_t val_samples = 0;
  std::int64_t test_samples = 0;
  std::vector<std::int64_t> input_shape;
  std::vector<std::string> classes;
  std::int64_t updates_per_epoch = 0; // 0: not known
  std::vector<std::string> notes;
  std::vector<ParameterRow> parameters; // by module; empty: an opaque model
  std::optional<SimFit> fit; // of a dry run on the simulated device
  plan::Plan settings; // device, layout, threads, ..., each with its reason
  memory::Forecast forecast; // of memory
  RunKernels kernels; // what temper's own compute, and whose bits
  StateCopies copies; // in memory; there may be room for fewer than asked for
};

struct RunResult {
  Outcome outcome;
  journal::RunDirectory directory;
  RunOverview overview;
};

// How a run is told what to do while it trains. A null function is never asked.
struct RunControl {
  // Asked after every step, and while data is waited for or validated: true
  // ends the run there, with a checkpoint.
  std::function<bool()> stop = {};
  // True once each time a checkpoint is wanted now.
  std::function<bool()> save_now = {};
  // Ends the process when the run hangs; null: a hang is told and that is all.
  std::function<void()> give_up = {};
};

// The functions that make the parts of a run.
struct RunFactories {
  MakeEngine make_engine = train::make_engine;
  MakeExtractor make_extractor = train::make_extractor;
  OpenOwnData open_data = {}; // null: config.data.source is opened
};

struct RunRequest {
  config::Config config;
  machine::Machine machine; // as probe() saw it
  // A run to go on with, by its directory; its own config counts then, with
  // these changes, which must not make it another run (resume_rules.h).
  std::optional<std::filesystem::path> resume;
  std::vector<config::Assignment> changes;
  // The name of a network that make_engine brings, in which case config.model
  // is not looked at; empty: none.
  std::string own_model;
  RunFactories factories = {};
  RunObserver* observer = nullptr; // null: nobody watches
  RunControl control = {};
  // How settings are measured, and whether that is remembered.
  plan::Measuring measuring = {};

  // Facts for the journal: the version of the program that trains, and who
  // started it from where, as a JSON object.
  std::string version;
  std::string origin = "{}";

  // Signs of life, where somebody else wants to see them; null: our own.
  Heartbeats* heartbeats = nullptr;
  // Whether the trackers are alive; nobody asks where there are none.
  TrackerWatch trackers = {};
};

RunOverview plan_run(const RunRequest& request);

RunResult run(const RunRequest& request);

// Where the time went, in one sentence.
std::string bottleneck(const Outcome& outcome, const RunOverview& overview);

} // namespace temper::train
