# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
#   mprof_budget(NAME
#     COMMAND PROGRAM ARGUMENT...   the program; its target, or its path
#     FAIL_IF BUDGET...             budgets of mprof diff --fail-if
#     [BASE FILE...]                profiles of former runs
#     [RUNS N]                      number of runs, 1 by default
#     [KIND KIND]                   heap (default), block, mutex, ...
#     [OPTIONS OPTIONS]             more options for MPROF_OPTIONS
#     [DIFF_OPTIONS OPTION...])     more options of mprof diff
# adds the test NAME. The test runs the program, which must be built with MProf,
# and compares its profiles with the profiles BASE. It fails if the program
# fails or a budget is broken. Relative paths of BASE begin at the source
# directory. The test replaces BASE by the profiles of the run if the environment
# variable MPROF_BUDGET_UPDATE is 1. docs/ci.md describes budgets.

# Appends code to the variable `code` that sets the list `name` to the list in the
# variable `list`. An item may contain semicolons.
function(_mprof_budget_set _name _list)
  string(APPEND code "set(${_name}")
  foreach(_item IN LISTS ${_list})
    string(REPLACE ";" "\\;" _item "${_item}")
    string(APPEND code " [====[${_item}]====]")
  endforeach()
  set(code "${code})\n" PARENT_SCOPE)
endfunction()

function(mprof_budget name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RUNS;KIND;OPTIONS"
    "COMMAND;FAIL_IF;BASE;DIFF_OPTIONS")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR
      "mprof_budget(${name}): unknown argument ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT DEFINED arg_COMMAND OR NOT DEFINED arg_FAIL_IF)
    message(FATAL_ERROR "mprof_budget(${name}): give COMMAND and FAIL_IF")
  endif()
  if(NOT DEFINED arg_RUNS)
    set(arg_RUNS 1)
  elseif(NOT arg_RUNS MATCHES "^[1-9][0-9]*$")
    message(FATAL_ERROR "mprof_budget(${name}): RUNS ${arg_RUNS} is no number")
  endif()
  if(NOT DEFINED arg_BASE)
    foreach(budget IN LISTS arg_FAIL_IF)
      if(budget MATCHES ">[ \t]*[-+]")
        message(FATAL_ERROR
          "mprof_budget(${name}): the budget ${budget} needs BASE")
      endif()
    endforeach()
  endif()
  if(NOT DEFINED arg_KIND)
    set(arg_KIND heap)
  endif()
  set(command "")
  foreach(item IN LISTS arg_COMMAND)
    if(command STREQUAL "" AND TARGET "${item}")
      set(item "$<TARGET_FILE:${item}>")
    endif()
    string(REPLACE ";" "\\;" item "${item}")
    list(APPEND command "${item}")
  endforeach()
  set(files "")
  foreach(file IN LISTS arg_BASE)
    get_filename_component(file "${file}" ABSOLUTE)
    list(APPEND files "${file}")
  endforeach()
  set(mprof "${MPROF_BINARY_DIR}/mprof")
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/${name}.budget")

  # The test reads its arguments from a file, because CTest would split
  # arguments at semicolons.
  set(code "")
  _mprof_budget_set(NAME name)
  _mprof_budget_set(MPROF mprof)
  _mprof_budget_set(COMMAND command)
  _mprof_budget_set(FAIL_IF arg_FAIL_IF)
  _mprof_budget_set(BASE files)
  _mprof_budget_set(RUNS arg_RUNS)
  _mprof_budget_set(KIND arg_KIND)
  _mprof_budget_set(OPTIONS arg_OPTIONS)
  _mprof_budget_set(DIFF_OPTIONS arg_DIFF_OPTIONS)
  _mprof_budget_set(DIRECTORY directory)
  string(APPEND code
    "include([====[${CMAKE_CURRENT_FUNCTION_LIST_DIR}/MProfBudgetRun.cmake]====])\n")
  set(script "${CMAKE_CURRENT_BINARY_DIR}/${name}$<CONFIG>.budget.cmake")
  file(GENERATE OUTPUT "${script}" CONTENT "${code}")
  add_test(NAME "${name}" COMMAND "${CMAKE_COMMAND}" -P "${script}")
endfunction()
