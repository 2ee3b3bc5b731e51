// Stand-in: see README.md.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "mach/mach_types.h"

struct xsw_usage {
  uint64_t xsu_total;
  uint64_t xsu_avail;
  uint64_t xsu_used;
  uint32_t xsu_pagesize;
  boolean_t xsu_encrypted;
};

#define CTL_KERN 1
#define KERN_PROC 14
#define KERN_PROC_PID 1
#define P_TRACED 0x00000800

// The fields in use.
struct extern_proc {
  int p_flag;
};
struct kinfo_proc {
  struct extern_proc kp_proc;
};

extern "C" int sysctl(
    int* name,
    unsigned int name_length,
    void* old_value,
    size_t* old_size,
    void* new_value,
    size_t new_size);
extern "C" int sysctlbyname(
    const char* name,
    void* old_value,
    size_t* old_size,
    void* new_value,
    size_t new_size);
