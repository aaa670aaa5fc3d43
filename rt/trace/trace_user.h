// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The records that the program itself adds to the trace (tasks, regions,
// messages), and the messages about names and labels of threads. Owns the table
// of the names that records refer to by a handle. The public functions are in
// mprof.h.

#ifndef MPROF_RT_TRACE_TRACE_USER_H
#define MPROF_RT_TRACE_TRACE_USER_H

#include "trace/trace_types.h"

// Maximum length of a message in bytes. The rest is cut.
#define MPROF_TRACE_LOG_MAX 1024u
// Returns the text of a name by its handle; "" for handle 0.
const char *mprof_trace_name_text(uint32_t handle);
// Puts n begins and ends of regions, in order, into the calling thread's row.
// For phases in which the thread could make no records. Call with the guard
// set.
void mprof_trace_phases(const struct mprof_trace_phase *v, size_t n);
// Empties the table of names in a forked child.
void mprof_trace_names_reset(void);
// Puts the present name of the row's thread into the row as a message, unless
// the trace has it already. now: time of the clock. Call while the thread runs,
// with room for a record in the row.
void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of the key that these messages have.
uint32_t mprof_trace_name_key(void);
// Puts the calling thread's new set of labels into its row, unless the thread
// waits. frame: frame address of the caller.
void mprof_trace_labels(uintptr_t frame);
// Puts the calling thread's set of labels into its row r. Call between enter
// and leave, with room for a record.
void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now);
// Returns the handle of the key that messages about labels have.
uint32_t mprof_trace_labels_key(void);

#endif // MPROF_RT_TRACE_TRACE_USER_H
