// Saves checkpoints and says so, for crash_test.cpp: FOLDER COUNT BYTES. Prints
// "saved N" after each, and after one that the disk did not take "failed N",
// then "good M" for the newest that can be loaded. The third is saved twice.
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "known_snapshot.h"
#include "temper/base/error.h"

namespace {

void say(const std::string& word, long long number) {
  const std::string line = word + " " + std::to_string(number) + "\n";
  if (::write(1, line.data(), line.size()) < 0) ::_exit(1);
}

} // namespace

int main(int, char** arguments) {
  using namespace temper;
  const std::string folder = arguments[1];
  const long count = std::stol(arguments[2]);
  const auto bytes = std::stoul(arguments[3]);
  checkpoint::Store store(folder);
  for (long update = 1; update <= count; ++update)
    for (int version = 0; version < (update == 3 ? 2 : 1); ++version) {
      try {
        store.save(tests::known_snapshot(update, version, bytes));
        ::mkdir((folder + ".mark/" + std::to_string(update)).c_str(), 0700);
        say("saved", update);
      } catch (const Error&) {
        say("failed", update);
        const auto latest = store.load_latest();
        say("good", latest ? latest->update : -1);
      }
    }
  return 0;
}
