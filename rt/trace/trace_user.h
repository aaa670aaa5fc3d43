// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names to which records refer, and the records with names and labels of
// threads. mprof/mprof.h declares the functions that the program calls.

#ifndef MPROF_RT_TRACE_TRACE_USER_H
#define MPROF_RT_TRACE_TRACE_USER_H

#include "sys/base.h"

struct mprof_trace_row;

// Maximum length of a message in bytes. Longer messages are truncated.
#define MPROF_TRACE_LOG_MAX 1024u
// Returns the text of the name with this handle, or "" if the handle is 0.
const char *mprof_trace_name_text(uint32_t handle);
// Empties the table of names in a forked child.
void mprof_trace_names_reset(void);
// Adds a message with the current name of the thread that owns row r, unless
// the trace already has this name. now: time of the clock. Call this while the
// thread does not wait, and when row r has room for a record.
void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of "thread.name", the key of messages with thread names.
uint32_t mprof_trace_name_key(void);
// Adds a message with the name of the lock for which the thread that owns row r
// is about to wait, when row r has room for a record and the name.
void mprof_trace_put_lock_name(struct mprof_trace_row *r, uint64_t now,
                               const char *name, size_t len);
// Adds a record of the current label set of the calling thread to row r, which
// belongs to the thread. now: time of the clock. Call this between
// mprof_trace_enter and mprof_trace_leave, when row r has room for a record.
void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of "lock.waited_ns", the key of messages that tell how
// long other threads have waited for a lock that a thread releases.
uint32_t mprof_trace_charge_key(void);
// Adds a message that tells for how many nanoseconds a thread that the trace
// shows as running had no processor. Its key is "thread.preempted_ns", or, if
// the thread may also have waited, "thread.off_cpu_ns". Row r has room for it.
void mprof_trace_put_off_cpu(struct mprof_trace_row *r, uint64_t now,
                             bool is_preempted, uint64_t ns);
// Returns the handle of "labels", the key of messages with label sets.
uint32_t mprof_trace_labels_key(void);

#endif // MPROF_RT_TRACE_TRACE_USER_H
