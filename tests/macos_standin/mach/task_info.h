// Stand-in: see README.md. The structure up to the ledgers' first field; the
// true one goes on, and its counts are made from its whole size.
#pragma once

#include "mach/mach_types.h"

typedef natural_t task_flavor_t;
typedef integer_t* task_info_t;

#define TASK_VM_INFO 22

#pragma pack(push, 4)
struct task_vm_info {
  mach_vm_size_t virtual_size;
  integer_t region_count;
  integer_t page_size;
  mach_vm_size_t resident_size;
  mach_vm_size_t resident_size_peak;
  mach_vm_size_t device;
  mach_vm_size_t device_peak;
  mach_vm_size_t internal;
  mach_vm_size_t internal_peak;
  mach_vm_size_t external;
  mach_vm_size_t external_peak;
  mach_vm_size_t reusable;
  mach_vm_size_t reusable_peak;
  mach_vm_size_t purgeable_volatile_pmap;
  mach_vm_size_t purgeable_volatile_resident;
  mach_vm_size_t purgeable_volatile_virtual;
  mach_vm_size_t compressed;
  mach_vm_size_t compressed_peak;
  mach_vm_size_t compressed_lifetime;
  mach_vm_size_t phys_footprint;
  mach_vm_address_t min_address;
  mach_vm_address_t max_address;
  int64_t ledger_phys_footprint_peak;
};
#pragma pack(pop)
typedef struct task_vm_info task_vm_info_data_t;

#define TASK_VM_INFO_COUNT \
  ((mach_msg_type_number_t)(sizeof(task_vm_info_data_t) / sizeof(natural_t)))
