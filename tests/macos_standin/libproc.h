// Stand-in: see README.md. The constants are sys/proc_info.h's.
#pragma once

#include <stdint.h>

#define PROC_PIDLISTFDS 1

struct proc_fdinfo {
  int32_t proc_fd;
  uint32_t proc_fdtype;
};

// A part of sys/resource.h, which libproc.h includes there; the fields in use.
#define RUSAGE_INFO_V2 2
typedef void* rusage_info_t;
struct rusage_info_v2 {
  uint64_t ri_resident_size;
  uint64_t ri_phys_footprint;
};

extern "C" int proc_pid_rusage(int pid, int flavor, rusage_info_t* buffer);
extern "C" int
proc_pidinfo(int pid, int flavor, uint64_t arg, void* buffer, int buffersize);
