// Observers of a run that call a function, for tests.
#pragma once

#include <functional>
#include <utility>

#include "temper/train/loop/observer.h"

namespace temper::tests {

// When all is ready, before the first step.
class WhenStarted : public train::RunObserver {
 public:
  explicit WhenStarted(std::function<void()> act) : act_(std::move(act)) {}
  void started(
      const journal::RunDirectory&,
      const train::RunOverview&,
      const config::Config&) override {
    act_();
  }

 private:
  std::function<void()> act_;
};

// At every event.
class AtEvents : public train::RunObserver {
 public:
  explicit AtEvents(std::function<void(const journal::Event&)> act)
      : act_(std::move(act)) {}
  void event(const journal::Event& event) override {
    act_(event);
  }

 private:
  std::function<void(const journal::Event&)> act_;
};

} // namespace temper::tests
