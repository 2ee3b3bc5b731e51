#include "temper/base/log.h"

#include <cstdio>
#include <mutex>
#include <utility>

namespace temper::log {
namespace {

void to_standard_error(Level level, const std::string& line) {
  if (level == Level::warning)
    std::fprintf(stderr, "temper: warning: %s\n", line.c_str());
}

std::mutex& sink_mutex() {
  static std::mutex mutex;
  return mutex;
}

Sink& current_sink() {
  static Sink sink = to_standard_error;
  return sink;
}

void say(Level level, const std::string& line) {
  const std::lock_guard lock(sink_mutex());
  if (current_sink()) current_sink()(level, line);
}

} // namespace

Sink set_sink(Sink sink) {
  const std::lock_guard lock(sink_mutex());
  return std::exchange(current_sink(), std::move(sink));
}

void detail(const std::string& line) {
  say(Level::detail, line);
}

void note(const std::string& line) {
  say(Level::note, line);
}

void warn(const std::string& line) {
  say(Level::warning, line);
}

} // namespace temper::log
