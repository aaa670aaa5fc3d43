# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds what the plugin and the tests need: LLVM 19, Clang's headers, and musl. An
# error names the package that is missing. Sets
#   LLVM_INCLUDE_DIRS, LLVM_DEFINITIONS   headers of LLVM and of Clang
#   LLVM_TOOLS_BINARY_DIR                 clang, opt, FileCheck, ...
#   MPROF_PLUGIN_VERSIONS                 the versions of clang with a plugin
#   MPROF_LLVM_<version>_INCLUDE_DIRS     their headers
# and, if musl-tools is installed beside glibc,
#   MPROF_MUSL_INCLUDE_DIR, MPROF_MUSL_LIBRARY_DIR   directories of musl
#   MPROF_KERNEL_<linux|asm|asm-generic>_DIR         the kernel's headers

set(MPROF_LLVM_DIR "" CACHE PATH
  "LLVM 19's prefix or its lib/cmake/llvm; empty: the system's")

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

# The runtime for musl is for x86-64 only. A project with MProf in a subdirectory
# has glibc's.
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" OR NOT PROJECT_IS_TOP_LEVEL)
  return()
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
