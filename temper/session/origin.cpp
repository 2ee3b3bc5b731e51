#include "temper/session/origin.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <nlohmann/json.hpp>

#include "temper/base/environment.h"
#include "temper/base/process/process.h"
#include "temper/base/text.h"
#include "temper/track/follow/target.h"

namespace temper::session {
namespace {

using nlohmann::json;

std::string user_name() {
  const auto environment = current_environment();
  for (const char* name : {"LOGNAME", "USER"})
    if (const auto user = variable(environment, name); user && !user->empty())
      return *user;
  const passwd* entry = ::getpwuid(::getuid());
  return entry == nullptr ? "" : entry->pw_name;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

// "# branch.oid <hash>", "# branch.head <name>", then a line a change.
void add_git(json& origin) {
  ProcessLimits limits;
  limits.time = std::chrono::seconds(2);
  const auto asked = run_process(
      {"git", "status", "--porcelain=v2", "--branch", "--untracked-files=no"},
      "",
      limits);
  if (!asked.succeeded()) return;
  bool dirty = false;
  for (const std::string& line : split(asked.out, '\n')) {
    const std::string oid = "# branch.oid ";
    const std::string head = "# branch.head ";
    if (line.starts_with(oid))
      origin["git_commit"] = line.substr(oid.size());
    else if (line.starts_with(head))
      origin["git_branch"] = line.substr(head.size());
    else if (!line.empty() && line.front() != '#')
      dirty = true;
  }
  origin["git_dirty"] = dirty;
}

std::string command_line(
    const std::vector<std::string>& arguments,
    std::string program) {
  for (const std::string& argument : arguments)
    program += cat(" ", track::without_secrets(argument));
  return program;
}

} // namespace

std::string origin_json(
    const std::vector<std::string>& arguments,
    const std::string& program) {
  json origin{
      {"user", user_name()},
      {"host", host_name()},
      {"pid", static_cast<std::int64_t>(::getpid())},
      {"command", command_line(arguments, program)}};
  add_git(origin);
  return origin.dump(-1, ' ', false, json::error_handler_t::replace);
}

} // namespace temper::session
