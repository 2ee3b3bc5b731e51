# ccache where there is one: a tree that is built again, or in another folder,
# takes what was compiled before. Precompiled headers need what is set here.
find_program(TEMPER_CCACHE ccache)
if(TEMPER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${TEMPER_CCACHE})
  if(TEMPER_PCH)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
  endif()
endif()
