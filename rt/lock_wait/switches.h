// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The switches of hooked functions that unlock or may wait. Rewritten code
// calls such a function f through a switch, which leads to f itself while the
// runtime records no waits of its kind. So rewritten code runs no code of the
// runtime then. Each executable or library has an array of switches, one for
// each such function that it calls. Its constructor registers the array.

#ifndef MPROF_RT_LOCK_WAIT_SWITCHES_H
#define MPROF_RT_LOCK_WAIT_SWITCHES_H

#include "sys/abi_words.h"
#include "sys/base.h"

// The switch of a hooked function, and the switches of an executable or
// library; hooks.def explains the fields. Both are guarded by registry_lock,
// but sites read target and is_on without it.
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

#endif // MPROF_RT_LOCK_WAIT_SWITCHES_H
