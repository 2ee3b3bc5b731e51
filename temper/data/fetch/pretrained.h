// Trained weights that temper knows by name, model.weights = "imagenet": where
// torchvision's files come from, and where they are on this machine. Fetched as
// datasets are: going on where a transfer broke off, with their sums checked.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "temper/data/fetch/catalogue.h"

namespace temper::data {

// Entries are called "resnet18-imagenet": a model of the zoo and the weights.
const std::vector<CatalogueEntry>& pretrained_catalogue();

// "imagenet", "imagenet-v2": what model.weights takes beside files.
bool is_pretrained_name(const std::string& weights);

// Error, with what there is, when there are no such weights for the model.
const CatalogueEntry& pretrained_entry(
    const std::string& model,
    const std::string& weights);

// The file where it is on this machine already, whole: where downloads go, or
// where PyTorch keeps its own.
std::optional<std::filesystem::path> find_pretrained(
    const CatalogueEntry& entry,
    const Environment& environment);

// The same, fetched when it is not there. Error when it cannot be had, with
// where to put it by hand.
std::filesystem::path get_pretrained(
    const CatalogueEntry& entry,
    const Environment& environment,
    const DownloadOptions& options,
    const std::function<void(const GetProgress&)>& progress);

} // namespace temper::data
