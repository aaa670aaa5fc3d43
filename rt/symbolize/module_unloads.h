// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which modules were where. Stacks are addresses, and when a module is unloaded
// the next one may come to lie at the same addresses. So each unload that is
// seen begins an epoch: a bucket with an address in what was unloaded is gone
// from then on, and no event finds it. Its mark and the table of modules tell
// writers what was at its addresses:
//
//     module   loaded before, unloaded by     a bucket with gone = 2 has been
//     A        0              1               in B, and not in A, where they
//     B        1              2               overlap
//
// When an unload is seen: by the last destructor of a library that was compiled
// with MProf; of others in calls of dlclose by code that was, or else when a
// profile is written. Until then events of the next module at these addresses
// may be counted for the one before.

#ifndef MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
#define MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H

#include "symbolize/maps.h"

// Of a module that is loaded.
#define MPROF_EPOCH_NOW UINT32_MAX

// Reads what is mapped now into m, which is empty; notes what is new, and ends
// the epoch if something is no more. What was unloaded follows in m, each at
// addresses of its own that do not change. 0 or errno.
int mprof_epochs_read(struct mprof_maps *m);
// The same for its effects only. Makes nothing but system calls.
void mprof_epochs_look(void);
// The same, when the module that holds an address is about to be unloaded.
void mprof_epochs_leave(uintptr_t inside);
// How many unloads were seen; may be called with any lock held.
uint32_t mprof_epochs_unloads(void);
// In a forked child: nothing has been seen.
void mprof_epochs_reset(void);

#endif // MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
