// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the linker take sanitizer_common out of its archive. The linker takes
// this file only with --whole-archive, because nothing refers to it. So a
// program that is linked with libmprof_rt.a alone links without
// sanitizer_common, and symbolize_pc.c sees that it is missing.

#include "symbolize/symbolize_pc.h"

#ifdef __GLIBC__ // there is no sanitizer_common for musl
__attribute__((
    visibility("default"))) mprof_symbolizer __sanitizer_symbolize_pc;
mprof_symbolizer *const mprof_wants_sanitizer = __sanitizer_symbolize_pc;
#endif
