// The terminal, or whatever stands in for it. The only place of the program
// that prints: commands hand it their text, the log ends here too.
#pragma once

#include <mutex>
#include <string>

#include "temper/base/environment.h"
#include "temper/base/log.h"

namespace temper::cli {

class Console {
 public:
  // Looks at standard output and error, NO_COLOR, TERM and COLUMNS.
  explicit Console(const Environment& environment);

  bool colour() const {
    return colour_;
  }
  // The columns for tables and prose, within what reads well. A window may be
  // resized at any time: whoever lays out a line asks again.
  int width() const;
  // The present width of the terminal that shows progress(): longer lines do
  // not fit on one row.
  int line_width() const;
  // Whether progress() shows anything.
  bool live() const {
    return live_;
  }

  // True when only results and errors are wanted.
  bool quiet() const {
    return quiet_;
  }
  void set_quiet(bool quiet) {
    quiet_ = quiet;
  }
  // Details are wanted, too.
  bool verbose() const {
    return verbose_;
  }
  void set_verbose(bool verbose) {
    verbose_ = verbose;
  }

  // From now on output that cannot be written is told once, on standard error,
  // and ends nothing: the run is worth more than its report.
  void outlive_output();

  // Another process shows its progress on the same terminal: every line of
  // ours clears it first.
  void share_line() {
    shared_ = true;
  }

  // The command's result, to standard output. Error when it cannot be written:
  // a report that is cut short must not pass for one. See outlive_output().
  void print(const std::string& text);
  // Shows what the command is busy with: a live line on a terminal, nothing in
  // a pipe. The cursor waits at its beginning: when the window becomes narrower
  // and the terminal lays the line out anew, over several rows, the next one
  // still clears all of it.
  void progress(const std::string& what);
  // A line of the log, to standard error.
  void log(log::Level level, const std::string& line);
  // The error that ended the command, its hint below it.
  void error(const std::string& what, const std::string& hint);

 private:
  void clear_progress();

  // Followers of a run log while it shows its progress.
  std::mutex mutex_;
  bool colour_ = false;
  bool live_ = false; // standard error is a terminal
  bool quiet_ = false;
  bool verbose_ = false;
  bool progress_shown_ = false;
  bool shared_ = false;
  bool outlives_output_ = false;
  bool told_of_output_ = false; // that it cannot be written
  int columns_ = 0; // that COLUMNS asks for; 0: it does not
};

} // namespace temper::cli
