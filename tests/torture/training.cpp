#include "training.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "temper/base/digest/sha256.h"
#include "temper/base/file/file.h"
#include "temper/base/process/spawn.h"
#include "temper/base/text.h"
#include "temper/journal/journal.h"
#include "tests/leash.h"
#include "tests/temp_folder.h"

namespace temper::torture {
namespace {

namespace fs = std::filesystem;

void nap() {
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

pid_t start(
    const std::vector<std::string>& arguments,
    const Environment& extra,
    const fs::path& log) {
  const Descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  ProgramStart start;
  start.arguments = tests::leash();
  start.arguments.emplace_back(TEMPER_PROGRAM);
  start.arguments.insert(
      start.arguments.end(), arguments.begin(), arguments.end());
  start.extra = extra;
  start.in = nothing.get();
  start.out = output.get();
  start.err = output.get();
  start.own_group = true; // so that all of it can be cleared away
  std::string why;
  const auto pid = spawn(start, why);
  if (!pid) throw std::runtime_error(cat("temper does not start: ", why));
  return *pid;
}

// What differs between an undisturbed run and one that was resumed: the place
// in the journal, how many were saved before, the seconds, the name of the run,
// and a checksum over these.
void forget_disturbances(nlohmann::json& about) {
  for (const char* key : {"journal_offset", "number", "config", "sum"})
    about.erase(key);
  auto loop = nlohmann::json::parse(about.value("loop", ""), nullptr, false);
  if (loop.is_object()) {
    loop.erase("seconds");
    loop.erase("spent_s");
  }
  about["loop"] = loop;
}

} // namespace

bool full() {
  const auto asked = variable(current_environment(), "TEMPER_TORTURE");
  return asked && !asked->empty() && *asked != "0";
}

int repeats(int short_form) {
  if (!full()) return short_form;
  const auto asked = variable(current_environment(), "TEMPER_TORTURE");
  return static_cast<int>(parse_int(asked.value_or("")).value_or(1));
}

std::vector<std::string> SmallRun::arguments() const {
  std::vector<std::string> all{"train"};
  std::vector<std::string> keys{
      cat("run.dir=", (folder / "runs").string()),
      cat("run.name=", name),
      cat("model.name=", (folder / network).string()),
      cat("data.source=", data),
      "data.augment=cifar",
      "device=cpu",
      "threads=1",
      "plan.seconds=0",
      "loader.workers=2",
      "train.batch=8",
      "train.epochs=1000",
      cat("train.max_steps=", steps),
      "train.log_every=1",
      "train.ema=0.9",
      "optimizer.name=sgd",
      "optimizer.momentum=0.9",
      "optimizer.lr=0.02",
      "schedule.name=constant",
      "checkpoint.every_steps=7",
      "track.mlflow=off"};
  keys.insert(keys.end(), set.begin(), set.end());
  for (const std::string& key : keys) {
    all.emplace_back("--set");
    all.push_back(key);
  }
  all.insert(all.end(), flags.begin(), flags.end());
  return all;
}

journal::RunDirectory SmallRun::directory() const {
  return {folder / "runs" / name};
}

std::vector<std::string> Training::resume_of(const SmallRun& run) {
  std::vector<std::string> all{
      "train", "--resume", run.directory().path.string()};
  all.insert(all.end(), run.flags.begin(), run.flags.end());
  return all;
}

Training::Training(const SmallRun& run, const Environment& extra)
    : Training(run, run.arguments(), extra) {}

Training::Training(
    const SmallRun& run,
    const std::vector<std::string>& arguments,
    const Environment& extra)
    : run_(run),
      log_(run.folder / (run.name + ".log")),
      pid_(start(arguments, extra, log_)),
      follower_(run.directory().journal()) {}

Training::~Training() {
  ::kill(-pid_, SIGKILL);
  if (!ended_) wait();
}

std::optional<pid_t> Training::trainer() const {
  const auto text = read_small_file(run_.directory().lock());
  if (!text) return std::nullopt;
  const auto pid = parse_int(trim(*text));
  // Between a death and the next start it is the one that died; when the run is
  // over, the supervisor, which looks at how it ended.
  if (!pid || *pid == pid_ || ::kill(static_cast<pid_t>(*pid), 0) != 0)
    return std::nullopt;
  return static_cast<pid_t>(*pid);
}

void Training::replace(pid_t killed) {
  ::kill(killed, SIGKILL);
  while (!ended() && (!trainer() || trainer() == killed))
    nap();
}

std::optional<int> Training::ended() {
  if (ended_) return ended_;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return ended_;
}

int Training::wait() {
  while (!ended())
    nap();
  return *ended_;
}

std::int64_t Training::last_step() {
  const fs::path path = run_.directory().journal();
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  // A resume has cut it.
  if (!failed && size < follower_.offset()) follower_ = journal::Follower(path);
  for (const auto& event : follower_.read())
    if (event.kind == "step") last_step_ = event.count("step").value_or(0);
  return last_step_;
}

bool Training::reach(std::int64_t step) {
  for (;;) {
    const bool over = ended().has_value();
    if (last_step() >= step) return true;
    if (over) return false;
    nap();
  }
}

bool Training::reach_event(const std::string& kind) {
  for (;;) {
    const bool over = ended().has_value();
    if (count_kind(journal_of(run_), kind) > 0) return true;
    if (over) return false;
    nap();
  }
}

bool Training::reach_child() {
  for (;;) {
    const bool over = ended().has_value();
    const auto children =
        read_small_file(cat("/proc/", pid_, "/task/", pid_, "/children"));
    if (children && !trim(*children).empty()) return true;
    if (over) return false;
    nap();
  }
}

bool Training::reach_file(const fs::path& path) {
  for (;;) {
    const bool over = ended().has_value();
    if (fs::exists(path)) return true;
    if (over) return false;
    nap();
  }
}

bool Training::reach_word(const std::string& word) {
  for (;;) {
    const bool over = ended().has_value();
    if (contains(output(), word)) return true;
    if (over) return false;
    nap();
  }
}

std::string Training::output() const {
  return tests::read_bytes(log_);
}

std::vector<journal::Event> journal_of(const SmallRun& run) {
  return journal::read_journal(run.directory().journal());
}

std::int64_t count_kind(
    const std::vector<journal::Event>& events,
    const std::string& kind) {
  std::int64_t count = 0;
  for (const auto& event : events)
    count += event.kind == kind ? 1 : 0;
  return count;
}

std::int64_t last_step_of(const std::vector<journal::Event>& events) {
  std::int64_t last = 0;
  for (const auto& event : events)
    if (event.kind == "step") last = event.count("step").value_or(last);
  return last;
}

std::string state_of(const SmallRun& run) {
  const fs::path checkpoints = run.directory().checkpoints();
  const std::string latest(trim(tests::read_bytes(checkpoints / "latest")));
  const std::string tensors =
      tests::read_bytes(checkpoints / latest / "state.safetensors");
  auto about = nlohmann::json::parse(
      tests::read_bytes(checkpoints / latest / "state.json"), nullptr, false);
  if (tensors.empty() || about.is_discarded()) return "no checkpoint";
  forget_disturbances(about);
  Sha256 hash;
  hash.add(tensors.data(), tensors.size());
  const std::string rest = about.dump();
  hash.add(rest.data(), rest.size());
  return hash.hex();
}

std::string faults_of_journal(
    const std::vector<journal::Event>& events,
    std::int64_t last) {
  std::int64_t step = 0;
  std::int64_t epoch = 0;
  for (const auto& event : events) {
    if (event.kind == "step" && event.count("step") != ++step)
      return cat(
          "step ",
          event.count("step").value_or(-1),
          " where ",
          step,
          " was due");
    if (event.kind == "epoch" && event.count("epoch") != epoch++)
      return cat(
          "epoch ",
          event.count("epoch").value_or(-1),
          " where ",
          epoch - 1,
          " was due");
  }
  return step == last ? "" : cat("it ends with step ", step);
}

} // namespace temper::torture
