// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The history of modules: which module was mapped where, and until when.
// Stacks are addresses, and after an unload another module may be loaded at the
// same addresses. So each detected unload ends an epoch. A bucket with an
// address in an unloaded module is then gone: no event finds it any more. The
// number of the unload in the bucket and the table of modules tell writers
// which module was at its addresses:
//
//     module   loaded before, unloaded by     a bucket with gone = 2 belongs to
//     A        0              1               module B, and not to A, where the
//     B        1              2               addresses of the two overlap
//
// An unload is detected by the last destructor of an instrumented library, by
// calls of dlclose in instrumented code, or at the latest when a profile is
// written. Until then, events of a new module at the same addresses may be
// counted for the old module.
//
// The functions take modules_lock: call them with the guard set.

#ifndef MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
#define MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H

#include "symbolize/maps.h"

// The epoch `to` of a module that is still loaded.
#define MPROF_EPOCH_NOW UINT32_MAX

// Reads the current mappings into m, which must be empty. Records new modules,
// and ends the epoch if a module is no longer mapped. Appends the unloaded
// modules to m, each at shown addresses that never change. Returns 0 or
// -errno.
int mprof_unloads_read(struct mprof_maps *m);
// Updates the history like mprof_unloads_read, without a result. Makes only
// system calls.
void mprof_unloads_look(void);
// Updates the history when the module that contains the address inside is about
// to be unloaded.
void mprof_unloads_leave(uintptr_t inside);
// Returns the number of detected unloads. May be called with any lock held.
uint32_t mprof_unloads_unloads(void);
// Forgets all modules. For a forked child.
void mprof_unloads_reset(void);

#endif // MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
