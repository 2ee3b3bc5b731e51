// Names for the numbers in ARM's /proc/cpuinfo. Only the cores that are found
// in machines people train on; others keep their numbers.
#include <algorithm>
#include <array>

#include "temper/base/text.h"
#include "temper/machine/linux/linux_facts.h"
#include "temper/machine/linux/linux_text.h"

namespace temper::machine {
namespace {

struct Part {
  std::string_view implementer;
  std::string_view part;
  std::string_view name;
};

constexpr std::array kParts{
    Part{"0x41", "0xd03", "Cortex-A53"},
    Part{"0x41", "0xd04", "Cortex-A35"},
    Part{"0x41", "0xd05", "Cortex-A55"},
    Part{"0x41", "0xd07", "Cortex-A57"},
    Part{"0x41", "0xd08", "Cortex-A72"},
    Part{"0x41", "0xd09", "Cortex-A73"},
    Part{"0x41", "0xd0a", "Cortex-A75"},
    Part{"0x41", "0xd0b", "Cortex-A76"},
    Part{"0x41", "0xd0c", "Neoverse-N1"},
    Part{"0x41", "0xd0d", "Cortex-A77"},
    Part{"0x41", "0xd40", "Neoverse-V1"},
    Part{"0x41", "0xd41", "Cortex-A78"},
    Part{"0x41", "0xd42", "Cortex-A78AE"},
    Part{"0x41", "0xd44", "Cortex-X1"},
    Part{"0x41", "0xd46", "Cortex-A510"},
    Part{"0x41", "0xd47", "Cortex-A710"},
    Part{"0x41", "0xd48", "Cortex-X2"},
    Part{"0x41", "0xd49", "Neoverse-N2"},
    Part{"0x41", "0xd4d", "Cortex-A715"},
    Part{"0x41", "0xd4e", "Cortex-X3"},
    Part{"0x41", "0xd4f", "Neoverse-V2"},
    Part{"0x41", "0xd80", "Cortex-A520"},
    Part{"0x41", "0xd81", "Cortex-A720"},
    Part{"0x41", "0xd82", "Cortex-X4"},
    Part{"0x41", "0xd84", "Neoverse-V3"},
    Part{"0x41", "0xd8e", "Neoverse-N3"},
    Part{"0x46", "0x001", "A64FX"},
    Part{"0x4e", "0x004", "NVIDIA Carmel"},
    Part{"0x51", "0x001", "Oryon"},
    Part{"0x61", "0x022", "Apple M1"},
    Part{"0x61", "0x023", "Apple M1"},
    Part{"0x61", "0x024", "Apple M1 Pro"},
    Part{"0x61", "0x025", "Apple M1 Pro"},
    Part{"0x61", "0x028", "Apple M1 Max"},
    Part{"0x61", "0x029", "Apple M1 Max"},
    Part{"0x61", "0x032", "Apple M2"},
    Part{"0x61", "0x033", "Apple M2"},
    Part{"0x61", "0x034", "Apple M2 Pro"},
    Part{"0x61", "0x035", "Apple M2 Pro"},
    Part{"0x61", "0x038", "Apple M2 Max"},
    Part{"0x61", "0x039", "Apple M2 Max"},
    Part{"0xc0", "0xac3", "Ampere-1"},
    Part{"0xc0", "0xac4", "Ampere-1A"},
};

std::string part_name(std::string_view implementer, std::string_view part) {
  for (const Part& known : kParts)
    if (known.implementer == implementer && known.part == part)
      return std::string(known.name);
  return clean(cat("ARM ", implementer, ":", part));
}

} // namespace

std::string arm_model(std::string_view cpuinfo) {
  constexpr std::size_t kMostKinds = 4;
  std::vector<std::string> kinds;
  std::string_view implementer;
  while (!cpuinfo.empty() && kinds.size() < kMostKinds) {
    const auto line = next_line(cpuinfo);
    if (const auto value = field(line, "CPU implementer")) implementer = *value;
    const auto part = field(line, "CPU part");
    if (!part || part->empty()) continue;
    std::string name = part_name(implementer, *part);
    if (std::find(kinds.begin(), kinds.end(), name) == kinds.end())
      kinds.push_back(std::move(name));
  }
  return join(kinds, " + ");
}

} // namespace temper::machine
