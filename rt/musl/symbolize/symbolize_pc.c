// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the place of the glibc version of symbolize_pc.c in builds with musl.
// The glibc version uses the library sanitizer_common, which is compiled for
// glibc. The functions here do nothing. So with musl, profiles show no function
// names for mapped code that is in no file.

#include "symbolize/symbolize_pc.h"

mprof_symbolizer *const mprof_symbolize_pc_works = NULL;

void mprof_symbolize_pc_try(void) {}

void mprof_symbolize_pc_init(const char *path) { (void)path; }

void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size) {
  (void)pc, (void)out, (void)size;
}
