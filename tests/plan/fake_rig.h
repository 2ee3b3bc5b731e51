// Settings that are fast and wrong, slow and right, that throw, hang or run out
// of memory, without any device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

#include "temper/plan/rig.h"
#include "temper/plan/worker.h"

namespace temper::plan::fakes {

// Time that passes only when a step says so.
class FakeClock {
 public:
  double now() const {
    const std::lock_guard lock(mutex_);
    return now_s_;
  }
  void pass(double seconds) {
    const std::lock_guard lock(mutex_);
    now_s_ += seconds;
  }

 private:
  mutable std::mutex mutex_;
  double now_s_ = 100;
};

// A trial that hangs waits here until the test lets it go.
class Gate {
 public:
  void wait() {
    std::unique_lock lock(mutex_);
    ++came_;
    opened_.wait(lock, [&] { return open_; });
  }
  // How many have come to wait so far.
  int came() const {
    const std::lock_guard lock(mutex_);
    return came_;
  }
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable opened_;
  int came_ = 0;
  bool open_ = false;
};

// Waits for a job until it ends or hangs at the gate; then its time is up on
// the fake clock.
inline WaitForJob wait_or_hang(
    const std::shared_ptr<FakeClock>& clock,
    const std::shared_ptr<Gate>& gate) {
  return [clock, gate](
             std::unique_lock<std::mutex>& lock,
             std::condition_variable& changed,
             double seconds,
             const std::function<bool()>& ended) {
    const int before = gate->came(); // the job needs the lock to begin
    while (!ended()) {
      if (gate->came() > before) {
        clock->pass(seconds);
        return false;
      }
      changed.wait_for(lock, std::chrono::milliseconds(1));
    }
    return true;
  };
}

struct Behaviour {
  double step_s = 0.1;
  double first_s = 0; // more, for the first step
  // By the number of the step, from 0: what it takes as a factor of step_s.
  std::function<double(int)> factor = nullptr;
  bool agrees = true;
  bool throws = false;
  bool hangs = false;
  bool hangs_in_parity = false;
  int memory = 0; // units it keeps while open
  std::string parameter = "fc.weight";
};

class FakeRig : public Rig {
 public:
  explicit FakeRig(int memory = 1000) : memory_(memory) {}
  ~FakeRig() override {
    gate->open();
  }

  std::unique_ptr<Trial> open(const Setting& setting) override {
    const std::lock_guard lock(mutex_);
    const Behaviour& behaviour = behaviours.at(to_text(setting));
    if (used_ + behaviour.memory > memory_)
      throw NoMemory("not enough for " + to_text(setting));
    used_ += behaviour.memory;
    clock->pass(std::exchange(fitting_s, 0));
    ++opened[to_text(setting)];
    most_at_once = std::max(most_at_once, ++open_now_);
    return std::make_unique<FakeTrial>(*this, behaviour, to_text(setting));
  }

  std::map<std::string, Behaviour> behaviours; // by to_text(setting)
  double fitting_s = 0; // what the first opening takes before it opens
  // The factor that slows everything down, by the clock.
  std::function<double(double)> slowed = [](double) { return 1; };
  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  std::shared_ptr<Gate> gate = std::make_shared<Gate>();
  int may_be_open = std::numeric_limits<int>::max();
  int most_open() const override {
    return may_be_open;
  }
  // Counted.
  int most_at_once = 0;
  std::map<std::string, int> opened;
  std::map<std::string, int> steps;
  std::map<std::string, int> checked;
  int used() const {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  class FakeTrial : public Trial {
   public:
    FakeTrial(FakeRig& rig, const Behaviour& behaviour, std::string name)
        : rig_(rig), behaviour_(behaviour), name_(std::move(name)) {}
    ~FakeTrial() override {
      const std::lock_guard lock(rig_.mutex_);
      rig_.used_ -= behaviour_.memory;
      --rig_.open_now_;
    }
    void step() override {
      if (behaviour_.throws) throw std::runtime_error("no such kernel");
      if (behaviour_.hangs) {
        const auto gate = rig_.gate;
        gate->wait();
        return;
      }
      const std::lock_guard lock(rig_.mutex_);
      const int number = rig_.steps[name_]++;
      const double factor = rig_.slowed(rig_.clock->now()) *
          (behaviour_.factor ? behaviour_.factor(number) : 1);
      rig_.clock->pass(
          behaviour_.step_s * factor + (first_ ? behaviour_.first_s : 0));
      first_ = false;
    }
    Parity parity() override {
      if (behaviour_.hangs_in_parity) {
        const auto gate = rig_.gate;
        gate->wait();
      }
      const std::lock_guard lock(rig_.mutex_);
      ++rig_.checked[name_];
      rig_.clock->pass(behaviour_.step_s);
      return {behaviour_.agrees, behaviour_.parameter, 0.03, 0.0001};
    }

   private:
    FakeRig& rig_;
    Behaviour behaviour_;
    std::string name_;
    bool first_ = true;
  };

  mutable std::mutex mutex_;
  int open_now_ = 0;
  int memory_;
  int used_ = 0;
};

} // namespace temper::plan::fakes
