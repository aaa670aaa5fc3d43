// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of the hooked functions in which stacks of waits begin. The table is
// made from hooks.def, since a stripped libc has no symbol names.

#ifndef MPROF_RT_LOCK_WAIT_HOOK_NAMES_H
#define MPROF_RT_LOCK_WAIT_HOOK_NAMES_H

#include "lock_wait/block_kinds.h"

// Returns the leaf of a stack that begins in the hooked function at address op.
// It has the form of a return address, so readers and mprof_symbolize find op.
static inline mprof_pc mprof_op_pc(uintptr_t op) { return op + 1; }
// Pseudo function that stands for the stack of contention for the runtime's own
// locks if that stack is unknown. (Go: _LostContendedRuntimeLock)
void mprof_lost_contended_runtime_lock(void);
// Returns the name of the hooked function or pseudo function at the return
// address pc. Returns NULL if there is none, or if its name is mangled.
const char *mprof_hooked_name(mprof_pc pc);

// Returns the name of a kind of waits, as in the option block_kinds.
const char *mprof_kind_name(enum mprof_kind kind);

#endif // MPROF_RT_LOCK_WAIT_HOOK_NAMES_H
