// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stub of symbolize_pc.h for musl. The in-process symbolizer needs
// sanitizer_common, which is compiled for glibc. So on musl, mapped modules are
// symbolized from their files.

#include "symbolize/symbolize_pc.h"

mprof_symbolizer *const mprof_symbolize_pc_works = NULL;

void mprof_symbolize_pc_try(void) {}

void mprof_symbolize_pc_init(const char *path) { (void)path; }

void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size) {
  (void)pc, (void)out, (void)size;
}
