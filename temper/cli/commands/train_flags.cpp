#include "temper/cli/commands/train_flags.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>

#include "temper/base/environment.h"
#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/machine/devices.h"
#include "temper/session/tracked_run.h"

namespace temper::cli {
namespace {

// Flags that are short forms of keys.
struct ShortForm {
  const char* flag;
  const char* key;
  const char* type;
  const char* help;
};
constexpr ShortForm kShortForms[] = {
    {"--model", "model.name", "M", "a model of the zoo, or a file: net.pt2"},
    {"--data", "data.source", "D", "what to train on: cifar10, folder:PATH"},
    {"--epochs", "train.epochs", "N", "passes over the data"},
    {"--batch", "train.batch", "N", "samples of one update"},
    {"--lr", "optimizer.lr", "X", "learning rate"},
    {"--device", "device", "D", "auto, cpu, gpu, mps, cuda, cuda:N, sim"},
};

} // namespace

void TrainFlags::declare(CLI::App& app) {
  for (const ShortForm& form : kShortForms)
    app.add_option_function<std::string>(
           form.flag,
           [this, form](const std::string& value) {
             short_forms_.push_back({form.key, value, form.flag});
           },
           form.help)
        ->type_name(form.type);
  app.add_option("--set", set_, "any key of the config")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

std::vector<config::Assignment> TrainFlags::assignments() const {
  std::vector<config::Assignment> all = short_forms_;
  for (const std::string& each : set_)
    all.push_back(config::parse_assignment(each));
  // Over file and flags: whoever sets it wants it for every run.
  const auto device = variable(current_environment(), "TEMPER_DEVICE");
  if (!device || device->empty()) return all;
  if (const auto unknown = machine::unknown_device(*device))
    throw Error(
        cat(unknown->what(), " TEMPER_DEVICE says so."), unknown->hint());
  all.push_back({"device", *device, "TEMPER_DEVICE"});
  return all;
}

bool TrainFlags::reads_once(const std::string& file) {
  std::error_code failed;
  return std::filesystem::exists(file, failed) &&
      !std::filesystem::is_regular_file(file, failed);
}

config::Config TrainFlags::config_of(
    const std::string& file,
    const std::vector<config::Assignment>& assignments) {
  return checked(config::load(
                     file.empty() ? std::nullopt
                                  : std::optional<std::filesystem::path>(file),
                     assignments)
                     .config);
}

config::Config TrainFlags::checked(config::Config config) {
  return session::with_checked_tracking(std::move(config));
}

} // namespace temper::cli
