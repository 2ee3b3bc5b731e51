// Prints what temper sees of this machine, through installed headers only.
#include <iostream>

#include "temper/base/text.h"
#include "temper/machine/probe.h"

int main() {
  const auto machine = temper::machine::probe();
  const auto& torch = machine.libtorch;
  std::cout << "consumer: " << machine.platform.version << ", "
            << temper::plural(machine.cpu.logical, "core") << ", "
            << temper::bytes_text(machine.memory.physical_bytes)
            << ", LibTorch " << (torch.present ? torch.version : "absent")
            << "\n";
}
