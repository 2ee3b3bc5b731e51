#include "temper/doctor/checks.h"

namespace temper::doctor {

std::vector<Check> run_checks(const Evidence& evidence) {
  std::vector<Check> checks;
  const auto run = [&](const std::vector<CheckFunction>& group) {
    for (const CheckFunction function : group)
      if (auto check = function(evidence)) checks.push_back(*check);
  };
  run(machine_checks());
  run(build_checks());
  run(limit_checks());
  for (auto& check : check_devices(evidence))
    checks.push_back(std::move(check));
  run(storage_checks());
  return checks;
}

} // namespace temper::doctor
