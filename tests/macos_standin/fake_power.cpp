#include "fake_power.h"

#include <IOKit/pwr_mgt/IOPMLib.h>

#include <array>
#include <map>

namespace {

std::map<IOPMAssertionID, temper::fake::Assertion> live;
IOPMAssertionID last = 0;
bool refusing = false;

std::string text_of(CFStringRef string) {
  std::array<char, 256> buffer{};
  CFStringGetCString(
      string, buffer.data(), buffer.size(), kCFStringEncodingUTF8);
  return buffer.data();
}

} // namespace

namespace temper::fake {

std::vector<Assertion> live_assertions() {
  std::vector<Assertion> all;
  for (const auto& [id, assertion] : live)
    all.push_back(assertion);
  return all;
}

void refuse_assertions(bool refuse) {
  refusing = refuse;
}

} // namespace temper::fake

extern "C" {

IOReturn IOPMAssertionCreateWithName(
    CFStringRef type,
    IOPMAssertionLevel level,
    CFStringRef name,
    IOPMAssertionID* id) {
  if (refusing) return 1;
  live[++last] = {text_of(type), text_of(name), level};
  *id = last;
  return kIOReturnSuccess;
}

IOReturn IOPMAssertionRelease(IOPMAssertionID id) {
  return live.erase(id) == 1 ? kIOReturnSuccess : 1;
}
}
