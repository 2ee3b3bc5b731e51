// Stand-in: see README.md. Adds to Linux's own.
#pragma once

#include <stdint.h>

#include_next <pthread.h>

#include "mach/mach_types.h"

extern "C" {
pthread_t pthread_from_mach_thread_np(mach_port_t thread);
int pthread_threadid_np(pthread_t thread, uint64_t* id);
}
