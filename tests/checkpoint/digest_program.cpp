// Prints the SHA-256 of the state of each run: RUN...
#include <cstdio>

#include "digest.h"

int main(int count, char** runs) {
  for (int i = 1; i < count; ++i)
    std::printf(
        "%s  %s\n",
        temper::tests::digest_of(std::filesystem::path(runs[i]) / "checkpoints")
            .c_str(),
        runs[i]);
}
