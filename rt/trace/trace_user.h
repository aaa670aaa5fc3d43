// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Records of the program's own.

#ifndef MPROF_RT_TRACE_TRACE_USER_H
#define MPROF_RT_TRACE_TRACE_USER_H

#include "trace/trace_types.h"

// Bytes of a message that are kept.
#define MPROF_TRACE_LOG_MAX 1024u
// The text of a record's name.
const char *mprof_trace_name_text(uint32_t handle);
// What the calling thread has done of late, as regions, while it could make no
// records: their begins and ends in order. Guard set.
void mprof_trace_phases(const struct mprof_trace_phase *v, size_t n);
// In a forked child.
void mprof_trace_names_reset(void);
// The name that a row's thread has now, as a message in the trace, unless that
// has it already. The thread runs; room for a record is there.
void mprof_trace_put_thread_name(struct mprof_trace_row *r, uint64_t now);
uint32_t mprof_trace_name_key(void); // of such messages
// The calling thread has other labels now: a message, too.
void mprof_trace_labels(uintptr_t frame);
// The same, first in its row.
void mprof_trace_put_labels(struct mprof_trace_row *r, uint64_t now);
uint32_t mprof_trace_labels_key(void);

#endif // MPROF_RT_TRACE_TRACE_USER_H
