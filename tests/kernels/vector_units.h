// Runs a test once for every vector unit that this build has code for and this
// machine has, so that "the same bits everywhere" is tried and not believed.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <functional>

namespace temper::kernels {

inline void on_every_vector_unit(const std::function<void()>& test) {
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    SCOPED_TRACE(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(target);
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

} // namespace temper::kernels
