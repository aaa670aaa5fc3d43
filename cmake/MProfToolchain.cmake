# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds sanitizer_common and, for the plugin, LLVM (MProfLLVM.cmake). An error
# names the package that is missing. Sets for rt/:
#   MPROF_SANITIZER_COMMON                the archive with sanitizer_common
#   MPROF_SANITIZER_LIBS                  libraries that it needs, as -l flags

# CMake wraps long messages. These messages stay on one line.
function(mprof_stop text)
  message(FATAL_ERROR "mprof: ${text}")
endfunction()

set(clang "${MPROF_CLANG_19}")
if(MPROF_PLUGIN)
  include(MProfLLVM)
  set(clang "${LLVM_TOOLS_BINARY_DIR}/clang")
endif()

execute_process(
  COMMAND "${clang}" -print-resource-dir
  OUTPUT_VARIABLE MPROF_CLANG_RESOURCE_DIR
  OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
set(MPROF_SANITIZER_COMMON
  "${MPROF_CLANG_RESOURCE_DIR}/lib/linux/libclang_rt.stats-${CMAKE_SYSTEM_PROCESSOR}.a"
  CACHE FILEPATH "The archive that has sanitizer_common in it")
set(MPROF_SANITIZER_LIBS -lpthread -ldl -lrt)
if(NOT EXISTS "${MPROF_SANITIZER_COMMON}")
  cmake_path(GET MPROF_SANITIZER_COMMON FILENAME archive)
  if(CMAKE_CROSSCOMPILING)
    mprof_stop("no ${archive}: run utils/setup.sh arm64")
  endif()
  mprof_stop("no ${archive}: install libclang-rt-19-dev")
endif()

# The headers of sanitizer_common are not packaged. The runtime declares the
# functions itself; this check proves that the archive has them.
try_compile(MPROF_SANITIZER_LINKS
  SOURCE_FROM_CONTENT sanitizer_common.c "
    void set_defaults(void *flags)
      __asm__(\"_ZN11__sanitizer11CommonFlags11SetDefaultsEv\");
    extern char flags[]
      __asm__(\"_ZN11__sanitizer21common_flags_dont_useE\");
    void __sanitizer_symbolize_pc(void *, const char *, char *, __SIZE_TYPE__);
    int main(void) {
      static char text[256];
      set_defaults(flags);
      __sanitizer_symbolize_pc((void *)main, \"%f\", text, sizeof(text));
      return 0;
    }"
  LINK_LIBRARIES "${MPROF_SANITIZER_COMMON}" ${MPROF_SANITIZER_LIBS}
  OUTPUT_VARIABLE log NO_CACHE)
if(NOT MPROF_SANITIZER_LINKS)
  file(APPEND "${CMAKE_BINARY_DIR}/CMakeFiles/CMakeError.log" "${log}")
  mprof_stop("sanitizer_common does not link: reinstall libclang-rt-19-dev")
endif()
