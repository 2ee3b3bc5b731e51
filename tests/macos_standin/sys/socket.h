// Stand-in: see README.md. Linux's header and macOS's link-layer addresses.
#pragma once

#include_next <sys/socket.h>

#define AF_LINK 18
