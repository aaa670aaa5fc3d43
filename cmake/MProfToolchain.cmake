# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Finds LLVM for the plugin (MProfLLVM.cmake). An error names the package that is
# missing.

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
