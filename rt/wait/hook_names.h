// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the hooked functions that stacks of waits begin with.

#ifndef MPROF_RT_WAIT_HOOK_NAMES_H
#define MPROF_RT_WAIT_HOOK_NAMES_H

#include "wait/block_kinds.h"

// The leaf of a stack that begins in the hooked function at address op: as a
// return address, so that readers and mprof_symbolize find op.
static inline mprof_pc mprof_op_pc(uintptr_t op) { return op + 1; }
// Stands in stacks for contention for the runtime's own locks whose stack is
// unknown. (Go: _LostContendedRuntimeLock)
void mprof_lost_contended_runtime_lock(void);
// The name of the hooked function or pseudo function that the return address
// belongs to; NULL if it is none, or if its name is mangled.
const char *mprof_hooked_name(mprof_pc pc);

const char *mprof_kind_name(enum mprof_kind kind);

#endif // MPROF_RT_WAIT_HOOK_NAMES_H
