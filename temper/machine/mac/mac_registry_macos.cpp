// Core Foundation's rule: what a Create or Copy function returns is ours to
// release, what a Get function returns is not. IOKit's rule: every object an
// iterator or a parent lookup hands out is ours. Owned and Object keep both.
#include "temper/machine/mac/mac_registry.h"

#include <CoreFoundation/CoreFoundation.h>
#include <IOKit/IOKitKeys.h>
#include <IOKit/IOKitLib.h>
#include <IOKit/storage/IOBlockStorageDriver.h>

#include <string>
#include <utility>

namespace temper::machine {
namespace {

// 0 is documented as the default port; its named constant changed its name
// with macOS 12.
constexpr mach_port_t kDefaultPort = 0;

class Owned {
 public:
  explicit Owned(CFTypeRef ref) : ref_(ref) {}
  ~Owned() {
    if (ref_ != nullptr) CFRelease(ref_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;

  CFTypeRef get() const {
    return ref_;
  }

 private:
  CFTypeRef ref_;
};

class Object {
 public:
  explicit Object(io_object_t object) : object_(object) {}
  Object(Object&& other) noexcept : object_(std::exchange(other.object_, 0)) {}
  Object& operator=(Object&&) = delete;
  ~Object() {
    if (object_ != 0) IOObjectRelease(object_);
  }

  io_object_t get() const {
    return object_;
  }
  io_object_t release() {
    return std::exchange(object_, 0);
  }

 private:
  io_object_t object_;
};

std::optional<std::int64_t> as_number(CFTypeRef value) {
  if (value == nullptr || CFGetTypeID(value) != CFNumberGetTypeID()) {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const bool exact = CFNumberGetValue(
      static_cast<CFNumberRef>(value), kCFNumberSInt64Type, &number);
  if (!exact) return std::nullopt;
  return number;
}

std::string as_text(CFTypeRef value) {
  if (value == nullptr) return "";
  if (CFGetTypeID(value) == CFStringGetTypeID()) {
    char buffer[256];
    const bool fits = CFStringGetCString(
        static_cast<CFStringRef>(value),
        buffer,
        sizeof buffer,
        kCFStringEncodingUTF8);
    return fits ? buffer : "";
  }
  // PCI devices keep text as bytes that end with a zero.
  if (CFGetTypeID(value) == CFDataGetTypeID()) {
    const auto data = static_cast<CFDataRef>(value);
    const std::string bytes(
        reinterpret_cast<const char*>(CFDataGetBytePtr(data)),
        static_cast<std::size_t>(CFDataGetLength(data)));
    return bytes.substr(0, bytes.find('\0'));
  }
  return "";
}

Owned property(io_registry_entry_t entry, CFStringRef key) {
  return Owned(
      IORegistryEntryCreateCFProperty(entry, key, kCFAllocatorDefault, 0));
}

std::vector<Object> services(const char* class_name) {
  std::vector<Object> found;
  // The call consumes the dictionary, failing or not.
  io_iterator_t iterator = 0;
  const kern_return_t result = IOServiceGetMatchingServices(
      kDefaultPort, IOServiceMatching(class_name), &iterator);
  if (result != KERN_SUCCESS) return found;
  const Object owned(iterator);
  while (const io_object_t object = IOIteratorNext(iterator)) {
    found.emplace_back(object);
  }
  return found;
}

Object parent_of(io_registry_entry_t entry) {
  io_registry_entry_t parent = 0;
  const kern_return_t result =
      IORegistryEntryGetParentEntry(entry, kIOServicePlane, &parent);
  return Object(result == KERN_SUCCESS ? parent : 0);
}

// A discrete GPU's name and memory are properties of the PCI device it is on:
// the direct parent. Further up "model" is the Mac's.
MacAccelerator describe(io_service_t service) {
  MacAccelerator accelerator;
  io_name_t class_name = {};
  if (IOObjectGetClass(service, class_name) == KERN_SUCCESS) {
    accelerator.class_name = class_name;
  }
  accelerator.model = as_text(property(service, CFSTR("model")).get());
  accelerator.cores =
      as_number(property(service, CFSTR("gpu-core-count")).get());
  accelerator.vram_mb =
      as_number(property(service, CFSTR("VRAM,totalMB")).get());
  const Object parent = parent_of(service);
  if (parent.get() == 0) return accelerator;
  if (accelerator.model.empty()) {
    accelerator.model = as_text(property(parent.get(), CFSTR("model")).get());
  }
  if (!accelerator.vram_mb) {
    accelerator.vram_mb =
        as_number(property(parent.get(), CFSTR("VRAM,totalMB")).get());
  }
  return accelerator;
}

std::map<std::string, std::int64_t> flatten(CFDictionaryRef dictionary) {
  const auto count = static_cast<std::size_t>(CFDictionaryGetCount(dictionary));
  std::vector<const void*> keys(count);
  std::vector<const void*> values(count);
  CFDictionaryGetKeysAndValues(dictionary, keys.data(), values.data());
  std::map<std::string, std::int64_t> flat;
  for (std::size_t i = 0; i < count; i++) {
    if (const auto number = as_number(values[i])) {
      flat[as_text(keys[i])] = *number;
    }
  }
  return flat;
}

bool is_dictionary(const Owned& value) {
  return value.get() != nullptr &&
      CFGetTypeID(value.get()) == CFDictionaryGetTypeID();
}

} // namespace

MacRegistry::~MacRegistry() {
  forget_accelerators();
}

void MacRegistry::find_accelerators() {
  for (Object& service : services("IOAccelerator")) {
    MacAccelerator fixed = describe(service.get());
    entries_.push_back({service.release(), std::move(fixed)});
  }
}

void MacRegistry::forget_accelerators() {
  for (const Entry& entry : entries_) {
    IOObjectRelease(entry.service);
  }
  entries_.clear();
}

std::vector<MacAccelerator> MacRegistry::accelerators() {
  if (entries_.empty()) find_accelerators();
  std::vector<MacAccelerator> accelerators;
  bool gone = false;
  for (const Entry& entry : entries_) {
    const Owned statistics =
        property(entry.service, CFSTR("PerformanceStatistics"));
    accelerators.push_back(entry.fixed);
    if (is_dictionary(statistics)) {
      accelerators.back().statistics =
          flatten(static_cast<CFDictionaryRef>(statistics.get()));
    } else {
      gone = true; // an external GPU unplugged, or a driver without any
    }
  }
  if (gone) forget_accelerators(); // the next read looks again
  return accelerators;
}

// Drives come and go, so they are looked up at each read.
std::optional<MacDiskBytes> MacRegistry::disk_bytes() {
  std::optional<MacDiskBytes> sum;
  for (const Object& driver : services(kIOBlockStorageDriverClass)) {
    const Owned statistics =
        property(driver.get(), CFSTR(kIOBlockStorageDriverStatisticsKey));
    if (!is_dictionary(statistics)) continue;
    const auto dictionary = static_cast<CFDictionaryRef>(statistics.get());
    const auto read = as_number(CFDictionaryGetValue(
        dictionary, CFSTR(kIOBlockStorageDriverStatisticsBytesReadKey)));
    const auto written = as_number(CFDictionaryGetValue(
        dictionary, CFSTR(kIOBlockStorageDriverStatisticsBytesWrittenKey)));
    if (!read || !written) continue;
    if (!sum) sum.emplace();
    sum->read += static_cast<std::uint64_t>(*read);
    sum->written += static_cast<std::uint64_t>(*written);
  }
  return sum;
}

} // namespace temper::machine
