// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the file of the option persist lead to the rows of the trace; see
// trace_persist.h. The rows and their buffers are in persistent memory, which
// the file consists of. If the file could not grow, a row or a buffer may be
// outside of the file. mprof recover then finds no complete trace and says so.

#include "trace/trace_persist.h"

#include "sys/clock.h"
#include "sys/persistent.h"

#include <unistd.h>

static uint64_t get(enum mprof_persist_root root) {
  return __atomic_load_n(&mprof_persist_head->roots[root], __ATOMIC_RELAXED);
}

static void set(enum mprof_persist_root root, uint64_t address) {
  __atomic_store_n(&mprof_persist_head->roots[root], address, __ATOMIC_RELEASE);
}

// The option trace_last, in nanoseconds. Guarded by trace_lock.
static uint64_t keep;

void mprof_trace_persist_begin(uint64_t keep_ns) { keep = keep_ns; }

// The file may be made by the allocation of the first row, so a session cannot
// fill the head before.
static void fill_head(struct mprof_persist_head *h) {
  h->row_size = sizeof(struct mprof_trace_row);
  h->buffer_size = sizeof(struct mprof_trace_buf);
  h->trace_keep_ns = keep;
  h->processors = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN);
  __atomic_store_n(&h->ticks_per_second, mprof_clock_ticks_per_second(),
                   __ATOMIC_RELAXED);
}

void mprof_trace_persist_rows(const struct mprof_trace_row *rows) {
  if (mprof_persist_head == NULL)
    return;
  if (rows->id == 0)
    fill_head(mprof_persist_head);
  set(MPROF_PERSIST_TRACE, (uintptr_t)rows);
}

void mprof_trace_persist_end(void) {
  if (mprof_persist_head == NULL)
    return;
  set(MPROF_PERSIST_ENDED_TRACE, get(MPROF_PERSIST_TRACE));
  set(MPROF_PERSIST_TRACE, 0);
}

void mprof_trace_persist_forget(const struct mprof_trace_row *rows) {
  if (mprof_persist_head != NULL &&
      get(MPROF_PERSIST_ENDED_TRACE) == (uintptr_t)rows)
    set(MPROF_PERSIST_ENDED_TRACE, 0);
}
