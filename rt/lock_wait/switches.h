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

// The switch of a hooked function, and the switches of an executable or library;
// hooks.def explains the fields. Both are guarded by registry_lock, but sites
// read target and is_on without it.
struct __mprof_switch {
#define MPROF_SWITCH_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
struct __mprof_switches {
#define MPROF_SWITCHES_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
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
