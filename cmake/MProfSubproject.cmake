# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Gives a project with MProf in a subdirectory, such as by FetchContent, what
# find_package(MProf) gives: MProf::mprof, mprof_instrument and mprof_budget. They
# use this build tree, which has the layout of an installed tree. What is
# instrumented is built after MProf.

# MProfConfig.cmake looks for the plugins. They are not built yet.
foreach(version IN LISTS MPROF_PLUGIN_VERSIONS)
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/lib/mprof/llvm-${version}")
endforeach()
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON)
find_package(MProf CONFIG REQUIRED COMPONENTS plugin NO_DEFAULT_PATH
  PATHS "${PROJECT_BINARY_DIR}/lib/cmake/MProf")
add_dependencies(MProf::mprof ${MPROF_TARGETS})
foreach(name IN ITEMS
    MProf_plugin_FOUND MPROF_LIBRARY_DIR MPROF_INCLUDE_DIR MPROF_BINARY_DIR)
  set(${name} "${${name}}" PARENT_SCOPE)
endforeach()
