// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of the hooked functions, which are the leaves of the stacks of
// waits. These functions lie in libc, which has no line numbers; a libc that is
// stripped or linked statically may have no symbol names either. The profile
// should show pthread_mutex_lock all the same. Mangled names are left to the
// symbolizer, which demangles them.
//
// This file must not include a header that declares the functions. It uses only
// their addresses, and declares them with a type that does not matter.

#include "lock_wait/hook_names.h"

#include "lock_wait/block_kinds.h"

// The symbols are weak, so that a program is not linked with more of libc than
// it uses. The address of a function that is not in the process is NULL.
#define MPROF_OWNED(Symbol, Owner, MuslOwner, Kind)                            \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#define MPROF_RELEASE(Symbol, Proto, Object)                                   \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#define MPROF_CREATE(Symbol, Proto)                                            \
  extern char Symbol[] __attribute__((weak, visibility("default")));
#include "mprof/hooks.def"

#define IS_MANGLED(Symbol) (#Symbol[0] == '_' && #Symbol[1] == 'Z')
// If two names have one address, as a function and its 64-bit form may, the
// first one in hooks.def is used.
#define RETURN_IF(Symbol)                                                      \
  if (!IS_MANGLED(Symbol) && op == (uintptr_t)(Symbol))                        \
    return #Symbol;

// The addresses are read from the global offset table one by one. An
// initialized array of addresses would need relocations that bind a program's
// calls to its own PLT.
static const char *name_of(uintptr_t op) {
#define MPROF_OWNED(Symbol, Owner, MuslOwner, Kind) RETURN_IF(Symbol)
#define MPROF_RELEASE(Symbol, Proto, Object) RETURN_IF(Symbol)
#define MPROF_WAIT(Symbol, Proto, Kind) RETURN_IF(Symbol)
#define MPROF_CREATE(Symbol, Proto) RETURN_IF(Symbol)
#include "mprof/hooks.def"
  if (op == (uintptr_t)mprof_lost_contended_runtime_lock)
    return "mprof::_LostContendedRuntimeLock";
  return NULL;
}

const char *mprof_hooked_name(mprof_pc pc) {
  return pc < 2 ? NULL : name_of(pc - mprof_op_pc(0));
}

// A pseudo function that is never called. Its code differs from that of every
// other function, because linkers fold functions with equal code.
MPROF_NOINLINE void mprof_lost_contended_runtime_lock(void) {
  __asm__ volatile("nop\n\tnop\n\tnop");
}

const char *mprof_kind_name(enum mprof_kind kind) {
  static const char *const names[] = {
#define MPROF_KIND(Name, Group) #Name,
#include "mprof/hooks.def"
  };
  if (kind == MPROF_KIND_own)
    return "mprof";
  return (unsigned)kind < MPROF_KIND_COUNT ? names[kind] : "";
}
