// The config, that is what was asked for: plain structs with defaults, over
// which a TOML file and the command line are laid (load.h). The field table
// (fields.h) names, limits and explains every one of them. What will be done on
// this machine is the plan's to decide.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace temper::config {

// A count, or "auto": without a value temper decides.
using AutoCount = std::optional<std::int64_t>;

// An amount of memory: "4GiB", a number of bytes, or "auto".
struct AutoBytes {
  std::optional<std::uint64_t> bytes;
  friend bool operator==(const AutoBytes&, const AutoBytes&) = default;
};

// Words by name: {price = "number", zip = "category"}.
using Words = std::map<std::string, std::string>;

// One name or several: "cifar", ["cifar", "jitter"]. A list of one name is the
// same as the name.
struct Names {
  std::vector<std::string> list;

  Names(const char* name) : list{name} {}
  Names(std::vector<std::string> names) : list(std::move(names)) {}
  bool has(std::string_view name) const {
    return std::find(list.begin(), list.end(), name) != list.end();
  }
  friend bool operator==(const Names&, const Names&) = default;
};

struct Run {
  std::string dir = "runs";
  std::string name;
  std::vector<std::string> tags;
  friend bool operator==(const Run&, const Run&) = default;
};

struct Data {
  std::string source; // empty: fashion-mnist, or what needs no download
  std::string path;
  std::string val;
  std::string test;
  double val_fraction = 0.1;
  std::string split = "stratified";
  Names augment = "none";
  std::int64_t image_size = 0; // 0: the source's own
  std::string resize = "bilinear";
  std::string bad = "error";
  std::int64_t limit = 0; // samples of the training part; 0: all
  std::int64_t limit_val = 0; // samples of the validation part; 0: all
  std::string unseen = "note";
  std::vector<double> mean; // of each channel; empty: the source's own
  std::vector<double> std;
  std::string target;
  Words columns;
  std::vector<std::string> drop;
  std::string decimal = "auto";
  std::string scale = "standard";
  std::int64_t sequence = 128;
  std::string cache = "auto";
  friend bool operator==(const Data&, const Data&) = default;
};

struct Loader {
  AutoCount workers;
  AutoCount depth;
  AutoBytes memory;
  bool autotune = true;
  friend bool operator==(const Loader&, const Loader&) = default;
};

struct Model {
  std::string name; // empty: what suits the data
  std::string stem;
  double width = 1;
  std::vector<std::int64_t> widths = {512};
  AutoCount classes;
  double dropout = -1; // negative: the model's own
  std::string weights;
  std::string head = "keep";
  std::vector<std::string> freeze;
  std::int64_t unfreeze_after = 0; // epochs; 0: never
  std::int64_t feature_views = 0; // of augmented images; 0: not kept
  std::string feature_cache = "auto";
  AutoBytes feature_bytes;
  std::int64_t bn_group = 0; // samples; 0: all that are computed at once
  friend bool operator==(const Model&, const Model&) = default;
};

struct Train {
  std::string task = "auto";
  std::int64_t epochs = 10;
  std::int64_t max_steps = 0; // 0: as many as the epochs have
  std::int64_t batch = 64;
  std::int64_t accumulate = 1;
  bool drop_last = false;
  std::string loss = "auto";
  double label_smoothing = 0;
  std::vector<double> class_weights;
  double mixup = 0;
  double cutmix = 0;
  double clip = 0; // of the gradient's norm; 0: off
  double clip_value = 0;
  double ema = 0; // decay; 0: off
  std::int64_t log_every = 10;
  std::int64_t eval_every = 1;
  std::int64_t early_stop = 0; // epochs without a better one; 0: off
  friend bool operator==(const Train&, const Train&) = default;
};

struct Optimizer {
  std::string name = "adamw";
  double lr = 0.001;
  double momentum = 0.9;
  double weight_decay = 0.01;
  bool decay_all = false;
  std::vector<double> betas = {0.9, 0.999};
  double eps = 1e-8;
  bool nesterov = false;
  std::string moments = "fp32";
  std::vector<std::string> lr_scale; // "features.*=0.1"
  friend bool operator==(const Optimizer&, const Optimizer&) = default;
};

struct Schedule {
  std::string name = "cosine";
  double warmup = 0; // epochs
  double gamma = 0.1;
  double step = 10; // epochs
  double min_lr = 0;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

struct Memory {
  AutoBytes budget;
  AutoCount micro_batch;
  std::string recompute = "off";
  friend bool operator==(const Memory&, const Memory&) = default;
};

struct Plan {
  double seconds = 10;
  std::string cache = "on";
  double max_age = 30; // days; 0: for ever
  friend bool operator==(const Plan&, const Plan&) = default;
};

struct Guard {
  std::string nan = "skip";
  std::int64_t patience = 3; // batches passed over in a row
  std::int64_t rollback = 2; // good states in memory; 0: never back
  std::int64_t rollback_every = 100; // updates
  double lr_cut = 0.5;
  double loss_spike = 0; // deviations from the median; 0: off
  friend bool operator==(const Guard&, const Guard&) = default;
};

struct Checkpoint {
  std::int64_t every_steps = 0; // 0: not by steps
  double every_seconds = 60; // 0: not by time
  std::int64_t keep_last = 2;
  std::int64_t keep_best = 1;
  std::string metric = "auto";
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

struct Sim {
  AutoBytes memory; // auto: no limit
  std::int64_t fail_alloc = 0; // 0: none
  std::string fault;
  friend bool operator==(const Sim&, const Sim&) = default;
};

struct Watchdog {
  double seconds = 300;
  friend bool operator==(const Watchdog&, const Watchdog&) = default;
};

struct Track {
  std::string mlflow = "auto";
  std::string experiment;
  std::string parent;
  std::string tensorboard = "off";
  bool histograms = false;
  std::string model = "best";
  double system_seconds = 10;
  friend bool operator==(const Track&, const Track&) = default;
};

struct Config {
  std::int64_t seed = 0;
  std::string device = "auto";
  bool deterministic = false;
  AutoCount threads;
  std::string layout = "auto";
  std::string kernels = "auto";
  std::string precision = "fp32";
  Run run;
  Data data;
  Loader loader;
  Model model;
  Train train;
  Optimizer optimizer;
  Schedule schedule;
  Plan plan;
  Memory memory;
  Guard guard;
  Checkpoint checkpoint;
  Sim sim;
  Watchdog watchdog;
  Track track;
  friend bool operator==(const Config&, const Config&) = default;
};

} // namespace temper::config
