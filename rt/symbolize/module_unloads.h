// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records the history of modules: at which addresses each module was mapped,
// and until when. A module is a file with executable code, such as a shared
// library. After an unload, another module may be loaded at the same addresses,
// so an address alone does not identify a function.
//
// The runtime numbers the unloads that it detects. At each unload, the runtime
// stores the unload's number in the field `gone` of each bucket whose stack has
// an address in the unloaded module. From then on, no event is counted in this
// bucket. From `gone` and the history, writers find out which module was at the
// addresses of the bucket. For example, let the modules A and B overlap:
//
//     module   loaded after unload   removed by unload
//     A        0                     1
//     B        1                     2
//
// In a bucket with gone = 2, an address in the overlap belongs to B. A was
// already removed by unload 1, so A cannot be the module that unload 2 removed.
//
// An unload is detected by the last destructor of an instrumented library, or
// by calls of dlclose in instrumented code. At the latest, an unload is
// detected when a profile is written. Before an unload is detected, events of a
// new module at the same addresses may be counted for the unloaded module.
//
// Call the functions of this file with the recursion guard set, because they
// take modules_lock.

#ifndef MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
#define MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H

#include "bucket/bucket.h"
#include "symbolize/maps.h"

struct mprof_bucket;

// The value of mprof_mapping.to for a module that is still loaded.
#define MPROF_EPOCH_NOW UINT32_MAX

// Reads the current mappings as mprof_unloads_look does if code in the stack of
// b is in no known module.
void mprof_unloads_meet(const struct mprof_bucket *b);
// Reads the current mappings into m, which must be empty. Records new modules.
// If a module is no longer mapped, records its unload. Also appends all
// unloaded modules to m, with the addresses at which output files show them.
// These addresses never change. Returns 0 or -errno. The caller must hold
// writer_lock.
int mprof_unloads_read(struct mprof_maps *m);
// Reads the mappings as mprof_unloads_read does and keeps them until
// mprof_unloads_drop. In between, mprof_unloads_read copies the kept list, so
// that all files of one output show the same modules and the mappings are read
// once. Returns 0 or -errno. The caller must hold writer_lock.
int mprof_unloads_keep(void);
void mprof_unloads_drop(void);
// Reads the current mappings, and records new modules and unloads. Does not
// call the loader or libc's malloc, but only makes system calls.
void mprof_unloads_look(void);
// Records the unload of a module. `inside` is an address in the module. Call
// this when the module is about to be unloaded.
void mprof_unloads_leave(uintptr_t inside);
// Returns the number of detected unloads. The caller may hold any lock.
uint32_t mprof_unloads_unloads(void);
// Forgets all modules. Call this in a forked child.
void mprof_unloads_reset(void);

// --- marked buckets ---
//
// The buckets whose stacks have addresses in unloaded modules are marked. A
// program may unload thousands of modules, one after another. Most of its
// buckets are then marked already, so there is a list of the buckets that are
// not. Call these functions with modules_lock held, except
// mprof_unload_marks_reset.

// Stores `unload`, the number of the latest unload, in the field `gone` of each
// bucket for which is_gone(b, arg) is true. Acquires insert_lock. Returns the
// number of these buckets.
uint64_t mprof_unload_mark(uint32_t unload,
                           bool (*is_gone)(const struct mprof_bucket *b,
                                           const void *arg),
                           const void *arg);
// Empties the list in a forked child, which has no buckets.
void mprof_unload_marks_reset(void);

#endif // MPROF_RT_SYMBOLIZE_MODULE_UNLOADS_H
