// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of the threads that existed when a trace session began, with their
// state at that time: running, waiting, or in a system call. A thread is
// removed from the list when it adds its first record. Call all functions with
// trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
#define MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H

#include "trace/trace_types.h"

// Creates the list of existing threads. Adds a PRE record for each of them to
// row r, which belongs to the thread that starts the session. If a thread
// begins or ends during this call, the list may be wrong about the thread. The
// error does no harm, because the thread adds its own records. Returns 0 or
// -ENOMEM.
int mprof_trace_existing_put(struct mprof_trace_row *r);
// Removes thread tid from the list. Returns the state that the thread had when
// the session began, or MPROF_TRACE_FROM_UNKNOWN if the thread is not on the
// list. *g receives the number of the thread, and *start the handle of the
// stack of its start function.
enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start);
// Frees the list of existing threads at the end of the session.
void mprof_trace_existing_drop(void);
// Empties the list in a forked child. Does not free the memory of the list.
void mprof_trace_existing_reset(void);

#endif // MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
