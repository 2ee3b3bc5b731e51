// Which of a tracker's runs a run directory is. A run has an id of its own, in
// the journal's first event, and is made under it: moved, restored or found on
// another machine, it is found again. Of two directories with one id that
// deliver to one place, the one that the tracker does not have there becomes a
// run of its own: a copy. Used by journal_delivery.cpp and the trackers.
//
// The tracker has the tag temper.place, "host:directory", of whoever delivered
// last. A run is somebody else's when that directory
// - is another on this host, has this id and delivers to the same place, or
// - is on another host, and points came from there that are not known here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "temper/journal/event.h"
#include "temper/journal/run_directory.h"
#include "temper/track/follow/translate.h"
#include "temper/track/tracker.h"

namespace temper::track {

constexpr const char* kPlaceTag = "temper.place";

// 32 hexadecimal digits. Runs of before they had ids are told by their first
// event.
std::string identity_of(
    const journal::Event& run,
    const journal::RunDirectory& directory);

// "host:/absolute/directory".
std::string place_of(const std::filesystem::path& directory);

// Keys, each with what its tracker remembered, under which a run may be known
// that has not been delivered to a place of this name: where it was delivered
// to before the place moved, and its own id.
std::vector<std::pair<std::string, std::string>> known_names(
    const journal::RunDirectory& directory,
    const std::string& id);

// The directory that the tracker's run is, if not this one; else empty.
std::string other_place_of(
    const StoredRun& stored,
    const RunFacts& facts,
    const Marks& marks,
    const std::string& where,
    const journal::RunDirectory& directory);

// Removes what is remembered of places that are gone and had this run of the
// tracker's: they are where the place was before it moved.
void forget_moved_places(
    const journal::RunDirectory& directory,
    const std::string& run_id);

// Makes the name and tags of a run say that it is a copy.
void call_a_copy(RunFacts& facts, const std::string& original);

} // namespace temper::track
