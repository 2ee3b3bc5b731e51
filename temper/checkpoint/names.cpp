#include "temper/checkpoint/names.h"

#include "temper/base/checkpoint_name.h"
#include "temper/base/text.h"

namespace temper::checkpoint {
namespace {

constexpr std::string_view kEarlier = ".before";

} // namespace

std::string folder_name(std::int64_t update) {
  return checkpoint_name(update);
}

std::string earlier_name(std::int64_t update) {
  return cat(folder_name(update), kEarlier);
}

std::string building_name(std::int64_t update) {
  return cat(".", folder_name(update));
}

std::string leaving_name(std::int64_t update) {
  return cat(".", folder_name(update), ".gone");
}

std::optional<std::int64_t> update_of(const std::string& name) {
  if (!names_checkpoint(name)) return std::nullopt;
  const auto number =
      parse_int(std::string_view(name).substr(kCheckpointPrefix.size()));
  // "step-007" is not a name that we give.
  return number && *number >= 0 && folder_name(*number) == name ? number
                                                                : std::nullopt;
}

std::optional<std::int64_t> earlier_update_of(const std::string& name) {
  if (!name.ends_with(kEarlier)) return std::nullopt;
  return update_of(name.substr(0, name.size() - kEarlier.size()));
}

bool is_debris(const std::string& name) {
  return name.starts_with(cat(".", kCheckpointPrefix)) ||
      name.starts_with("latest.tmp.") || name.starts_with("best.tmp.");
}

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed))
    names.push_back(entry.path().filename().string());
  return names;
}

} // namespace temper::checkpoint
