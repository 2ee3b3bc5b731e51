#!/bin/sh
# Prints how many tests the last `ctest` of a build directory skipped, and why:
# one line a reason. ctest itself does not see the tests inside a program.
#
#   scripts/skipped_tests.sh build/release
log=$1/Testing/Temporary/LastTest.log
[ -f "$log" ] || exit 0
awk '
  /: Skipped$/ { reading = 1; reason = ""; next }
  /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ {
    if (reason == "") reason = "no reason given"
    if (!(reason in count)) order[++reasons] = reason
    ++count[reason]
    ++all
    reading = 0
    next
  }
  reading && NF { reason = reason (reason == "" ? "" : " ") $0 }
  END {
    if (!all) exit
    printf "%d %s skipped:\n", all, all == 1 ? "test was" : "tests were"
    for (i = 1; i <= reasons; ++i)
      printf "%6d  %s\n", count[order[i]], order[i]
  }' "$log"
