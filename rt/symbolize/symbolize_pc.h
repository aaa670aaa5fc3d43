// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes addresses in mapped modules with sanitizer_common of compiler-rt.
// All functions here run in the symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H

#include "sys/base.h"

// Whether the functions below work. If false, they do nothing, and
// mprof_symbolize_file also looks up the addresses of mapped modules.
extern const bool mprof_symbolize_pc_works;

// Tests whether the helper process can symbolize: takes the loader's lock,
// which a lookup needs. The function hangs if another thread of the program
// held this lock when the process was copied to create the helper process.
void mprof_symbolize_pc_try(void);

// Sets the path of llvm-symbolizer. The string must stay valid. Call this
// function once, before the first mprof_symbolize_pc.
void mprof_symbolize_pc_init(const char *path);

// Writes the frames at the return address pc to `out`, in the form that
// mprof_symbolize_file uses. `out` has `size` bytes, which must be 0 before the
// call.
void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
