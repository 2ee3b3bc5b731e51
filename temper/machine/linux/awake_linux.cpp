#include "temper/machine/awake.h"

namespace temper::machine {

KeepAwake::KeepAwake(const std::string&) {}
KeepAwake::~KeepAwake() {} // nothing was asked for

} // namespace temper::machine
