// Metal's headers are Objective-C, so its one C function is declared here and
// the device is asked through the Objective-C runtime's C interface.
#include "temper/machine/mac/mac_registry.h"

#include <CoreFoundation/CoreFoundation.h>
#include <objc/message.h>
#include <objc/runtime.h>

extern "C" {
// Metal/MTLDevice.h; the caller owns the device.
id MTLCreateSystemDefaultDevice(void);
// The runtime's half of @autoreleasepool.
void* objc_autoreleasePoolPush(void);
void objc_autoreleasePoolPop(void* pool);
}

namespace temper::machine {
namespace {

class AutoreleasePool {
 public:
  AutoreleasePool() : pool_(objc_autoreleasePoolPush()) {}
  ~AutoreleasePool() {
    objc_autoreleasePoolPop(pool_);
  }
  AutoreleasePool(const AutoreleasePool&) = delete;
  AutoreleasePool& operator=(const AutoreleasePool&) = delete;

 private:
  void* pool_;
};

// A message must be sent through a pointer of the method's own type.
template <class Result>
Result send(id object, const char* message) {
  using Method = Result (*)(id, SEL);
  return reinterpret_cast<Method>(objc_msgSend)(
      object, sel_registerName(message));
}

// An NSString is a CFString. This one is the pool's, not ours.
std::string device_name(id device) {
  const auto name = send<CFStringRef>(device, "name");
  char buffer[256];
  const bool fits = name != nullptr &&
      CFStringGetCString(name, buffer, sizeof buffer, kCFStringEncodingUTF8);
  return fits ? buffer : "";
}

} // namespace

std::optional<MacMetal> read_metal() {
  const AutoreleasePool pool;
  const id device = MTLCreateSystemDefaultDevice();
  if (device == nullptr) return std::nullopt;
  MacMetal metal;
  metal.name = device_name(device);
  metal.recommended_bytes =
      send<std::uint64_t>(device, "recommendedMaxWorkingSetSize");
  send<void>(device, "release");
  return metal;
}

} // namespace temper::machine
