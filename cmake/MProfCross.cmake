# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The build for another processor than that of the computer (preset `arm64`).
# Only the runtime is compiled. It is in lib/mprof/<triple>, where mprof-clang
# --target=<triple> finds it beside the plugin and the tools for this computer,
# which a build of the preset `release` has made. The build tree has links to
# them, so it looks like a prefix into which both builds were installed.

set(MPROF_NATIVE_BUILD "${PROJECT_SOURCE_DIR}/build" CACHE PATH
  "Build tree with the plugin and the tools for this computer")
set(MPROF_RT_SUBDIR "/mprof/${CMAKE_C_COMPILER_TARGET}")
set(MPROF_PRELOAD_SUBDIR "${MPROF_RT_SUBDIR}")
set(MPROF_PARTS rt rt/preload)

file(GLOB plugins RELATIVE "${MPROF_NATIVE_BUILD}"
  "${MPROF_NATIVE_BUILD}/lib/mprof/llvm-*")
foreach(file IN ITEMS lib/libMProf.so ${plugins}
    bin/mprof)
  if(NOT EXISTS "${MPROF_NATIVE_BUILD}/${file}")
    mprof_stop("no ${MPROF_NATIVE_BUILD}/${file}: build the preset release first")
  endif()
  get_filename_component(dir "${PROJECT_BINARY_DIR}/${file}" DIRECTORY)
  file(MAKE_DIRECTORY "${dir}")
  file(CREATE_LINK "${MPROF_NATIVE_BUILD}/${file}"
    "${PROJECT_BINARY_DIR}/${file}" SYMBOLIC)
endforeach()
# A copy, because the driver finds the runtime by its own path.
configure_file("${MPROF_NATIVE_BUILD}/bin/mprof-clang"
  "${PROJECT_BINARY_DIR}/bin/mprof-clang" COPYONLY)
file(CREATE_LINK mprof-clang "${PROJECT_BINARY_DIR}/bin/mprof-clang++" SYMBOLIC)
