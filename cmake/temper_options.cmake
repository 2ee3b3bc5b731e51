# What every target of ours is compiled with: warnings, sanitizers, includes.
# Torch's headers are system headers and are not warned about.
add_library(temper_options INTERFACE)
target_compile_options(temper_options INTERFACE
  -Wall -Wextra -Wpedantic -Wnon-virtual-dtor -Wcast-qual
  -Wunused -Woverloaded-virtual -Wdouble-promotion
  -ffp-contract=off # a fused multiply-add where none is written changes bits
  $<$<BOOL:${TEMPER_WERROR}>:-Werror>)
if(TEMPER_UNITY) # a local name may be a private one of the next file
  target_compile_options(temper_options INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
else()
  target_compile_options(temper_options INTERFACE -Wshadow)
endif()
if(TEMPER_SANITIZE)
  target_compile_options(temper_options INTERFACE
    -fsanitize=${TEMPER_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(temper_options INTERFACE -fsanitize=${TEMPER_SANITIZE})
endif()
if(TEMPER_FUZZ) # coverage, which libFuzzer follows
  target_compile_options(temper_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(temper_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
