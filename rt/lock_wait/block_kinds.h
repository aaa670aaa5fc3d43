// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of waits that the block profile distinguishes, and the parser of
// the option block_kinds, which selects the kinds to record. mprof/hooks.def
// lists the kinds. A set of kinds is a word in which bit `1 << kind` is 1 for
// each kind of the set.

#ifndef MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H
#define MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H

#include "sys/base.h"

enum mprof_kind {
#define MPROF_KIND(Name, Group) MPROF_KIND_##Name,
#include "mprof/hooks.def"
  MPROF_KIND_COUNT,
  // A wait for one of the profiler's own locks. The option cannot name it.
  MPROF_KIND_own = MPROF_KIND_COUNT
};

// Returns the set of kinds that s names. s: names of kinds and of groups,
// separated by '+', ',' or a space. Reports each unknown name on stderr and
// skips it.
uint64_t mprof_contention_parse_kinds(const char *s);

#endif // MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H
