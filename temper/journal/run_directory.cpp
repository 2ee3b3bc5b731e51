#include "temper/journal/run_directory.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>

#include "temper/base/checkpoint_name.h"
#include "temper/base/error.h"
#include "temper/base/hex.h"
#include "temper/base/nearest.h"
#include "temper/base/text.h"
#include "temper/journal/event_fields.h"
#include "temper/journal/event_kinds.h"
#include "temper/journal/journal.h"

namespace temper::journal {
namespace {

namespace fs = std::filesystem;

// "folder:/data/My Photos" as a part of a file name: "my-photos".
std::string plain_name(const std::string& text) {
  std::string last = text.substr(text.find_last_of("/:") + 1);
  if (last.empty()) last = text;
  constexpr std::size_t kLongest = 24;
  std::string out;
  for (const char c : lower(last)) {
    const bool keep = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
        c == '_' || c == '.';
    if (keep)
      out += c;
    else if (!out.empty() && out.back() != '-')
      out += '-';
  }
  while (!out.empty() && (out.back() == '-' || out.back() == '.'))
    out.pop_back();
  return out.substr(0, kLongest);
}

std::string stamp() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y%m%d-%H%M%S", &local);
  return text.data();
}

// Names that mean something else where a run is named.
void check_name(const std::string& name) {
  const auto refuse = [&](const char* why, const char* hint) {
    std::string shown = name;
    for (char& c : shown)
      if (std::iscntrl(static_cast<unsigned char>(c)) != 0) c = '?';
    throw Error(
        cat("[journal] ", shown, " cannot be the name of a run: ", why, "."),
        hint);
  };
  if (name.find('/') != std::string::npos || name == "." || name == "..")
    refuse("it is a path", "Name a run with run.name, its place with run.dir.");
  const char* another = "Choose another run.name.";
  if (name == "latest") refuse("it means the newest of all runs", another);
  if (name.starts_with("-")) refuse("it looks like an option", another);
  if (std::any_of(name.begin(), name.end(), [](char c) {
        return std::iscntrl(static_cast<unsigned char>(c)) != 0;
      }))
    refuse("it has a line end or another control character", another);
}

// True for what a start leaves that was killed before it wrote anything.
bool is_unborn(const RunDirectory& run) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(run.path, failed))
    if (entry.path() != run.lock() &&
        !(entry.is_directory(failed) && fs::is_empty(entry.path(), failed)))
      return false;
  return !failed;
}

// It failed before its first step: nothing of it can be resumed or shown.
bool never_began(const RunDirectory& run) {
  constexpr std::size_t kBeforeTheFirstStep = 100; // events, at most
  bool failed = false;
  for (const Event& event : Follower(run.journal()).read(kBeforeTheFirstStep)) {
    if (event.kind == kinds::kStep || event.kind == kinds::kEpoch ||
        event.kind == kinds::kCheckpoint)
      return false;
    failed = event.kind == kinds::kEnd &&
        event.text(fields::kStatus) == statuses::kFailed;
  }
  return failed;
}

// Parts of a name stand between dashes: a time, a model, a source.
bool is_part_of(const std::string& wanted, const std::string& name) {
  return !wanted.empty() &&
      contains(cat("-", name, "-"), cat("-", wanted, "-"));
}

} // namespace

std::string new_run_id() {
  constexpr int kDigits = 32;
  return random_hex(kDigits);
}

RunDirectory make_run_directory(
    const fs::path& parent,
    const std::string& name,
    const std::string& model,
    const std::string& data) {
  check_name(name);
  std::error_code failed;
  fs::create_directories(parent, failed);
  constexpr int kTries = 16;
  for (int i = 0; i < kTries && !failed; ++i) {
    const std::string chosen = !name.empty() ? name
                                             : cat(stamp(),
                                                   "-",
                                                   plain_name(model),
                                                   "-",
                                                   plain_name(data),
                                                   "-",
                                                   random_hex(4));
    const RunDirectory run{parent / chosen};
    const bool made = fs::create_directory(run.path, failed);
    if (made || (!failed && !name.empty() && is_unborn(run))) {
      fs::create_directory(run.checkpoints());
      fs::create_directory(run.artifacts());
      return run;
    }
    if (!name.empty() && !failed)
      throw Error(
          cat("[journal] there is a run ",
              name,
              " in ",
              parent.string(),
              " already."),
          cat("Give another run.name, or go on with it: --resume ", name, "."));
  }
  throw Error(
      cat("[journal] cannot make a run directory in ",
          parent.string(),
          ": ",
          failed.message(),
          "."),
      "Choose another place with run.dir.");
}

bool is_run(const RunDirectory& directory) {
  std::error_code failed;
  if (fs::exists(directory.journal(), failed)) return true;
  const fs::directory_iterator checkpoints(directory.checkpoints(), failed);
  return std::any_of(
      begin(checkpoints), end(checkpoints), [](const auto& entry) {
        return names_checkpoint(entry.path().filename().string());
      });
}

std::vector<RunDirectory> list_runs(const fs::path& parent) {
  std::vector<RunDirectory> runs;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(parent, failed)) {
    const RunDirectory run{entry.path()};
    if (is_run(run)) runs.push_back(run);
  }
  // By when they began, which a chosen name does not tell.
  const auto began = [](const RunDirectory& run) {
    for (const fs::path& each : {run.config(), run.machine(), run.journal()}) {
      std::error_code none;
      const auto time = fs::last_write_time(each, none);
      if (!none) return time;
    }
    return fs::file_time_type::min();
  };
  std::sort(runs.begin(), runs.end(), [&](const auto& a, const auto& b) {
    const auto left = began(a);
    const auto right = began(b);
    return left != right ? left < right : a.path < b.path;
  });
  return runs;
}

RunDirectory find_run(const fs::path& parent, const std::string& wanted) {
  if (is_run({wanted})) return {wanted};
  const auto runs = list_runs(parent);
  if (wanted == "latest")
    for (auto run = runs.rbegin(); run != runs.rend(); ++run)
      if (!never_began(*run)) return *run;
  std::vector<RunDirectory> found;
  std::vector<std::string> names;
  for (const RunDirectory& run : runs) {
    const std::string name = run.name();
    names.push_back(name);
    if (name == wanted) return run;
    if (!wanted.empty() &&
        (name.starts_with(wanted) || name.ends_with(wanted) ||
         is_part_of(wanted, name)))
      found.push_back(run);
  }
  if (found.size() == 1) return found[0];
  if (found.size() > 1)
    throw Error(
        cat("[journal] ",
            wanted,
            " could be ",
            found[0].name(),
            " or ",
            found[1].name(),
            "."),
        "Give more of its name.");
  const auto close = nearest(wanted, names);
  throw Error(
      cat("[journal] there is no run ", wanted, " in ", parent.string(), "."),
      close ? cat("Did you mean ", *close, "?")
            : "temper runs list shows what there is.");
}

} // namespace temper::journal
