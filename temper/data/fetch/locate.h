// Where the files of a named dataset are. Looked at in this order: the given
// path, $TEMPER_DATA, the cache directory, the folder of a system package; in
// each, the folder itself and the sub-folders that downloads unpack to.
// `temper data get` puts what it fetches into the cache directory.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "temper/base/environment.h"

namespace temper::data {

// $TEMPER_CACHE_DIR, $XDG_CACHE_HOME/temper, or the system's usual place below
// $HOME; empty when none of them is set.
std::filesystem::path cache_directory(const Environment& environment);

// The folders that are looked at for a dataset, in order.
std::vector<std::filesystem::path> candidate_directories(
    const std::string& dataset,
    const std::filesystem::path& given,
    const Environment& environment);

// The first of them that holds the dataset. Error, with where it was looked
// for, when none does, and when all there is is a form that cannot be read.
std::filesystem::path locate(
    const std::string& dataset,
    const std::filesystem::path& given,
    const Environment& environment);

// Whether locate() would find it.
bool is_there(const std::string& dataset, const Environment& environment);

// Datasets whose files, or those of the version for Python, lie in a folder
// itself: "mnist" and "fashion-mnist" look alike.
std::vector<std::string> datasets_in(const std::filesystem::path& folder);

// The user's cache folder below $HOME: ".cache" or "Library/Caches".
const char* home_cache_folder();

} // namespace temper::data
