// Stand-in: see README.md. The constants are sys/proc_info.h's.
#pragma once

#include <stdint.h>

#define PROC_PIDLISTFDS 1

struct proc_fdinfo {
  int32_t proc_fd;
  uint32_t proc_fdtype;
};

extern "C" int
proc_pidinfo(int pid, int flavor, uint64_t arg, void* buffer, int buffersize);
