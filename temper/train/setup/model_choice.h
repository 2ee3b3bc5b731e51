// Which model of the zoo a run trains when nobody names one, with its stem and
// width: the default that suits the data. A pure function, without torch.
#pragma once

#include <string>

#include "temper/config/config.h"
#include "temper/train/setup/run_data.h"

namespace temper::train {

// The model of photographs, for which weights are looked for.
inline constexpr const char* kPhotoModel = "resnet18";

// A model with the options of the zoo that shape it.
struct ModelChoice {
  std::string name;
  std::string stem = {};
  double width = 1;
  bool narrowed = false; // for small images, without being asked
};

// model.name with its stem and width, or what suits the data. A stem or a width
// that was asked for stays, and weights by name are for the whole network.
ModelChoice choose_zoo_model(const config::Config& config, const RunData& data);

} // namespace temper::train
