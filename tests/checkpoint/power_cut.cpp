#include "power_cut.h"

#include <fstream>
#include <sstream>
#include <stdexcept>

namespace temper::tests {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream in(line);
  for (std::string word; std::getline(in, word, '\t');)
    words.push_back(word);
  return words;
}

bool coin(std::mt19937& random) {
  return (random() & 1) != 0;
}

void overwrite(std::string& data, std::uint64_t offset, std::string_view with) {
  if (data.size() < offset + with.size())
    data.resize(offset + with.size(), '\0');
  data.replace(offset, with.size(), with);
}

} // namespace

std::vector<DiskCall> read_calls(const fs::path& log) {
  std::vector<DiskCall> calls;
  std::ifstream in(log, std::ios::binary);
  for (std::string line; std::getline(in, line);) {
    const auto words = fields_of(line);
    DiskCall call;
    call.what = words.at(0);
    call.path = words.at(1);
    if (call.what == "rename") call.other = words.at(2);
    if (call.what == "write") {
      call.offset = std::stoull(words.at(2));
      call.data.resize(std::stoull(words.at(3)));
      in.read(call.data.data(), static_cast<std::streamsize>(call.data.size()));
    }
    calls.push_back(std::move(call));
  }
  return calls;
}

Disk::Disk(std::string root)
    : root_(std::move(root)), top_(std::make_shared<Node>()) {
  top_->folder = true;
}

std::shared_ptr<Disk::Node> Disk::find(const std::string& path) const {
  auto node = top_;
  std::istringstream in(path.substr(root_.size()));
  for (std::string name; node && std::getline(in, name, '/');) {
    if (name.empty()) continue;
    const auto found = node->entries.find(name);
    node = found == node->entries.end() ? nullptr : found->second;
  }
  return node;
}

std::pair<Disk::Node*, std::string> Disk::place_of(
    const std::string& path) const {
  const auto slash = path.rfind('/');
  const auto folder = find(path.substr(0, slash));
  if (!folder) throw std::runtime_error("no folder for " + path);
  return {folder.get(), path.substr(slash + 1)};
}

void Disk::run(const DiskCall& call) {
  if (call.what == "look" || call.what == "mark") return;
  if (call.what == "sync") {
    const auto node = find(call.path);
    if (!node) return;
    node->synced_data = node->data;
    node->writes.clear();
    node->synced_entries = node->entries;
    node->changes.clear();
  } else if (call.what == "write") {
    const auto node = find(call.path);
    overwrite(node->data, call.offset, call.data);
    node->writes.push_back({call.offset, call.data});
  } else if (call.what == "create" || call.what == "mkdir") {
    if (call.path.size() <= root_.size() || find(call.path)) return;
    const auto [folder, name] = place_of(call.path);
    auto node = std::make_shared<Node>();
    node->folder = call.what == "mkdir";
    folder->entries[name] = node;
    folder->changes.push_back({name, "", node});
  } else if (call.what == "remove") {
    const auto [folder, name] = place_of(call.path);
    folder->entries.erase(name);
    folder->changes.push_back({name, "", nullptr});
  } else if (call.what == "rename") {
    const auto [folder, name] = place_of(call.path);
    const auto [other, new_name] = place_of(call.other);
    if (folder != other) throw std::runtime_error("a move between folders");
    const auto node = folder->entries.at(name);
    folder->entries.erase(name);
    folder->entries[new_name] = node;
    folder->changes.push_back({name, new_name, node});
  } else {
    throw std::runtime_error("an unknown call " + call.what);
  }
}

void Disk::lay_down(
    const Node& node,
    std::mt19937& random,
    const fs::path& target) {
  if (!node.folder) {
    std::string data = node.synced_data;
    for (const Write& write : node.writes) {
      if (coin(random)) continue;
      const std::size_t whole = write.data.size();
      const std::size_t kept = coin(random) ? whole : random() % (whole + 1);
      overwrite(
          data, write.offset, std::string_view(write.data).substr(0, kept));
    }
    std::ofstream(target, std::ios::binary)
        .write(data.data(), static_cast<std::streamsize>(data.size()));
    return;
  }
  Entries entries = node.synced_entries;
  for (const Change& change : node.changes) {
    if (coin(random)) continue;
    if (!change.node) {
      entries.erase(change.name);
    } else if (change.new_name.empty()) {
      entries[change.name] = change.node;
    } else {
      // A rename is one thing: never the old name gone without the new one.
      entries.erase(change.name);
      entries[change.new_name] = change.node;
    }
  }
  fs::create_directories(target);
  for (const auto& [name, child] : entries)
    lay_down(*child, random, target / name);
}

void Disk::cut(std::mt19937& random, const fs::path& target) const {
  lay_down(*top_, random, target);
}

} // namespace temper::tests
