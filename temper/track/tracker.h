// The seam between a run and whoever keeps its numbers: MLflow's stores,
// TensorBoard. Plain structs go in; track/follow/journal_delivery.h makes them
// from the journal and remembers what was delivered.
//
// A delivery may come twice (a crash between it and remembering it). It is then
// the same to the last bit, and a tracker must not store it twice.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/error.h"

namespace temper::track {

struct Pair {
  std::string key;
  std::string value;
  friend bool operator==(const Pair&, const Pair&) = default;
};

struct Point {
  std::string key; // "val_loss"
  double value = 0;
  std::int64_t step = 0;
  std::int64_t time_ms = 0; // since 1970
  friend bool operator==(const Point&, const Point&) = default;
};

// A sentence at a step: an incident.
struct Note {
  std::string key;
  std::string text;
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
};

// A dataset as MLflow has it; `schema`, `profile` and `source` are JSON.
struct Dataset {
  std::string name;
  std::string digest;
  std::string source_type;
  std::string source;
  std::string schema;
  std::string profile;
  std::string context; // "training", "validation"
};

struct Artifact {
  std::filesystem::path file;
  std::string name; // where it is kept: "model/MLmodel"
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
};

struct Histogram {
  struct Bucket {
    double left = 0;
    double right = 0;
    double count = 0;
  };
  std::string key; // "weights/features.0.weight"
  std::vector<Bucket> buckets;
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
};

// Their left and right ends, from `low` to `high`.
std::vector<Histogram::Bucket>
equal_buckets(double low, double high, const std::vector<std::int64_t>& counts);

// Weights on disk; gone again when newer ones have taken their place.
struct SavedWeights {
  std::filesystem::path folder;
  std::int64_t step = 0;
  std::int64_t time_ms = 0;
};
using ReadHistograms =
    std::function<std::vector<Histogram>(const std::filesystem::path&)>;

enum class Status { running, finished, failed, killed };
const char* to_string(Status status); // "RUNNING", as MLflow writes it

struct StatusChange {
  Status status = Status::running;
  std::int64_t time_ms = 0;
};

// The facts known of a run before its first step.
struct RunFacts {
  // 32 hex digits, the same whenever this run is delivered to this place.
  std::string key;
  std::string id; // the run's own, which the key is unless it is a copy
  std::string name;
  std::string experiment; // its name
  std::string experiment_id; // instead, when not empty
  std::string adopt; // an existing run to go on with, not empty: its id
  std::filesystem::path directory; // absolute
  std::string user;
  std::int64_t start_ms = 0;
  std::vector<Pair> params;
  std::vector<Pair> tags;
  std::vector<Dataset> datasets;
};

// A run that a tracker has, whoever delivered it.
struct StoredRun {
  struct Last {
    std::int64_t step = 0; // the highest
    std::int64_t time_ms = 0; // the latest
  };
  std::string id; // what the tracker calls it
  std::string place; // its tag temper.place, see identity.h
  std::string memory; // for begin(), to go on with it
  std::map<std::string, Last> metrics;
};

struct Delivery {
  std::vector<Point> points;
  std::vector<Pair> tags;
  std::vector<Note> notes;
  std::vector<Artifact> artifacts; // files, no folders
  std::vector<SavedWeights> weights;
  std::vector<Histogram> histograms; // only TensorBoard shows them
  std::optional<StatusChange> status; // the last one told

  bool empty() const {
    return points.empty() && tags.empty() && notes.empty() &&
        artifacts.empty() && weights.empty() && histograms.empty() && !status;
  }
};

// The error for a place that may work later, without anybody doing anything
// here.
class Unavailable : public Error {
 public:
  explicit Unavailable(
      const std::string& what,
      std::string hint = "",
      double retry_after_s = 0)
      : Error(what, std::move(hint)), retry_after_s_(retry_after_s) {}
  // The wait that the server asked for; 0: it asked for none.
  double retry_after_s() const {
    return retry_after_s_;
  }

 private:
  double retry_after_s_;
};

// Throws Unavailable: a store on a full or read-only disk may work again later.
[[noreturn]] void refuse_to_write(
    const std::filesystem::path& file,
    const std::string& why);

class Tracker {
 public:
  virtual ~Tracker() = default;

  // The place for people: it holds no secrets.
  virtual std::string where() const = 0;
  // Makes the run, or finds it again: `memory` is what this tracker asked to
  // remember, empty at first. True when it had to be made, and so has nothing
  // that may have been delivered before. Unavailable, or Error.
  virtual bool begin(const RunFacts& run, const std::string& memory) = 0;
  // The run of that key or, not empty, memory, if begin() would find it. Only
  // places that outlive a run directory have any.
  virtual std::optional<StoredRun> find(
      const RunFacts& run,
      const std::string& memory) {
    static_cast<void>(run);
    static_cast<void>(memory);
    return std::nullopt;
  }
  // All of it or, after an Unavailable or Error, perhaps a part.
  virtual void deliver(const Delivery& batch) = 0;
  // The tracker's memory, to be handed to the next begin(); asked after every
  // delivery.
  virtual std::string memory() const {
    return "";
  }
  // MLflow's name for the run, once it has begun; empty: it has none.
  virtual std::string run_id() const {
    return "";
  }
  // Is there such a run, and not deleted? Asked before or after begin().
  // Unavailable when nobody knows.
  virtual bool has_run(const std::string& id) {
    static_cast<void>(id);
    return false;
  }
  // How many of the journal's lines one delivery is best made of.
  virtual std::size_t lines_at_once() const {
    return 2000;
  }
  // Makes a call that is under way give up soon; from any thread.
  virtual void give_up() {}
};

// The time in milliseconds since 1970, as MLflow counts it.
std::int64_t now_ms();

// Error when a parent is not there.
void require_run(Tracker& tracker, const std::string& parent);

} // namespace temper::track
