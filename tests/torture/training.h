// A `temper train` to be tortured: started in the background, watched through
// its journal, killed and signalled, and compared by everything its last
// checkpoint holds.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/base/environment.h"
#include "temper/base/exit_codes.h"
#include "temper/journal/event.h"
#include "temper/journal/journal.h"
#include "temper/journal/run_directory.h"

namespace temper::torture {

// How much is done: a little in ctest, all of it with TEMPER_TORTURE.
bool full();
template <class T>
T cases(T short_form, T full_form) {
  return full() ? full_form : short_form;
}

// How often what comes at random is tried: what TEMPER_TORTURE says.
int repeats(int short_form);

// A network with all that makes a resume hard, and next to no work:
// convolution, BatchNorm, dropout. Writes a .pt2 file.
void write_small_network(const std::filesystem::path& path);

// Two of its convolutions have one weight: again.weight is and_again.weight.
void write_tied_network(const std::filesystem::path& path);

// Arguments of a run over 300 small steps with momentum, augmentation and
// averaged weights; it saves often.
struct SmallRun {
  std::filesystem::path folder; // has net.pt2, will have runs/
  std::string name;
  std::string data = "synthetic:images=320,size=8,classes=4";
  std::string network = "net.pt2";
  std::int64_t steps = 300;
  std::vector<std::string> set = {}; // further keys
  std::vector<std::string> flags = {}; // --no-supervise
  std::vector<std::string> arguments() const;
  journal::RunDirectory directory() const;
};

class Training {
 public:
  // `extra` is added to the environment.
  explicit Training(const SmallRun& run, const Environment& extra = {});
  // Goes on with it.
  static std::vector<std::string> resume_of(const SmallRun& run);
  Training(
      const SmallRun& run,
      const std::vector<std::string>& arguments,
      const Environment& extra);
  ~Training(); // kills what is left
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  pid_t pid() const { // of the process that was started
    return pid_;
  }
  // Of the process that trains; nothing before it has its directory.
  std::optional<pid_t> trainer() const;
  // Kills it, and waits until another has the directory or the run has ended.
  void replace(pid_t trainer);
  // Until the supervisor has started a trainer.
  bool reach_child();
  // Its exit code, or minus the signal it died of.
  int wait();
  // Nothing while it goes on.
  std::optional<int> ended();
  // The last step in the journal; 0: none yet.
  std::int64_t last_step();
  // Until the journal has that step; false when it ended before.
  bool reach(std::int64_t step);
  // Until the journal has an event of that kind.
  bool reach_event(const std::string& kind);
  // Until there is such a file.
  bool reach_file(const std::filesystem::path& path);
  // Until it has said that.
  bool reach_word(const std::string& word);
  std::string output() const; // of both streams

 private:
  SmallRun run_;
  std::filesystem::path log_;
  pid_t pid_ = -1;
  std::optional<int> ended_;
  journal::Follower follower_;
  std::int64_t last_step_ = 0;
};

std::vector<journal::Event> journal_of(const SmallRun& run);
std::int64_t count_kind(
    const std::vector<journal::Event>& events,
    const std::string& kind);

// 0: none.
std::int64_t last_step_of(const std::vector<journal::Event>& events);

// SHA-256 of the last checkpoint: every tensor and every counter. The place in
// the journal and the seconds spent are left out: they tell of the
// disturbances.
std::string state_of(const SmallRun& run);

// Every step from 1 to the last and every epoch, once each; "" or what is
// wrong.
std::string faults_of_journal(
    const std::vector<journal::Event>& events,
    std::int64_t last);

} // namespace temper::torture
