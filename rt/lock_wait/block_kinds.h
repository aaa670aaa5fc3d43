// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kinds of waits that the block profile distinguishes. mprof/hooks.def
// lists them. The option block_kinds selects the kinds to record, and this
// module parses the option. A set of kinds is a word in which bit number `kind`
// is 1 for each kind of the set.

#ifndef MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H
#define MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H

#include "sys/base.h"

enum mprof_kind {
#define MPROF_KIND(Name, Group) MPROF_KIND_##Name,
#include "mprof/hooks.def"
  MPROF_KIND_COUNT,
  // A wait for one of the profiler's own locks. The option block_kinds cannot
  // name this kind.
  MPROF_KIND_own = MPROF_KIND_COUNT
};

// Returns the set of the kinds that s names. s is a list of names of kinds and
// of groups, which are separated by '+', ',' or a space. Reports each unknown
// name on stderr and skips it.
uint64_t mprof_contention_parse_kinds(const char *s);

#endif // MPROF_RT_LOCK_WAIT_BLOCK_KINDS_H
