# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Writes drivers, config file and packages, for the build tree and for the
# installed tree. Each finds the runtime by a path relative to itself, so an
# installed tree can be moved.

include(CMakePackageConfigHelpers)

# Writes these files below root, and adds the target `driver`, which is the
# mprof-clang of this tree. The other arguments are the directories of the tree,
# with the meaning of CMAKE_INSTALL_BINDIR and so on.
function(mprof_write_tree
    driver root bindir MPROF_LIBDIR MPROF_INCLUDEDIR datadir)
  foreach(place IN ITEMS
      "BIN:${bindir}"
      "CFG:${datadir}/mprof"
      "CMAKE:${MPROF_LIBDIR}/cmake/MProf"
      "PC:${MPROF_LIBDIR}/pkgconfig")
    string(REPLACE ":" ";" place "${place}")
    list(GET place 0 name)
    list(GET place 1 dir)
    file(RELATIVE_PATH MPROF_${name}_TO_PREFIX "/prefix/${dir}" "/prefix")
    string(REGEX REPLACE "/$" "" MPROF_${name}_TO_PREFIX
      "${MPROF_${name}_TO_PREFIX}")
  endforeach()
  set(MPROF_DATADIR "${datadir}")
  set(tools "${PROJECT_SOURCE_DIR}/tools")
  configure_file("${tools}/mprof-preload.pc.in"
    "${root}/${MPROF_LIBDIR}/pkgconfig/mprof-preload.pc" @ONLY)
  if(NOT MPROF_PLUGIN)
    return()
  endif()
  if(NOT CMAKE_CROSSCOMPILING)
    mprof_add_driver(${driver} "${root}" "${bindir}")
  endif()
  foreach(name IN ITEMS mprof mprof-program)
    configure_file("${tools}/${name}.cfg.in"
      "${root}/${datadir}/mprof/${name}.cfg" @ONLY)
    configure_file("${tools}/${name}.pc.in"
      "${root}/${MPROF_LIBDIR}/pkgconfig/${name}.pc" @ONLY)
  endforeach()
  foreach(script IN ITEMS libmprof_intercept.ld libmprof_rt.so)
    configure_file("${tools}/${script}"
      "${root}/${MPROF_LIBDIR}${MPROF_RT_SUBDIR}/${script}" COPYONLY)
  endforeach()
  if(MPROF_MUSL_INCLUDE_DIR)
    configure_file("${tools}/musl.cfg.in" "${root}/${datadir}/mprof/musl.cfg"
      @ONLY)
  endif()
  set(package "${root}/${MPROF_LIBDIR}/cmake/MProf")
  foreach(script IN ITEMS MProfConfig MProfPluginFlags)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${script}.cmake.in"
      "${package}/${script}.cmake" @ONLY)
  endforeach()
  foreach(script IN ITEMS MProfBudget MProfBudgetRun)
    configure_file("${PROJECT_SOURCE_DIR}/cmake/${script}.cmake"
      "${package}/${script}.cmake" COPYONLY)
  endforeach()
  write_basic_package_version_file("${package}/MProfConfigVersion.cmake"
    COMPATIBILITY SameMajorVersion)
endfunction()

foreach(dir IN ITEMS BINDIR LIBDIR INCLUDEDIR DATADIR)
  if(IS_ABSOLUTE "${CMAKE_INSTALL_${dir}}")
    message(FATAL_ERROR
      "mprof: CMAKE_INSTALL_${dir} must be relative to the prefix")
  endif()
endforeach()

mprof_write_tree(mprof-clang "${PROJECT_BINARY_DIR}" bin lib include share)
if(NOT PROJECT_IS_TOP_LEVEL)
  return() # the project around it installs only its own files
endif()
set(stage "${PROJECT_BINARY_DIR}/install")
mprof_write_tree(mprof-clang-installed "${stage}" "${CMAKE_INSTALL_BINDIR}"
  "${CMAKE_INSTALL_LIBDIR}" "${CMAKE_INSTALL_INCLUDEDIR}"
  "${CMAKE_INSTALL_DATADIR}")

# Each component becomes a package (MProfPackage.cmake):
#   mprof         the plugin, its driver and its flags
#   mprof-tools   the commands, and the library for programs without a rebuild
#   libmprof-dev  the headers and the runtime for programs that are linked with it
set(dev_files "")
if(NOT CMAKE_CROSSCOMPILING)
  list(APPEND dev_files "${CMAKE_INSTALL_LIBDIR}/pkgconfig/mprof-preload.pc")
endif()
if(MPROF_PLUGIN)
  list(APPEND dev_files
    "${CMAKE_INSTALL_LIBDIR}${MPROF_RT_SUBDIR}/libmprof_intercept.ld"
    "${CMAKE_INSTALL_LIBDIR}${MPROF_RT_SUBDIR}/libmprof_rt.so")
endif()
if(MPROF_PLUGIN AND NOT CMAKE_CROSSCOMPILING)
  install(DIRECTORY "${stage}/${CMAKE_INSTALL_LIBDIR}/cmake"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT libmprof-dev)
  foreach(name IN ITEMS mprof mprof-program)
    install(FILES "${stage}/${CMAKE_INSTALL_LIBDIR}/pkgconfig/${name}.pc"
      DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT mprof)
  endforeach()
  foreach(dir IN ITEMS "${CMAKE_INSTALL_BINDIR}" "${CMAKE_INSTALL_DATADIR}")
    install(DIRECTORY "${stage}/${dir}/" DESTINATION "${dir}" COMPONENT mprof
      USE_SOURCE_PERMISSIONS)
  endforeach()
endif()
foreach(file IN LISTS dev_files)
  get_filename_component(dir "${file}" DIRECTORY)
  install(FILES "${stage}/${file}" DESTINATION "${dir}" COMPONENT libmprof-dev)
endforeach()
if(NOT CMAKE_CROSSCOMPILING)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/packaging/ci"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/mprof" COMPONENT mprof-tools
    USE_SOURCE_PERMISSIONS)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/mprof"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT libmprof-dev)
endif()
foreach(target IN LISTS MPROF_TARGETS)
  get_target_property(type ${target} TYPE)
  if(type MATCHES "^(MODULE|SHARED|STATIC)_LIBRARY$" AND
     NOT target STREQUAL "mprof_rt_parts")
    get_target_property(subdir ${target} MPROF_INSTALL_SUBDIR)
    if(NOT subdir)
      set(subdir "${MPROF_RT_SUBDIR}")
    endif()
    if(target STREQUAL "mprof_preload")
      set(component mprof-tools)
    elseif(type STREQUAL "MODULE_LIBRARY")
      set(component mprof)
    else()
      set(component libmprof-dev)
    endif()
    install(TARGETS ${target}
      LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}${subdir}"
        COMPONENT ${component}
      ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}${subdir}"
        COMPONENT ${component})
  endif()
endforeach()

# The runtime looks for mprof in the directory that is recorded in it
# (rt/symbolize/symbolizers.c). Records the installation instead of the build
# tree.
configure_file("${CMAKE_CURRENT_LIST_DIR}/record-place.cmake.in"
  "${PROJECT_BINARY_DIR}/record-place.cmake" @ONLY)
foreach(component IN ITEMS mprof-tools libmprof-dev)
  install(SCRIPT "${PROJECT_BINARY_DIR}/record-place.cmake"
    COMPONENT ${component})
endforeach()
