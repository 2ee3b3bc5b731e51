# The libraries that read what datasets come in (JPEG, PNG, WebP, gzip, zip,
# downloads), SQLite for tracking, xxHash for checksums, and cairo for pictures.
# Gives the target temper::codecs. Used by the build, and by the installed temperConfig.cmake.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(ZLIB REQUIRED)
find_package(CURL REQUIRED)
find_package(SQLite3 REQUIRED)
# These have no module of CMake's own, and packages that differ by system.
foreach(name IN ITEMS xxhash:xxhash.h webp:webp/decode.h zip:zip.h
    cairo:cairo/cairo.h)
  string(REPLACE ":" ";" name "${name}")
  list(GET name 0 library)
  list(GET name 1 header)
  find_path(TEMPER_${library}_INCLUDE ${header} REQUIRED)
  find_library(TEMPER_${library}_LIBRARY ${library} REQUIRED)
endforeach()

if(NOT TARGET temper::codecs)
  add_library(temper::codecs INTERFACE IMPORTED)
  target_link_libraries(temper::codecs INTERFACE
    JPEG::JPEG PNG::PNG ZLIB::ZLIB CURL::libcurl SQLite::SQLite3
    ${TEMPER_xxhash_LIBRARY} ${TEMPER_webp_LIBRARY} ${TEMPER_zip_LIBRARY}
    ${TEMPER_cairo_LIBRARY})
  target_include_directories(temper::codecs INTERFACE
    ${TEMPER_xxhash_INCLUDE} ${TEMPER_webp_INCLUDE} ${TEMPER_zip_INCLUDE})
endif()
