# SPDX-FileCopyrightText: The MProf authors
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Selects clang 19 as the compiler, unless the user names another one. Must be
# included before project().

find_program(MPROF_CLANG_19 clang-19 DOC "clang 19")
find_program(MPROF_CLANGXX_19 clang++-19 DOC "clang++ 19")
if(NOT MPROF_CLANG_19 OR NOT MPROF_CLANGXX_19)
  message(FATAL_ERROR "mprof: no clang-19 on PATH: install clang-19")
endif()
if(NOT CMAKE_C_COMPILER)
  set(CMAKE_C_COMPILER "${MPROF_CLANG_19}")
endif()
if(NOT CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_COMPILER "${MPROF_CLANGXX_19}")
endif()
