# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs a test of mprof_budget. Its variables are set by MProfBudget.cmake.

# Ends the test. CMake does not break the lines of a text that begins with a
# blank.
macro(stop text)
  message(FATAL_ERROR " mprof_budget: ${text}")
endmacro()

file(REMOVE_RECURSE "${DIRECTORY}")
set(profiles "")
list(GET COMMAND 0 program)
foreach(run RANGE 1 ${RUNS})
  set(dir "${DIRECTORY}/${run}")
  file(MAKE_DIRECTORY "${dir}")
  set(ENV{MPROF_OPTIONS} "report=0:${OPTIONS}:log_path=\"${dir}/p\"")
  execute_process(COMMAND ${COMMAND} RESULT_VARIABLE status)
  if(NOT status STREQUAL "0")
    stop("${program} ended with ${status}")
  endif()
  # Each process has its own file. Their sum is the profile of the run.
  file(GLOB files "${dir}/p.*.${KIND}.pb.gz")
  if(NOT files)
    stop("${program} has written no ${KIND} profile. Is it built with MProf?")
  endif()
  set(profile "${DIRECTORY}/${run}.${KIND}.pb.gz")
  execute_process(COMMAND "${MPROF}" merge -o "${profile}" ${files}
    COMMAND_ERROR_IS_FATAL ANY)
  list(APPEND profiles "${profile}")
endforeach()

if("$ENV{MPROF_BUDGET_UPDATE}" STREQUAL "1" AND NOT "${BASE}" STREQUAL "")
  list(LENGTH BASE count)
  if(NOT count EQUAL RUNS)
    stop("BASE has ${count} files, but RUNS is ${RUNS}")
  endif()
  foreach(from to IN ZIP_LISTS profiles BASE)
    get_filename_component(dir "${to}" DIRECTORY)
    file(MAKE_DIRECTORY "${dir}")
    file(COPY_FILE "${from}" "${to}")
    execute_process(COMMAND "${CMAKE_COMMAND}" -E echo "wrote ${to}")
  endforeach()
endif()

foreach(file IN LISTS BASE)
  if(NOT EXISTS "${file}")
    stop("there is no ${file}. MPROF_BUDGET_UPDATE=1 ctest -R ${NAME} writes it")
  endif()
endforeach()
if("${BASE}" STREQUAL "")
  set(BASE "${profiles}") # budgets without growth do not ask for it
endif()
set(budgets "")
foreach(budget IN LISTS FAIL_IF)
  string(REPLACE ";" "\\;" budget "${budget}")
  list(APPEND budgets "--fail-if=${budget}")
endforeach()
execute_process(
  COMMAND "${MPROF}" diff ${DIFF_OPTIONS} ${budgets} ${BASE} -- ${profiles}
  RESULT_VARIABLE status)
if(status STREQUAL "3")
  set(accept "")
  if(NOT "${BASE}" STREQUAL "${profiles}")
    set(accept "; to accept the new values: MPROF_BUDGET_UPDATE=1 ctest -R ${NAME}")
  endif()
  stop("a budget is broken, see above${accept}")
elseif(NOT status STREQUAL "0")
  stop("mprof diff ended with ${status}")
endif()
