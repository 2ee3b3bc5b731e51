// Stand-in: see README.md.
#pragma once

#include "objc/objc.h"

extern "C" SEL sel_registerName(const char* name);
