// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in mapped modules with sanitizer_common of compiler-rt.
// All functions here run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H

#include "sys/base.h"

// NULL if the program has no sanitizer_common, so that the functions below do
// nothing. In that case mprof_symbolize_file looks up the addresses of mapped
// modules, too.
typedef void mprof_symbolizer(void *pc, const char *fmt, char *out,
                              size_t size);
extern mprof_symbolizer *const mprof_symbolize_pc_works;

// Symbolizes one address in the helper, as a test: the helper can symbolize if
// this function returns. It hangs if another thread of the program held the
// loader's lock when the process was copied to create the helper.
void mprof_symbolize_pc_try(void);

// Sets the path of llvm-symbolizer. The string must stay valid. Call this
// function once, before the first mprof_symbolize_pc.
void mprof_symbolize_pc_init(const char *path);

// Writes the frames at return address pc to out, in the form that
// mprof_symbolize_file uses. out must be all zeros before the call.
void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
