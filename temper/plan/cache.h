// Plans remembered from earlier runs: one small JSON file each in a folder of
// the cache directory, named by the hash of everything the measurements depend
// on. Losing or damaging one costs nothing but measuring again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "temper/machine/machine.h"
#include "temper/plan/candidates.h"
#include "temper/plan/plan.h"

namespace temper::plan {

struct PlanKey {
  std::string machine; // machine_fingerprint()
  std::string libtorch; // version
  std::string temper; // version
  std::string model; // its name, for people; not part of the hash
  std::uint64_t model_hash = 0;
  std::int64_t batch = 0;
  std::vector<std::int64_t> input_shape; // of one sample
  Requests requests;

  // 16 hexadecimal digits, the name of the file.
  std::string text() const;
};

// The parts of a machine that decide how fast it is: chip, cores, GPUs, system.
std::string machine_fingerprint(const machine::Machine& machine);

struct RememberedPlan {
  std::string key;
  std::string model;
  std::int64_t batch = 0;
  std::string input_shape; // "3x32x32"
  std::string libtorch;
  double saved_s = 0; // seconds since 1970
  Plan plan;
};

class PlanCache {
 public:
  // An empty path remembers nothing. Of more than `most`, the oldest go.
  // `now` in seconds since 1970; null: the system's clock.
  explicit PlanCache(
      std::filesystem::path folder,
      std::size_t most = 200,
      std::function<double()> now = nullptr);

  // No value when there is none, when it is damaged (a warning says so), older
  // than `max_age_days` (0: for ever) or without a spread, as older versions
  // wrote it, or when what it chose is no longer among the candidates.
  std::optional<Plan> recall(
      const PlanKey& key,
      const Candidates& candidates,
      double max_age_days = 0) const;
  // A folder that cannot be written is left at that. Plans that were not
  // measured to their end are not worth remembering.
  void remember(const PlanKey& key, const Plan& plan) const;

  // Newest first; damaged ones are left out with a warning.
  std::vector<RememberedPlan> list() const;
  // All, or those whose key begins so. Returns how many went.
  int clear(const std::string& key_begin = "") const;

 private:
  std::filesystem::path folder_;
  std::size_t most_;
  std::function<double()> now_;
};

} // namespace temper::plan
