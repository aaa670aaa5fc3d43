// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Marks the blocks at addresses that the kernel stores. The kernel may return
// these addresses to the program by epoll, timers or pipes, and the program may
// have no other copy of them.

#ifndef MPROF_RT_STUCK_STUCK_KERNEL_H
#define MPROF_RT_STUCK_STUCK_KERNEL_H

#include "stuck/stuck_memory.h"
#include "stuck/stuck_types.h"

// Marks these blocks as reached. Returns MPROF_JUDGED, or the reason why an
// address could not be read. Call only in a helper process, and after
// mprof_memory_find_blocks; see stuck_memory.h.
// self: path below /proc of a thread of the process that was copied
enum mprof_unjudged mprof_memory_mark_kernels(struct mprof_memory *m,
                                              const char *self);

#endif // MPROF_RT_STUCK_STUCK_KERNEL_H
