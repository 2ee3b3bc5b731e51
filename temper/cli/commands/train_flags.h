// The flags that say what a run is: short forms of keys, --set and the variable
// TEMPER_DEVICE over a config. For the commands that begin or plan one.
#pragma once

#include <string>
#include <vector>

#include "temper/config/load.h"

namespace CLI {
class App;
} // namespace CLI

namespace temper::cli {

class TrainFlags {
 public:
  void declare(CLI::App& app);

  // The assignments in the order in which they count; Error when one is not
  // key=value, or the variable names no device.
  std::vector<config::Assignment> assignments() const;
  // Is it a pipe, or otherwise no file that can be read a second time? Then
  // only the process that uses it may read it.
  static bool reads_once(const std::string& file);
  // The config of a file ("": none) with the assignments over it. Error when it
  // is no config.
  static config::Config config_of(
      const std::string& file,
      const std::vector<config::Assignment>& assignments);
  // The same config with a parent of its own where it has one. Error when what
  // it says of tracking cannot be.
  static config::Config checked(config::Config config);

 private:
  std::vector<config::Assignment> short_forms_;
  std::vector<std::string> set_;
};

} // namespace temper::cli
