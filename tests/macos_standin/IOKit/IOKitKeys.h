// Stand-in: see README.md.
#pragma once

#define kIOServicePlane "IOService"
