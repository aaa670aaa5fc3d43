// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switches of hooked functions that unlock or may wait. Rewritten code
// calls such a function f through a switch, which leads to f itself while the
// runtime records no waits of its kind. So rewritten code runs no code of the
// runtime then. Each executable or library has an array of switches, one for
// each such function that it calls. Its constructor registers the array.
//
// Most programs with a lock profile have locks for which no thread ever waits.
// So while no wait for an object was recorded, an unlock has nothing to do, and
// a lock has to test only the lock itself. Until the first such wait, the
// switch of an unlock leads to f although waits are recorded, and the switch of
// some lock functions leads to a light entry (hooked.h).

#ifndef MPROF_RT_LOCK_WAIT_SWITCHES_H
#define MPROF_RT_LOCK_WAIT_SWITCHES_H

#include "sys/abi_words.h"
#include "sys/base.h"

// The switch of a hooked function f. The pass emits switches
// (RewriteSwitched.cpp). target and is_on are written under registry_lock, and
// read without it by call sites. All other fields are constant.
struct __mprof_switch {
  // The function that call sites call: `function`, `entry` or the light entry.
  void *target;
  void *function; // f, as the module of the call sites sees it
  void *entry;    // __mprof_f
  // Number of the kind of waits, in the order of MPROF_KIND lines. The number
  // of all kinds: f unlocks a lock or wakes waiters.
  uint32_t kind;
  uint32_t is_on; // 0 if target == function, otherwise 1
};
_Static_assert(sizeof(struct __mprof_switch) == 32, "sites know the layout");

// The switches of one executable or library.
struct __mprof_switches {
  struct __mprof_switches *next; // guarded by registry_lock
  struct __mprof_switch *begin, *end;
  uint64_t is_program; // 1: of the program, 0: of a library
};
// Begins to set the switches of a module. Called by the module's constructor.
MPROF_PUBLIC void __mprof_register_switches(struct __mprof_switches *node);
// Ends it. Called by the last destructor of a library.
MPROF_ENTRY void __mprof_unregister_switches(struct __mprof_switches *node);

// Sets all switches, so that waits of the given kinds are recorded. kinds: a
// set of kinds, see block_kinds.h. Call with registry_lock held, or at
// start while no other thread runs.
void mprof_switches_set_locked(uint64_t kinds);
// Whether all switches lead to full entries. Set once.
extern atomic_bool mprof_switches_are_full;
void mprof_switches_make_full(void);
// Call before a thread begins the first wait for an object, with the guard set
// and no lock of the runtime held. From then on, all unlocks are seen.
static inline void mprof_switches_before_wait(void) {
  if (mprof_unlikely(!atomic_load_explicit(&mprof_switches_are_full,
                                           memory_order_relaxed)))
    mprof_switches_make_full();
}

#endif // MPROF_RT_LOCK_WAIT_SWITCHES_H
