// Stand-in: see README.md. The states are mach/machine.h's.
#pragma once

#include "mach/mach_types.h"

typedef integer_t* processor_info_array_t;
typedef int processor_flavor_t;

#define PROCESSOR_CPU_LOAD_INFO 2

#define CPU_STATE_MAX 4
#define CPU_STATE_USER 0
#define CPU_STATE_SYSTEM 1
#define CPU_STATE_IDLE 2
#define CPU_STATE_NICE 3

struct processor_cpu_load_info {
  unsigned int cpu_ticks[CPU_STATE_MAX];
};
typedef struct processor_cpu_load_info* processor_cpu_load_info_t;
