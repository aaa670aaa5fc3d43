// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names for what a profile has only addresses of: locks that the program has
// named, and the hooked functions that stacks of waits begin with.

#ifndef MPROF_RT_LOCK_NAMES_H
#define MPROF_RT_LOCK_NAMES_H

#include "base.h"

#define MPROF_LOCK_NAME 64 // bytes of a name with its 0

// What is shown of the lock at address: "0x7f...", or if it has a name
// "NAME (0x7f...)". Takes names_lock.
void mprof_lock_label(struct mprof_text *t, uintptr_t address);
void mprof_lock_names_reset(void);

// --- hooked.c ---

// The leaf of a stack that begins in the hooked function at address op: as a
// return address, so that readers and mprof_symbolize find op.
static inline mprof_pc mprof_op_pc(uintptr_t op) { return op + 1; }
// Contention for the profiler's own locks that no stack is known of.
// (Go: _LostContendedRuntimeLock)
void mprof_lost_contended_runtime_lock(void);
// The name of the hooked function or pseudo function that the return address
// belongs to; NULL if it is none, or if its name is mangled.
const char *mprof_hooked_name(mprof_pc pc);

#endif // MPROF_RT_LOCK_NAMES_H
