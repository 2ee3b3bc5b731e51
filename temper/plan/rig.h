// The seam between calibration and what really computes: train implements it
// with LibTorch, the tests with fakes. Everything here is called on the
// calibration's worker thread (worker.h), never on two threads at once while
// the worker behaves, and may be left behind in the middle of a call that does
// not come back: a Rig must not hold a lock that the run needs later.
#pragma once

#include <limits>
#include <memory>
#include <string>

#include "temper/base/error.h"
#include "temper/plan/setting.h"

namespace temper::plan {

// Whether one step in a setting computes what the reference computes:
// gradients of every parameter, BatchNorm statistics, eval-mode outputs.
struct Parity {
  bool agrees = false;
  std::string parameter; // the one that differs most, against its allowance
  double difference = 0; // relative, of that parameter
  double allowed = 0;
};

// Thrown by open(), step() and parity(); std::bad_alloc counts too.
class NoMemory : public Error {
 public:
  using Error::Error;
};

// A scratch copy of the training state in one setting. Several are open at the
// same time and are stepped in turn.
class Trial {
 public:
  virtual ~Trial() = default;
  // One training step to its end: forward, backward, update, and the wait for
  // the device.
  virtual void step() = 0;
  virtual Parity parity() = 0;
};

class Rig {
 public:
  virtual ~Rig() = default;
  virtual std::unique_ptr<Trial> open(const Setting& setting) = 0;
  // How much of a batch a step computes, 0..1: large ones take too long.
  virtual double part() const {
    return 1;
  }
  // How many trials may be open at once; memory may be short for more.
  virtual int most_open() const {
    return std::numeric_limits<int>::max();
  }
  // A remark for the user about the measuring; empty: none.
  virtual std::string note() const {
    return "";
  }
};

} // namespace temper::plan
