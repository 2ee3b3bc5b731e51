#include "temper/train/forecast/governor_options.h"

#include <algorithm>

#include "temper/base/error.h"
#include "temper/base/text.h"
#include "temper/train/schedule/updates.h"

namespace temper::train {

memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts) {
  memory::GovernorOptions options;
  options.batch =
      static_cast<int>(config.train.batch * config.train.accumulate);
  options.group =
      static_cast<int>(std::max<std::int64_t>(config.model.bn_group, 1));
  options.may_split = !facts.needs_whole_batch;
  options.batch_norm = facts.batch_norms > 0;
  if (config.memory.micro_batch)
    options.fixed = micro_batch_of(config);
  else
    options.most = micro_batch_of(config);
  if (options.fixed > 0 && options.fixed < options.batch &&
      options.fixed % options.group != 0)
    throw Error(
        cat("[train] memory.micro_batch = ",
            options.fixed,
            " would cut groups of model.bn_group = ",
            options.group,
            "."),
        "Set it to a multiple of the group, or to \"auto\".");
  return options;
}

memory::GovernorOptions governor_options(
    const config::Config& config,
    const EngineFacts& facts,
    const memory::Forecast& forecast) {
  memory::GovernorOptions options = governor_options(config, facts);
  options.start = forecast.at_once;
  options.base_bytes = forecast.base_bytes;
  options.sample_bytes = forecast.sample_bytes;
  return options;
}

} // namespace temper::train
