// The log: all that temper says while it works. Library code calls note(),
// warn() or detail(); where the line goes is up to the sink, which the command
// or the embedding program sets. The default sink writes warnings to standard
// error.
#pragma once

#include <functional>
#include <string>

namespace temper::log {

enum class Level {
  detail, // only with --verbose
  note,
  warning,
};

using Sink = std::function<void(Level, const std::string&)>;

// Replaces the sink and returns the one before. Lines arrive one at a time,
// from any thread.
Sink set_sink(Sink sink);

void detail(const std::string& line);
void note(const std::string& line);
void warn(const std::string& line);

} // namespace temper::log
