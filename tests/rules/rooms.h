// The rooms of temper/, their corners, and who may include whom: the one table.
// ARCHITECTURE.md shows the rooms, each room's README.md its corners; tests
// hold them against this.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace temper::rules {

using Names = std::set<std::string>;

// A sub-folder of a room.
struct Corner {
  std::string name; // ".": the files that lie in the room's own folder
  Names uses; // other corners of the room
};

// A folder below temper/, and a namespace. Every room may include itself.
struct Room {
  std::string name;
  Names uses; // other rooms
  std::vector<Corner> corners; // none: the room is one folder

  const Corner* corner(const std::string& called) const;
};

const std::vector<Room>& rooms();
// Null when there is no such room.
const Room* room_of(const std::string& name);

} // namespace temper::rules
