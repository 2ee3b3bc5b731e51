// Stand-in: see README.md. Advice that only macOS's madvise takes.
#pragma once

#include_next <sys/mman.h>

#define MADV_FREE_REUSABLE 7
