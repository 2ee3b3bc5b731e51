# Run as a script by ctest: installs the build BUILD, with LibTorch if TORCH is
# on, into a fresh prefix below WORK, then configures, builds and runs the program
# in SOURCE against it. The toolchain, generator, compiler and flags are those of
# the build.
function(step)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
step(${CMAKE_COMMAND} --install ${BUILD} --config ${CONFIG} --prefix ${prefix})

foreach(file bin/temper include/temper/base/text.h)
  if(NOT EXISTS ${prefix}/${file})
    message(FATAL_ERROR "${file} was not installed")
  endif()
endforeach()
if(TORCH) # the command finds its other half, and that its libraries
  step(${prefix}/bin/temper export cnn --to ${WORK}/net.pt)
endif()
if(EXISTS ${prefix}/include/temper/libtorch/precompiled.h)
  message(FATAL_ERROR "the precompiled header is the build's own affair")
endif()

# Nothing of the package may point back into the source or build tree.
file(GLOB_RECURSE package_files ${prefix}/*.cmake)
foreach(file IN LISTS package_files)
  file(READ ${file} text)
  foreach(tree ${TREE} ${BUILD})
    string(REPLACE "${WORK}" "" text "${text}")
    string(FIND "${text}" "${tree}/" where)
    if(NOT where EQUAL -1)
      message(FATAL_ERROR "${file} names ${tree}")
    endif()
  endforeach()
endforeach()

set(cross)
if(TOOLCHAIN)
  set(cross -DCMAKE_TOOLCHAIN_FILE=${TOOLCHAIN} -DTEMPER_SYSROOT=${SYSROOT}
    -DCMAKE_FIND_ROOT_PATH=${prefix})
endif()
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR}
  -DCMAKE_BUILD_TYPE=${CONFIG} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_FLAGS=${FLAGS} -Dtemper_ROOT=${prefix} ${cross})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG})
step(${CMAKE_COMMAND} --build ${WORK}/build --config ${CONFIG} --target run)
if(NOT output MATCHES "consumer: ")
  message(FATAL_ERROR "the consumer did not speak:\n${output}")
endif()
if(TORCH AND NOT output MATCHES "network: [^\n]* by FusedBackward")
  message(FATAL_ERROR "the network did not use the kernels:\n${output}")
endif()
message("${output}")
