// The measuring itself, for calibrate() alone: contenders, their trials on the
// worker thread, and the clock that limits it all.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "temper/plan/calibrate.h"
#include "temper/plan/worker.h"

namespace temper::plan {

struct Contender {
  Setting setting;
  std::shared_ptr<Trial> trial; // null: not open
  std::vector<double> samples_s; // seconds a step
  int steps = 1; // of one sample
  bool dropped = false; // clearly slower: not timed any more
  // Set when it can no longer win.
  std::optional<Verdict> out;
  std::string why;

  std::optional<double> median_s() const;
  // How far samples scatter around the median, as a part of it.
  double noise() const;
  bool in_play() const {
    return !out && !samples_s.empty();
  }
};

class Contest {
 public:
  Contest(
      const Candidates& candidates,
      std::shared_ptr<Rig> rig,
      const CalibrateOptions& options);
  ~Contest();

  // Each once: whoever cannot step is out.
  void qualify();
  // Why the run is too short to go on measuring; empty: it is not.
  const std::string& too_short() const {
    return too_short_;
  }
  // Those close to the best, in turn, until it is clear or time is up.
  void rounds();
  // The fastest that agrees with the reference; null: nobody. Whoever
  // disagrees on the way is out.
  Contender* winner();

  const std::vector<Contender>& contenders() const {
    return contenders_;
  }
  double spent_s() const;

 private:
  struct Result;
  using Body = std::function<void(Result&)>;

  bool perform(Contender& contender, const Body& body, double patience_s);
  void try_one(Contender& contender);
  bool run_is_short(const Contender& contender);
  void attempt(Contender& contender);
  bool open(Contender& contender);
  bool sample(Contender& contender);
  bool agrees(Contender& contender);
  void close(Contender& contender);
  bool close_others(const Contender& contender);
  void drop_slower(double factor);
  double patience_s() const;
  std::optional<double> best_s() const;
  bool stopped() const;
  void say(const std::string& what) const;

  std::shared_ptr<Rig> rig_;
  const CalibrateOptions& options_;
  std::function<double()> now_;
  Setting fallback_;
  double started_s_ = 0;
  std::string too_short_;
  Worker worker_;
  std::vector<Contender> contenders_;
  std::set<std::string> hung_devices_;
  double slow_s_ = 0; // a step that took too long to be timed
  bool alone_ = false; // memory is too short for two trials at once
};

} // namespace temper::plan
