// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines __mprof_is_program for programs that contain the whole runtime. A
// program that uses the shared runtime does not contain this file. For such a
// program, libmprof_words.a defines the symbol, together with the words of
// abi_words.c.

#include "sys/abi_words.h"

const char __mprof_is_program = 1;
