// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the hooked functions, which are the leaves of stacks of waits.
// The names come from hooks.def, because a stripped libc has no symbol names.

#ifndef MPROF_RT_LOCK_WAIT_HOOK_NAMES_H
#define MPROF_RT_LOCK_WAIT_HOOK_NAMES_H

#include "lock_wait/block_kinds.h"

// Returns the address to store as the leaf of a stack, if the leaf is the
// hooked function at address op. Addresses in stacks are return addresses, so
// readers and mprof_symbolize subtract 1 from each of them. Therefore the
// result is op + 1.
static inline mprof_pc mprof_op_pc(uintptr_t op) { return op + 1; }
// A pseudo function for contention for the profiler's own locks. If the real
// stack of such an event is unknown, this function is the only frame of the
// recorded stack. (Go: _LostContendedRuntimeLock)
void mprof_lost_contended_runtime_lock(void);
// Returns the name of the hooked function or pseudo function that the address
// pc stands for in a recorded stack (mprof_op_pc). Returns NULL if pc belongs
// to no such function, or if the name of the function is mangled.
const char *mprof_hooked_name(mprof_pc pc);

// A hooked function that waits: its address, and its enum mprof_kind.
struct mprof_hook {
  uintptr_t op;
  uint8_t kind;
};
// Finds the hooked function whose address is fn, or whose entry has the address
// fn. (The entry of f is the runtime's function __mprof_f.) Returns false if fn
// is neither, or if the hooked function does not wait.
bool mprof_hook_at(uintptr_t fn, struct mprof_hook *hook);

// Returns the name of a kind of waits, as the option block_kinds spells it.
const char *mprof_kind_name(enum mprof_kind kind);

#endif // MPROF_RT_LOCK_WAIT_HOOK_NAMES_H
