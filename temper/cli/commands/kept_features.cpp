#include "temper/cli/commands/kept_features.h"

#include "temper/base/text.h"
#include "temper/data/feature/feature_store.h"

namespace temper::cli {

std::string features_text(const std::filesystem::path& folder) {
  const auto kept = data::list_features(folder);
  std::string text;
  std::uint64_t bytes = 0;
  for (const auto& each : kept) {
    bytes += each.bytes;
    text +=
        cat("  ",
            bytes_text(each.bytes),
            ", ",
            each.about ? cat(each.about->what,
                             ", ",
                             plural(each.about->layout.samples, "sample"),
                             " computed in ",
                             seconds_text(each.about->seconds))
                       : each.path.filename().string(),
            ", last used ",
            seconds_text(each.unused_s),
            " ago\n");
  }
  return cat(
      plural(static_cast<std::int64_t>(kept.size()), "file"),
      " of features in ",
      folder.string(),
      ", ",
      bytes_text(bytes),
      "\n",
      text,
      kept.empty() ? "" : "temper data cache --clear removes them.\n");
}

} // namespace temper::cli
