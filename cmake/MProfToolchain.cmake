# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds LLVM 19, Clang's headers and sanitizer_common. An error names the package
# that is missing. Sets for pass/ and rt/:
#   LLVM_INCLUDE_DIRS, LLVM_DEFINITIONS   headers of LLVM and of Clang
#   LLVM_TOOLS_BINARY_DIR                 clang, opt, FileCheck, ...
#   MPROF_SANITIZER_COMMON                the archive with sanitizer_common
#   MPROF_SANITIZER_LIBS                  libraries that it needs, as -l flags
# and, if musl-tools is installed beside glibc,
#   MPROF_MUSL_INCLUDE_DIR, MPROF_MUSL_LIBRARY_DIR   directories of musl
#   MPROF_KERNEL_<linux|asm|asm-generic>_DIR         the kernel's headers

set(MPROF_LLVM_DIR "" CACHE PATH
  "LLVM 19's prefix or its lib/cmake/llvm; empty: the system's")

# CMake wraps long messages. These messages stay on one line.
function(mprof_stop text)
  message(FATAL_ERROR "mprof: ${text}")
endfunction()

if(MPROF_LLVM_DIR)
  find_package(LLVM CONFIG QUIET NO_DEFAULT_PATH
    PATHS "${MPROF_LLVM_DIR}" "${MPROF_LLVM_DIR}/lib/cmake/llvm")
else()
  # By its place first: another version may be installed beside it.
  find_package(LLVM CONFIG QUIET NO_DEFAULT_PATH
    PATHS /usr/lib/llvm-19 /usr/lib/llvm-19/lib/cmake/llvm)
  if(NOT LLVM_FOUND)
    find_package(LLVM CONFIG QUIET)
  endif()
endif()
if(NOT LLVM_FOUND)
  mprof_stop("LLVM 19 not found: install llvm-19-dev")
endif()
if(NOT LLVM_VERSION_MAJOR EQUAL 19)
  mprof_stop("found LLVM ${LLVM_PACKAGE_VERSION}, not 19: install llvm-19-dev")
endif()
if(NOT EXISTS "${LLVM_INCLUDE_DIRS}/clang/Basic/ParsedAttrInfo.h")
  mprof_stop("no headers of Clang 19: install libclang-19-dev")
endif()
# Debian splits LLVM over these packages.
foreach(tool IN ITEMS clang:clang-19 FileCheck:llvm-19-tools llvm-ifs:llvm-19)
  string(REPLACE ":" ";" tool "${tool}")
  list(GET tool 0 name)
  list(GET tool 1 package)
  if(NOT EXISTS "${LLVM_TOOLS_BINARY_DIR}/${name}")
    mprof_stop("no ${name} of LLVM 19: install ${package}")
  endif()
endforeach()

# The versions of clang for which a plugin is built. Each needs the headers of
# LLVM and Clang.
set(MPROF_LLVM_VERSIONS "" CACHE STRING
  "Versions of clang, beside 19, for which a plugin is built: all, or a list")
set(MPROF_PLUGIN_VERSIONS 19)
set(MPROF_LLVM_19_INCLUDE_DIRS ${LLVM_INCLUDE_DIRS})
set(others ${MPROF_LLVM_VERSIONS})
if(others STREQUAL "all")
  set(others 16 17 18 20 21 22)
endif()
list(REMOVE_ITEM others 19)
foreach(version IN LISTS others)
  set(dir /usr/lib/llvm-${version}/include)
  if(NOT version MATCHES "^(1[678]|2[012])$")
    mprof_stop("MPROF_LLVM_VERSIONS: ${version} is not from 16 to 22")
  elseif(EXISTS ${dir}/llvm/IR/Module.h AND EXISTS ${dir}/clang/Sema/Sema.h)
    set(MPROF_LLVM_${version}_INCLUDE_DIRS ${dir})
    list(APPEND MPROF_PLUGIN_VERSIONS ${version})
  elseif(NOT MPROF_LLVM_VERSIONS STREQUAL "all")
    mprof_stop("no headers of Clang ${version}: install llvm-${version}-dev and "
      "libclang-${version}-dev")
  endif()
endforeach()
list(SORT MPROF_PLUGIN_VERSIONS COMPARE NATURAL)

execute_process(
  COMMAND "${LLVM_TOOLS_BINARY_DIR}/clang" -print-resource-dir
  OUTPUT_VARIABLE MPROF_CLANG_RESOURCE_DIR
  OUTPUT_STRIP_TRAILING_WHITESPACE
  COMMAND_ERROR_IS_FATAL ANY)
set(MPROF_SANITIZER_COMMON
  "${MPROF_CLANG_RESOURCE_DIR}/lib/linux/libclang_rt.stats-x86_64.a"
  CACHE FILEPATH "The archive that has sanitizer_common in it")
set(MPROF_SANITIZER_LIBS -lpthread -ldl -lrt)
if(NOT EXISTS "${MPROF_SANITIZER_COMMON}")
  mprof_stop("no libclang_rt.stats-x86_64.a: install libclang-rt-19-dev")
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

find_path(MPROF_MUSL_INCLUDE_DIR bits/alltypes.h
  PATHS /usr/include/x86_64-linux-musl NO_DEFAULT_PATH
  DOC "musl's headers; none: no runtime for programs on musl")
find_path(MPROF_MUSL_LIBRARY_DIR Scrt1.o
  PATHS /usr/lib/x86_64-linux-musl NO_DEFAULT_PATH
  DOC "musl's libraries")
foreach(part IN ITEMS linux asm asm-generic)
  find_path(MPROF_KERNEL_${part}_DIR ${part}/types.h
    PATHS /usr/include /usr/include/x86_64-linux-gnu NO_DEFAULT_PATH
    DOC "The directory of ${part}/ of the kernel's headers")
  mark_as_advanced(MPROF_KERNEL_${part}_DIR)
endforeach()
if(NOT MPROF_MUSL_LIBRARY_DIR)
  unset(MPROF_MUSL_INCLUDE_DIR)
  unset(MPROF_MUSL_INCLUDE_DIR CACHE)
endif()
if(NOT MPROF_MUSL_INCLUDE_DIR)
  message(STATUS "mprof: programs on musl are not supported: install musl-tools")
endif()
