# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# cpack runs this script after it has copied the files of a package, and before it
# packs them. CMake's own stripping uses llvm-strip, which rejects programs that
# are linked statically with glibc.

set(root "${CPACK_TEMPORARY_DIRECTORY}")
find_program(strip NAMES strip REQUIRED)
file(GLOB_RECURSE files LIST_DIRECTORIES false "${root}/*")
foreach(file IN LISTS files)
  if(file MATCHES "\\.a$" OR IS_SYMLINK "${file}")
    continue()
  endif()
  file(READ "${file}" magic LIMIT 4 HEX)
  # libmprof_link.so has no contents, only symbols.
  if(magic STREQUAL "7f454c46" AND NOT file MATCHES "libmprof_link")
    execute_process(
      COMMAND "${strip}" --strip-unneeded --remove-section=.comment "${file}"
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()

# Each package has a copyright file and a change log, and the overrides for
# lintian that this package needs.
function(pack from to)
  get_filename_component(dir "${to}" DIRECTORY)
  file(MAKE_DIRECTORY "${dir}")
  execute_process(COMMAND gzip -9nc "${from}" OUTPUT_FILE "${to}"
    COMMAND_ERROR_IS_FATAL ANY)
endfunction()
foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(share "${root}/${package}/usr/share")
  file(GLOB_RECURSE pages "${share}/man/*.[1-8]")
  foreach(page IN LISTS pages)
    pack("${page}" "${page}.gz")
    file(REMOVE "${page}")
  endforeach()
  file(COPY "${CPACK_MPROF_PACKAGING}/copyright"
    DESTINATION "${share}/doc/${package}")
  pack("${CPACK_MPROF_PACKAGING}/changelog"
    "${share}/doc/${package}/changelog.Debian.gz")
  if(EXISTS "${CPACK_MPROF_PACKAGING}/${package}.overrides")
    configure_file("${CPACK_MPROF_PACKAGING}/${package}.overrides"
      "${share}/lintian/overrides/${package}" COPYONLY)
  endif()
endforeach()
