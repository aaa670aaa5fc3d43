// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kinds of waits, and the option that chooses them.

#ifndef MPROF_RT_WAIT_BLOCK_KINDS_H
#define MPROF_RT_WAIT_BLOCK_KINDS_H

#include "sys/base.h"

enum mprof_kind {
#define MPROF_KIND(Name, Group) MPROF_KIND_##Name,
#include "mprof/hooks.def"
  MPROF_KIND_COUNT,
  // Of the profiler's own locks, which is no kind that can be asked for.
  MPROF_KIND_own = MPROF_KIND_COUNT
};

// The bits that s names, kinds and groups with + between; what is wrong is said
// and left out.
uint64_t mprof_contention_parse_kinds(const char *s);

#endif // MPROF_RT_WAIT_BLOCK_KINDS_H
