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

extern "C" int sysctlbyname(
    const char* name,
    void* old_value,
    size_t* old_size,
    void* new_value,
    size_t new_size);
