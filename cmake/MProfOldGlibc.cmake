# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Lets what is linked here run with glibc 2.28 and later, whatever version the build
# has. The linker takes the newest version of each symbol that it finds. glibc 2.34
# has moved libpthread and libdl into libc, and has given their functions a new
# version. So this file makes libraries without code, in which these functions have
# the old names and versions. They come before libc, and are not installed. Later
# versions of glibc have the old versions, too, and empty libraries of the old names.
#
# test/driver/glibc-versions.test checks the result.

if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|aarch64)$")
  message(FATAL_ERROR "mprof: unknown processor ${CMAKE_SYSTEM_PROCESSOR}")
endif()
set(base GLIBC_2.2.5)
set(dlmopen GLIBC_2.3.4)
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  set(base GLIBC_2.17)
  set(dlmopen GLIBC_2.17)
endif()
set(symbols_pthread.so.0 ${base}
  __pthread_key_create _pthread_cleanup_pop _pthread_cleanup_push
  pthread_attr_setstacksize pthread_create pthread_getcpuclockid
  pthread_getspecific pthread_join
  pthread_key_create pthread_key_delete pthread_mutex_trylock pthread_once
  pthread_rwlock_destroy pthread_rwlock_init
  pthread_rwlock_rdlock pthread_rwlock_tryrdlock pthread_rwlock_trywrlock
  pthread_rwlock_unlock pthread_rwlock_wrlock pthread_setspecific pthread_sigmask
  pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_testcancel
  sem_trywait
  GLIBC_2.28 mtx_trylock thrd_create)
set(symbols_dl.so.2 ${base}
  dladdr dlclose dlerror dlopen dlsym
  ${dlmopen} dlmopen)

# Writes the source and the versions of the library without code.
function(mprof_add_old_library target soname)
  set(source "${PROJECT_BINARY_DIR}/${target}.c")
  set(versions "${PROJECT_BINARY_DIR}/${target}.ver")
  set(code "")
  set(nodes "")
  set(end "")
  set(version "")
  foreach(word IN LISTS ARGN)
    if(word STREQUAL version)
      continue()
    elseif(word MATCHES "^GLIBC_")
      set(version "${word}")
      string(APPEND nodes "${end}${version} {\n")
      set(end "};\n")
    else()
      string(APPEND nodes "  ${word};\n")
      string(APPEND code "void ${word}(void) {}\n")
    endif()
  endforeach()
  file(CONFIGURE OUTPUT "${source}" CONTENT "${code}" @ONLY)
  file(CONFIGURE OUTPUT "${versions}" CONTENT "${nodes}${end}" @ONLY)
  add_library(${target} SHARED "${source}")
  target_compile_options(${target} PRIVATE -w -fno-builtin)
  target_link_options(${target} PRIVATE -nostdlib "-Wl,-soname,${soname}"
    "-Wl,--version-script=${versions}")
  set_target_properties(${target} PROPERTIES NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/old-glibc")
endfunction()

set(MPROF_OLD_LIBRARIES "")
foreach(name IN ITEMS pthread.so.0 dl.so.2)
  string(REGEX REPLACE "[.].*" "" short "${name}")
  mprof_add_old_library(mprof_old_${short} "lib${name}" ${symbols_${name}})
  list(APPEND MPROF_OLD_LIBRARIES mprof_old_${short})
endforeach()

# Links the target with the old versions. Call this before the target's own calls
# of target_link_libraries.
function(mprof_link_old_glibc target)
  add_dependencies(${target} ${MPROF_OLD_LIBRARIES})
  target_link_libraries(${target} PRIVATE -Wl,--push-state,--no-as-needed)
  foreach(library IN LISTS MPROF_OLD_LIBRARIES)
    target_link_libraries(${target} PRIVATE "$<TARGET_FILE:${library}>")
  endforeach()
  target_link_libraries(${target} PRIVATE -Wl,--pop-state)
  # Without this, the target would search these libraries when it runs.
  set_target_properties(${target} PROPERTIES SKIP_BUILD_RPATH ON)
endfunction()

# Functions that programs need beside these libraries.
add_library(mprof_old_glibc OBJECT EXCLUDE_FROM_ALL
  "${CMAKE_CURRENT_LIST_DIR}/old_glibc.c")
target_compile_definitions(mprof_old_glibc PRIVATE _GNU_SOURCE)
