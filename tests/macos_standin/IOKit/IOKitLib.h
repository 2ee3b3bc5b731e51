// Stand-in: see README.md.
#pragma once

#include <stdint.h>

#include "CoreFoundation/CoreFoundation.h"
#include "mach/mach_types.h"

typedef mach_port_t io_object_t;
typedef io_object_t io_iterator_t;
typedef io_object_t io_registry_entry_t;
typedef io_object_t io_service_t;
typedef char io_name_t[128];
typedef uint32_t IOOptionBits;

extern "C" {
// The caller owns the dictionary, until a matching call consumes it.
CFMutableDictionaryRef IOServiceMatching(const char* name);
kern_return_t IOServiceGetMatchingServices(
    mach_port_t main_port,
    CFDictionaryRef matching,
    io_iterator_t* existing);
io_object_t IOIteratorNext(io_iterator_t iterator);
kern_return_t IOObjectRelease(io_object_t object);
kern_return_t IOObjectGetClass(io_object_t object, io_name_t class_name);
CFTypeRef IORegistryEntryCreateCFProperty(
    io_registry_entry_t entry,
    CFStringRef key,
    CFAllocatorRef allocator,
    IOOptionBits options);
kern_return_t IORegistryEntryGetParentEntry(
    io_registry_entry_t entry,
    const io_name_t plane,
    io_registry_entry_t* parent);
}
