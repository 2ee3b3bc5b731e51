#include <CoreFoundation/CoreFoundation.h>
#include <IOKit/pwr_mgt/IOPMLib.h>

#include "temper/machine/awake.h"

namespace temper::machine {

KeepAwake::KeepAwake(const std::string& why) {
  CFStringRef reason = CFStringCreateWithCString(
      kCFAllocatorDefault, why.c_str(), kCFStringEncodingUTF8);
  if (reason == nullptr) return;
  IOPMAssertionID made = kIOPMNullAssertionID;
  if (IOPMAssertionCreateWithName(
          kIOPMAssertionTypePreventUserIdleSystemSleep,
          kIOPMAssertionLevelOn,
          reason,
          &made) == kIOReturnSuccess)
    assertion_ = made;
  CFRelease(reason);
}

KeepAwake::~KeepAwake() {
  if (held()) IOPMAssertionRelease(assertion_);
}

} // namespace temper::machine
