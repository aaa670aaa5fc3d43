// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of addresses in the modules that are mapped. All of this runs in the
// symbolizer's helper process.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H

#include "sys/base.h"

// False where the others do nothing; addresses of mapped modules are then asked
// of their files (symbolize_file.h).
extern const bool mprof_symbolize_pc_works;

// Does not come back while another thread of the program held what the others
// need when the helper was copied from it.
void mprof_symbolize_pc_try(void);

// To be called once, before the first mprof_symbolize_pc. path: of
// llvm-symbolizer; must stay.
void mprof_symbolize_pc_init(const char *path);

// Writes to out the frames at return address pc in symbolize.c's form, as
// mprof_symbolize_file does; out is all zeros before.
void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size);

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZE_PC_H
