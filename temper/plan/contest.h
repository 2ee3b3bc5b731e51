// The measuring itself, for calibrate() alone: contenders, their trials on the
// worker thread, and the clock that limits it all. contest.cpp runs trials,
// contest_order.cpp says whose turn it is and who wins.
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

// The part of the time by which trying ends.
inline constexpr double kQualifyEnd = 0.6;

struct Contender {
  Setting setting;
  std::shared_ptr<Trial> trial; // null: not open
  std::vector<double> samples_s; // seconds a step, one for each round
  int steps = 1; // of one sample
  bool dropped = false; // clearly slower: not timed any more
  bool again = false; // had its second chance before it is dropped
  bool rescue = false; // tried because more threads take absurdly long
  // True when a single step is known, which was too long for more of them.
  bool rough = false;
  double first_s = 0; // what its first step took
  // Set when it can no longer win.
  std::optional<TrialVerdict> out;
  std::string why;

  std::optional<double> median_s() const;
  // About how far off a step may be, as a part of it.
  double spread() const;
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

  // Each once, the default first: whoever cannot step is out.
  void qualify();
  // The run is so short that nothing but the default was tried.
  bool too_short() const {
    return too_short_;
  }
  // Measures those close to the best, in turn, until it is clear or time is up.
  void rounds();
  // The default, or the fastest that beats it beyond the noise and agrees with
  // the reference; null: nobody. Whoever disagrees on the way is out.
  Contender* winner();
  // The busiest that the machine was meanwhile; no value: not known.
  const std::optional<machine::Load>& load() const {
    return load_;
  }

  const std::vector<Contender>& contenders() const {
    return contenders_;
  }
  double spent_s() const;

 private:
  struct Result;
  using Body = std::function<void(Result&)>;

  bool perform(Contender& contender, const Body& body, double patience_s);
  void try_one(Contender& contender);
  void attempt(Contender& contender);
  bool no_time_for_another(const Contender& contender) const;
  void leave_rough(Contender& contender, double step_s);
  void sample_again(Contender& contender);
  bool open(Contender& contender);
  bool sample(Contender& contender);
  bool agrees(Contender& contender);
  bool check_parity(Contender& contender);
  void close(Contender& contender);
  bool close_others(const Contender& contender);
  void make_room(const Contender& contender);
  bool is_crowded() const;
  void open_fastest();
  std::vector<Contender*> in_order();
  std::vector<Contender*> by_time();
  bool pays_to_try() const;
  std::optional<double> worth_s() const;
  void leave_out_rough();
  std::vector<Contender*> running();
  bool settled(const std::vector<Contender*>& running) const;
  double rounds_end_s() const;
  Contender* fastest();
  Contender* best_choice();
  void drop_slower();
  void bring_back();
  void look_at_load();
  double patience_s() const;
  std::optional<double> best_s() const;
  bool stopped() const;
  void say(const std::string& what) const;

  std::shared_ptr<Rig> rig_;
  const CalibrateOptions& options_;
  std::function<double()> now_;
  Setting standard_;
  double started_s_ = 0;
  bool too_short_ = false;
  double others_began_s_ = 0; // since the default was tried
  double last_cost_s_ = 0; // of trying one
  std::optional<machine::Load> load_;
  Worker worker_;
  std::vector<Contender> contenders_;
  std::set<std::string> hung_devices_;
  double slow_s_ = 0; // a step that took too long to be timed
  bool alone_ = false; // memory is too short for two trials at once
};

} // namespace temper::plan
