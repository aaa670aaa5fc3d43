// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes mapped code that is in no file, with sanitizer_common of
// compiler-rt, which asks the dynamic loader. Such code exists, for example, in
// a program that copies its code into large pages. All functions of this file
// run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H

#include "sys/base.h"

// mprof_symbolize_pc_works is __sanitizer_symbolize_pc, or NULL if the program
// has no sanitizer_common. If it is NULL, do not call mprof_symbolize_pc; code
// that is in no file then has no names.
typedef void mprof_symbolizer(void *pc, const char *fmt, char *out,
                              size_t size);
extern MPROF_HIDDEN mprof_symbolizer *const mprof_symbolize_pc_works;

// Tests whether the helper process can symbolize: takes the loader's lock,
// which a lookup needs. The function hangs if another thread of the program
// held this lock when the process was copied to create the helper process.
void mprof_symbolize_pc_try(void);

// Sets the path of llvm-symbolizer. The string must stay valid. Call this
// function once, before the first mprof_symbolize_pc.
void mprof_symbolize_pc_init(const char *path);

// Writes the frames at the return address pc to `out`, in the form that
// symbolizer_answer.h describes, but without the lines at which functions
// begin. `out` has `size` bytes, which must be 0 before the call.
void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
