// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the history of modules: which module was mapped at which addresses,
// and until when. A stack consists of addresses, and after an unload another
// module may be loaded at the same addresses. So the runtime numbers the
// unloads that it detects. It stores this number in the field gone of each
// bucket that has an address in the unloaded module. From then on, no event is
// counted in this bucket. The bucket's field gone and the history tell writers
// which module was at its addresses:
//
//     module   loaded before, unloaded by     a bucket with gone = 2 belongs to
//     A        0              1               module B, and not to A, where the
//     B        1              2               addresses of the two overlap
//
// An unload is detected by the last destructor of an instrumented library, by
// calls of dlclose in instrumented code, or at the latest when a profile is
// written. Before an unload is detected, events of a new module at the same
// addresses may be counted for the old module.
//
// Call these functions with the guard set, since they take modules_lock.

#ifndef MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
#define MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H

#include "symbolize/maps.h"

// The value of mprof_mapping.to for a module that is still loaded.
#define MPROF_EPOCH_NOW UINT32_MAX

// Reads the current mappings into m, which must be empty. Records new modules,
// and records an unload if a module is no longer mapped. Appends the unloaded
// modules to m with the addresses at which output files show them; these
// addresses never change. Returns 0 or -errno.
int mprof_unloads_read(struct mprof_maps *m);
// Records new modules and unloads like mprof_unloads_read, but returns nothing.
// Calls neither the loader nor libc's malloc, and only makes system calls.
void mprof_unloads_look(void);
// Records the unload of the module that contains the address inside. Call this
// when the module is about to be unloaded.
void mprof_unloads_leave(uintptr_t inside);
// Returns the number of detected unloads. May be called with any lock held.
uint32_t mprof_unloads_unloads(void);
// Forgets all modules. Call this in a forked child.
void mprof_unloads_reset(void);

#endif // MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
