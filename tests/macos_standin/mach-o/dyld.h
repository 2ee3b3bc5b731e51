// Stand-in: see ../README.md.
#pragma once

#include <cstdint>

extern "C" {
std::uint32_t _dyld_image_count(void);
int _NSGetExecutablePath(char* buf, std::uint32_t* bufsize);
const char* _dyld_get_image_name(std::uint32_t image_index);
}
