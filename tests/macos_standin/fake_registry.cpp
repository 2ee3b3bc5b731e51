#include "fake_registry.h"

#include <CoreFoundation/CoreFoundation.h>
#include <IOKit/IOKitLib.h>
#include <objc/objc.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

enum Kind : CFTypeID { kData, kDictionary, kNumber, kString };

struct Object {
  Kind kind;
  int references = 1;
  std::string text;
  std::int64_t number = 0;
  std::vector<std::pair<Object*, Object*>> items;
};

int objects = 0;
int devices = 0;
bool unplugged_gpus = false;
std::map<io_object_t, std::string> handles;
std::map<io_object_t, std::vector<std::string>> iterators;
io_object_t last_handle = 1000;
Object* pooled = nullptr; // what the autorelease pool holds

Object* made(Kind kind, std::string text, std::int64_t number = 0) {
  objects++;
  return new Object{kind, 1, std::move(text), number, {}};
}

Object* dictionary(const std::map<std::string, std::int64_t>& numbers) {
  Object* result = made(kDictionary, "");
  for (const auto& [key, value] : numbers) {
    result->items.emplace_back(made(kString, key), made(kNumber, "", value));
  }
  result->items.emplace_back(made(kString, "vendor"), made(kString, "text"));
  return result;
}

Object* object(CFTypeRef reference) {
  return static_cast<Object*>(const_cast<void*>(reference));
}

template <class Reference>
Reference reference(Object* object) {
  return reinterpret_cast<Reference>(object);
}

io_object_t handle(const std::string& name) {
  handles[++last_handle] = name;
  return last_handle;
}

const std::string& name_of(io_object_t object) {
  const auto found = handles.find(object);
  if (found == handles.end()) throw std::logic_error("use after release");
  return found->second;
}

Object* property(const std::string& entry, const std::string& key) {
  const bool gpu = entry == "apple gpu" || entry == "amd gpu";
  if (key == "PerformanceStatistics" && gpu && !unplugged_gpus) {
    return dictionary({{"Device Utilization %", 40}, {"recoveryCount", 1}});
  }
  if (entry == "apple gpu" && key == "model") return made(kString, "Apple M1");
  if (entry == "apple gpu" && key == "gpu-core-count") {
    return made(kNumber, "", 7);
  }
  if (entry == "pci of amd gpu" && key == "model") {
    return made(kData, std::string("AMD Radeon Pro 5500M\0\0", 22));
  }
  if (entry == "pci of amd gpu" && key == "VRAM,totalMB") {
    return made(kNumber, "", 8176);
  }
  if (key == "Statistics" && (entry == "disk0" || entry == "disk1")) {
    return dictionary({{"Bytes (Read)", 1000}, {"Bytes (Write)", 300}});
  }
  return nullptr;
}

} // namespace

namespace temper::fake {

int live_objects() {
  return objects;
}
int live_handles() {
  return static_cast<int>(handles.size());
}
int live_devices() {
  return devices;
}
void unplug_gpus(bool unplugged) {
  unplugged_gpus = unplugged;
}

} // namespace temper::fake

extern "C" {

const CFAllocatorRef kCFAllocatorDefault = nullptr;

void CFRelease(CFTypeRef released) {
  Object* const gone = object(released);
  if (--gone->references > 0) return;
  for (const auto& [key, value] : gone->items) {
    CFRelease(key);
    CFRelease(value);
  }
  objects--;
  delete gone;
}
CFTypeID CFGetTypeID(CFTypeRef asked) {
  return object(asked)->kind;
}
CFTypeID CFDataGetTypeID(void) {
  return kData;
}
CFTypeID CFDictionaryGetTypeID(void) {
  return kDictionary;
}
CFTypeID CFNumberGetTypeID(void) {
  return kNumber;
}
CFTypeID CFStringGetTypeID(void) {
  return kString;
}
const UInt8* CFDataGetBytePtr(CFDataRef data) {
  return reinterpret_cast<const UInt8*>(object(data)->text.data());
}
CFIndex CFDataGetLength(CFDataRef data) {
  return static_cast<CFIndex>(object(data)->text.size());
}
CFIndex CFDictionaryGetCount(CFDictionaryRef asked) {
  return static_cast<CFIndex>(object(asked)->items.size());
}
const void* CFDictionaryGetValue(CFDictionaryRef asked, const void* key) {
  for (const auto& [name, value] : object(asked)->items) {
    if (name->text == object(key)->text) return value;
  }
  return nullptr;
}
void CFDictionaryGetKeysAndValues(
    CFDictionaryRef asked,
    const void** keys,
    const void** values) {
  for (const auto& [key, value] : object(asked)->items) {
    *keys++ = key;
    *values++ = value;
  }
}
Boolean CFNumberGetValue(CFNumberRef number, CFNumberType, void* value) {
  std::memcpy(value, &object(number)->number, sizeof(std::int64_t));
  return 1;
}
CFStringRef __CFStringMakeConstantString(const char* text) {
  static std::map<std::string, Object> constants; // never released
  const auto [found, added] = constants.try_emplace(text);
  if (added) found->second = Object{kString, 1, text, 0, {}};
  return reference<CFStringRef>(&found->second);
}
CFStringRef
CFStringCreateWithCString(CFAllocatorRef, const char* text, CFStringEncoding) {
  return reference<CFStringRef>(made(kString, text));
}
Boolean CFStringGetCString(
    CFStringRef string,
    char* buffer,
    CFIndex size,
    CFStringEncoding) {
  const std::string& text = object(string)->text;
  if (static_cast<CFIndex>(text.size()) >= size) return 0;
  std::memcpy(buffer, text.c_str(), text.size() + 1);
  return 1;
}

CFMutableDictionaryRef IOServiceMatching(const char* name) {
  return reference<CFMutableDictionaryRef>(made(kDictionary, name));
}
kern_return_t IOServiceGetMatchingServices(
    mach_port_t,
    CFDictionaryRef matching,
    io_iterator_t* existing) {
  const std::string name = object(matching)->text;
  CFRelease(matching);
  *existing = handle("iterator");
  if (name == "IOAccelerator") {
    iterators[*existing] = {"apple gpu", "amd gpu"};
  } else if (name == "IOBlockStorageDriver") {
    iterators[*existing] = {"disk0", "disk1", "empty drive"};
  }
  return KERN_SUCCESS;
}
io_object_t IOIteratorNext(io_iterator_t iterator) {
  name_of(iterator);
  std::vector<std::string>& left = iterators[iterator];
  if (left.empty()) return 0;
  const std::string next = left.front();
  left.erase(left.begin());
  return handle(next);
}
kern_return_t IOObjectRelease(io_object_t released) {
  name_of(released);
  handles.erase(released);
  return KERN_SUCCESS;
}
kern_return_t IOObjectGetClass(io_object_t asked, io_name_t class_name) {
  const bool apple = name_of(asked) == "apple gpu";
  std::strcpy(class_name, apple ? "AGXAcceleratorG13G" : "AMDRadeonX6000");
  return KERN_SUCCESS;
}
CFTypeRef IORegistryEntryCreateCFProperty(
    io_registry_entry_t entry,
    CFStringRef key,
    CFAllocatorRef,
    IOOptionBits) {
  return property(name_of(entry), object(key)->text);
}
kern_return_t IORegistryEntryGetParentEntry(
    io_registry_entry_t entry,
    const io_name_t,
    io_registry_entry_t* parent) {
  *parent = handle("pci of " + name_of(entry));
  return KERN_SUCCESS;
}

id MTLCreateSystemDefaultDevice(void) {
  static objc_object device = {};
  devices++;
  return &device;
}
void* objc_autoreleasePoolPush(void) {
  return &pooled;
}
void objc_autoreleasePoolPop(void*) {
  if (pooled != nullptr) CFRelease(pooled);
  pooled = nullptr;
}
SEL sel_registerName(const char* name) {
  return reinterpret_cast<SEL>(const_cast<char*>(name));
}

// One entry point for messages of every type, as the true one is: integers
// and pointers come back in the same register. objc/message.h, which declares
// it without types, is not included here.
std::uintptr_t objc_msgSend(id, SEL selector) {
  const std::string message = reinterpret_cast<const char*>(selector);
  if (message == "name") {
    pooled = made(kString, "Apple M1");
    return reinterpret_cast<std::uintptr_t>(pooled);
  }
  if (message == "release") devices--;
  return message == "recommendedMaxWorkingSetSize" ? 5726633984u : 0;
}

} // extern "C"
