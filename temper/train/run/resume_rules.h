// The rules of what may differ between a run and its resume. A run that goes on
// ends as if it had never stopped; a key that would make it another run is
// refused by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/error.h"
#include "temper/config/config.h"
#include "temper/train/loop/progress.h"

namespace temper::train {

// The error for changes that would make it another run.
class RefusedChange : public Error {
 public:
  using Error::Error;
};

enum class Effect {
  none, // on the result
  last_bits, // the same run, but its bits are no longer claimed to be the same
  length, // the same if the updates so far had the same learning rates
  result, // another run
};

Effect effect_of(const std::string& key);

// Keys whose values differ, in the order of the table.
std::vector<std::string> changed_keys(
    const config::Config& was,
    const config::Config& is);

// The command that starts a new run from the weights of `run`, with what is
// changed: "temper train --from NAME --epochs 20".
std::string from_command(
    const config::Config& was,
    const config::Config& is,
    const std::string& run);

// RefusedChange that names the keys that would give another result, and the
// command that starts such a run from the weights of `run`.
void check_changes(
    const config::Config& was,
    const config::Config& is,
    const std::string& run);

// Checks another length: RefusedChange when the updates so far would have had
// other learning rates, with the command as above. `per_epoch` as Updates takes
// it.
void check_length(
    const config::Config& was,
    const config::Config& is,
    std::optional<std::int64_t> per_epoch,
    const Progress& so_far,
    const std::string& run);

} // namespace temper::train
