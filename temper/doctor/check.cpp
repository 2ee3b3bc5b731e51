#include "temper/doctor/check.h"

namespace temper::doctor {

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::note:
      return "note";
    case Verdict::warn:
      return "warn";
    case Verdict::bad:
      return "bad";
  }
  return "unknown";
}

} // namespace temper::doctor
