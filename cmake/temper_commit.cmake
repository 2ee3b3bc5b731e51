# Writes <build>/generated/temper_commit.h with the commit the tree is at. It
# runs at every build, and touches the file only when the commit changed.
set(TEMPER_COMMIT_HEADER ${CMAKE_BINARY_DIR}/generated/temper_commit.h)
add_custom_target(temper_commit
  BYPRODUCTS ${TEMPER_COMMIT_HEADER}
  COMMAND ${CMAKE_COMMAND} -DHEADER=${TEMPER_COMMIT_HEADER}
    -DSOURCE=${CMAKE_SOURCE_DIR} -P ${CMAKE_CURRENT_LIST_DIR}/write_commit.cmake
  VERBATIM)
