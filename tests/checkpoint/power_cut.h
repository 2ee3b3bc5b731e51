// The remains of a folder after a power cut: from the system calls that
// crash_shim.cpp recorded, the folder as a disk may hold it. What was synced is
// there. Of what was not, any subset is: a write may be missing or torn, a name
// may be missing, still the old one, or lead to an empty file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace temper::tests {

struct DiskCall {
  std::string what; // create, write, sync, rename, mkdir, remove, look, mark
  std::string path;
  std::string other; // of rename: its new name
  std::uint64_t offset = 0;
  std::string data;
};

std::vector<DiskCall> read_calls(const std::filesystem::path& log);

// The disk after the first `count` calls. Names are below `root`, which was
// there before.
class Disk {
 public:
  explicit Disk(std::string root);
  void run(const DiskCall& call);
  // One of the folders that a cut may leave, into an empty `target`.
  void cut(std::mt19937& random, const std::filesystem::path& target) const;

 private:
  struct Node;
  using Entries = std::map<std::string, std::shared_ptr<Node>>;
  struct Change { // of a folder's entries, since it was synced
    std::string name;
    std::string new_name; // empty: no rename
    std::shared_ptr<Node> node; // null: removed
  };
  struct Write {
    std::uint64_t offset;
    std::string data;
  };
  struct Node {
    bool folder = false;
    Entries entries, synced_entries;
    std::vector<Change> changes;
    std::string data, synced_data;
    std::vector<Write> writes;
  };

  std::shared_ptr<Node> find(const std::string& path) const;
  std::pair<Node*, std::string> place_of(const std::string& path) const;
  static void lay_down(
      const Node& node,
      std::mt19937& random,
      const std::filesystem::path& target);

  std::string root_;
  std::shared_ptr<Node> top_;
};

} // namespace temper::tests
