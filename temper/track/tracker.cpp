#include "temper/track/tracker.h"

namespace temper::track {

const char* to_string(Status status) {
  switch (status) {
    case Status::running:
      return "RUNNING";
    case Status::finished:
      return "FINISHED";
    case Status::failed:
      return "FAILED";
    case Status::killed:
      return "KILLED";
  }
  throw Bug("a status outside the table");
}

} // namespace temper::track
