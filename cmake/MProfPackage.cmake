# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# What cpack makes of the build tree of the preset `package`:
#   cpack -G DEB   Debian packages, one for each component of MProfInstall.cmake
#   cpack -G TGZ   a tarball with all of them. It can be unpacked anywhere
# packaging/finish.cmake adds what a Debian package needs beside its files.

set(CPACK_PACKAGE_NAME mprof)
set(CPACK_PACKAGE_VENDOR "The MProf authors")
set(CPACK_PACKAGE_CONTACT "The MProf authors <maintainers@mprof.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY
  "profiler of memory, locks and threads for C and C++ programs")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_SOURCE_DIR}/packaging/generator.cmake")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/packaging/finish.cmake")
set(CPACK_MPROF_PACKAGING "${PROJECT_SOURCE_DIR}/packaging")

set(CPACK_COMPONENTS_ALL mprof-tools)
if(MPROF_PLUGIN)
  list(APPEND CPACK_COMPONENTS_ALL mprof libmprof-dev)
else()
  list(APPEND CPACK_COMPONENTS_ALL libmprof-dev)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
  string(TOUPPER "${component}" upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME "${component}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION devel)
  set(CPACK_DEBIAN_${upper}_PACKAGE_PRIORITY optional)
endforeach()
set(CPACK_DEBIAN_LIBMPROF-DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBMPROF-DEV_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/shlibs"
  "${PROJECT_SOURCE_DIR}/packaging/triggers")
set(CPACK_DEBIAN_MPROF-TOOLS_PACKAGE_SHLIBDEPS ON)

# The packages of one build belong together.
set(same "(= ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})")
set(clangs "")
foreach(version IN LISTS MPROF_PLUGIN_VERSIONS)
  list(PREPEND clangs "clang-${version}")
endforeach()
list(JOIN clangs " | " clangs)
set(CPACK_DEBIAN_MPROF_PACKAGE_DEPENDS
  "libmprof-dev ${same}, mprof-tools ${same}, ${clangs}, libc6")
set(CPACK_DEBIAN_LIBMPROF-DEV_PACKAGE_DEPENDS "mprof-tools ${same}, libc6-dev")
set(CPACK_DEBIAN_LIBMPROF-DEV_PACKAGE_SUGGESTS "mprof ${same}")
set(CPACK_DEBIAN_MPROF-TOOLS_PACKAGE_RECOMMENDS "libcurl4")
set(CPACK_DEBIAN_MPROF-TOOLS_PACKAGE_SUGGESTS "mprof ${same}")

set(about
"MProf shows where a program allocates and leaks memory, which locks make
threads wait, and what every thread is doing.")
set(CPACK_COMPONENT_MPROF_DESCRIPTION
"${about} It costs so little that it can
stay switched on.

This package has the plugin for clang and the compiler driver mprof-clang,
which build programs with MProf.")
set(CPACK_COMPONENT_MPROF-TOOLS_DESCRIPTION
"${about}

This package has the command mprof, which profiles programs without a rebuild,
and shows and converts profiles.")
set(CPACK_COMPONENT_LIBMPROF-DEV_DESCRIPTION
"${about}

This package has the runtime that programs are linked with, and the header of
the functions with which a program reads and controls its own profiles.")
include(CPack)
