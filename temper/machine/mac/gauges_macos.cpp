#include <cstdlib>
#include <memory>

#include "temper/machine/gauges_system.h"
#include "temper/machine/mac/mac_gauges.h"
#include "temper/machine/mac/mac_source.h"

namespace temper::machine {
namespace {

struct MacSystem : Gauges::System {
  void read(Sample& sample, Counters& now) override {
    gauges.read(sample, now);
    double average = 0;
    if (getloadavg(&average, 1) == 1) sample.load_average = average;
  }

  std::unique_ptr<MacSource> source = open_mac_source();
  MacGauges gauges{*source};
};

} // namespace

std::unique_ptr<Gauges::System> Gauges::System::open() {
  return std::make_unique<MacSystem>();
}

} // namespace temper::machine
