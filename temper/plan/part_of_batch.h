// How many samples of a batch are measured where a step with all of them would
// take too long. Train's rig asks (train/calibrate).
#pragma once

#include <functional>

namespace temper::plan {

// The number of samples, at most `whole` and at least `few`, that a step of
// `step_s` seconds has time for. seconds_of(n) times a step with n samples; it
// is called once or twice. The update and whatever else a step does once is no
// cost of a sample, so that is told from steps of two sizes.
int samples_in_time(
    int whole,
    int few,
    double step_s,
    const std::function<double(int)>& seconds_of);

} // namespace temper::plan
