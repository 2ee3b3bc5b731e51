#include "temper/machine/awake.h"

namespace temper::machine {

KeepAwake::KeepAwake(const std::string&) {}
KeepAwake::~KeepAwake() = default;

} // namespace temper::machine
