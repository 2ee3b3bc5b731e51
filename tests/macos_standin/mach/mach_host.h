// Stand-in: see README.md.
#pragma once

#include "mach/mach_types.h"
#include "mach/processor_info.h"
#include "mach/vm_statistics.h"

typedef integer_t host_flavor_t;
typedef integer_t* host_info64_t;

#define HOST_VM_INFO64 4
#define HOST_VM_INFO64_COUNT \
  ((mach_msg_type_number_t)(sizeof(vm_statistics64_data_t) / sizeof(integer_t)))

extern "C" {
kern_return_t host_statistics64(
    host_t host_priv,
    host_flavor_t flavor,
    host_info64_t host_info64_out,
    mach_msg_type_number_t* host_info64_out_count);
kern_return_t host_processor_info(
    host_t host,
    processor_flavor_t flavor,
    natural_t* out_processor_count,
    processor_info_array_t* out_processor_info,
    mach_msg_type_number_t* out_processor_info_count);
}
