// Stand-in: see README.md. Apple's own addition to the system's header.
#pragma once

#include_next <fcntl.h>

enum { F_FULLFSYNC = 51 };
