#include "temper/cli/terminal/command.h"

namespace temper::cli {

const std::vector<CommandEntry>& commands() {
  static const std::vector<CommandEntry> table{
      {"train", "train a model on data", make_train},
      {"doctor",
       "is this machine, this build and this Python fit to train, and what to "
       "do if not",
       make_doctor},
      {"data",
       "get a dataset, check it, show it, or pack it into one file",
       make_data},
      {"export",
       "a model as .pt2, safetensors or TorchScript, with trained weights",
       make_export},
      {"runs", "list the runs, show one, or compare two", make_runs},
      {"plan",
       "show, measure or clear what is remembered about this machine",
       make_plan},
      {"model",
       "show what is in a model: shapes, parameters, work and memory, per "
       "module",
       make_model},
      {"help", "the manual of a command: temper help doctor", make_help},
  };
  return table;
}

} // namespace temper::cli
