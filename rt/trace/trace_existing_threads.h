// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of the threads that existed when a session of the trace began, with
// what each of them was doing. A thread stays on the list until it makes its
// first record. Call all functions with trace_lock held.

#ifndef MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
#define MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H

#include "trace/trace_types.h"

// Makes the list, and puts each thread with what it is doing into r, the row of
// the thread that starts the session. A thread that begins or ends meanwhile
// makes records of its own. Returns 0 or -ENOMEM.
int mprof_trace_existing_put(struct mprof_trace_row *r);
// Returns what thread tid was doing when the session began, and takes it off
// the list. *g receives its number, *start the handle of its start function's
// stack. Returns MPROF_TRACE_FROM_UNKNOWN if the thread is not on the list.
enum mprof_trace_from mprof_trace_existing_find(int tid, uint64_t *g,
                                                uint32_t *start);
// Frees the list at the end of the session.
void mprof_trace_existing_drop(void);
// Empties the list in a forked child, without freeing its memory.
void mprof_trace_existing_reset(void);

#endif // MPROF_RT_TRACE_TRACE_EXISTING_THREADS_H
