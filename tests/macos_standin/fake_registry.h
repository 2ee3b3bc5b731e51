// A made-up I/O registry and Metal device behind the stand-in declarations,
// counting every reference, so that the true calls of mac_registry_macos.cpp
// and mac_metal_macos.cpp can be run and checked for leaks.
//
// It has an Apple GPU, an AMD one on a PCI device, and three drives, one of
// them without statistics.
#pragma once

namespace temper::fake {

int live_objects(); // Core Foundation objects not yet released
int live_handles(); // IOKit objects not yet released
int live_devices(); // Metal devices not yet released

// The GPUs seem to be unplugged: their statistics are gone.
void unplug_gpus(bool unplugged);

} // namespace temper::fake
