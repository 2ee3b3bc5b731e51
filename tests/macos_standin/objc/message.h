// Stand-in: see README.md. Declared without arguments on purpose: callers
// cast it to the method's type.
#pragma once

#include "objc/objc.h"

extern "C" void objc_msgSend(void);
