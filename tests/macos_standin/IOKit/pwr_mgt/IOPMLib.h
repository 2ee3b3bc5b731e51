// Stand-in: see README.md.
#pragma once

#include <stdint.h>

#include "CoreFoundation/CoreFoundation.h"
#include "mach/mach_types.h"

typedef kern_return_t IOReturn;
typedef uint32_t IOPMAssertionID;
typedef uint32_t IOPMAssertionLevel;

#define kIOReturnSuccess KERN_SUCCESS
#define kIOPMAssertionTypePreventUserIdleSystemSleep \
  CFSTR("PreventUserIdleSystemSleep")

enum { kIOPMNullAssertionID = 0 };
enum { kIOPMAssertionLevelOff = 0, kIOPMAssertionLevelOn = 255 };

extern "C" {
IOReturn IOPMAssertionCreateWithName(
    CFStringRef type,
    IOPMAssertionLevel level,
    CFStringRef name,
    IOPMAssertionID* id);
IOReturn IOPMAssertionRelease(IOPMAssertionID id);
}
