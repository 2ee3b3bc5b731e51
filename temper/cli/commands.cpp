#include "temper/cli/command.h"

namespace temper::cli {

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> table{
      {"doctor",
       "is this machine, this build and this Python fit to train, and what to "
       "do if not",
       make_doctor},
      {"data",
       "get a dataset, check it, show it, or pack it into one file",
       make_data},
      {"help", "the manual of a command: temper help doctor", make_help},
  };
  return table;
}

} // namespace temper::cli
