// The records of a TensorBoard event file, as bytes.
// Private to track/tensorboard.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "temper/track/tracker.h"

namespace temper::track {

// A record as it lies in the file: length, its checksum, data, its checksum.
std::string event_record(const std::string& event);

// "brain.Event:2", which must be the first.
std::string version_event(std::int64_t time_ms);
std::string scalar_event(const Point& point);
std::string text_event(const Note& note);
// An image from the bytes of a PNG file; empty when they are none.
std::string image_event(
    const std::string& tag,
    const std::string& png,
    std::int64_t step,
    std::int64_t time_ms);
std::string histogram_event(
    const Histogram& histogram,
    std::int64_t step,
    std::int64_t time_ms);
// The contents of the HPARAMS page: the run's settings, and how it ended.
std::string hparams_event(const RunFacts& run);
std::string hparams_experiment_event(const RunFacts& run);
std::string hparams_end_event(const StatusChange& change);

} // namespace temper::track
