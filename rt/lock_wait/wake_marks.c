// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stores marks for the releases of one object; see wake_marks.h. A mark links
// the wakeup of a thread to the release that caused it. If several releases
// wake one thread each, the first thread that runs is assumed to be woken by
// the first release, and so on. The kernel may run the threads in another
// order. Then a thread gets the mark of a release that woke a different thread.
// But each release still has exactly one woken thread.

#include "lock_wait/wake_marks.h"

#include "sys/message.h"
#include "trace_hooks/trace_hooks.h"

#include <string.h>

void mprof_wake_marks_clear(struct mprof_wake_marks *m) {
  m->len = 0;
  m->lost.buf = NULL;
}

static void remove_at(struct mprof_wake_marks *m, uint32_t i) {
  MPROF_ASSERT(i < m->len && m->len <= MPROF_WAKE_MARKS);
  m->len--;
  memmove(&m->marks[i], &m->marks[i + 1], (m->len - i) * sizeof(m->marks[0]));
}

void mprof_wake_marks_add(struct mprof_wake_marks *m,
                          struct mprof_trace_mark mark,
                          enum mprof_wakes wakes) {
  if (wakes == MPROF_WAKES_NEXT_OWNER)
    mprof_wake_marks_clear(m);
  if (m->len == MPROF_WAKE_MARKS) {
    m->lost = m->marks[0].mark;
    remove_at(m, 0);
  }
  m->marks[m->len].mark = mark;
  m->marks[m->len].wakes = wakes;
  m->len++;
}

struct mprof_trace_mark mprof_wake_marks_take(struct mprof_wake_marks *m,
                                              uint64_t start) {
  const uint64_t ticks = mprof_trace_ticks(start);
  for (uint32_t i = 0; i < m->len; i++) {
    if (m->marks[i].mark.ticks < ticks)
      continue;
    const struct mprof_trace_mark mark = m->marks[i].mark;
    if (m->marks[i].wakes == MPROF_WAKES_ONE)
      remove_at(m, i);
    return mark;
  }
  // All marks are older than the begin of the wait. But a mark is added a
  // moment before its release happens, and the thread may have begun to wait in
  // between. If so, the newest mark belongs to the release that woke this
  // thread. If this release wakes only one thread, no other thread needs the
  // mark, so it is removed.
  if (m->len != 0 && m->marks[m->len - 1].wakes == MPROF_WAKES_ONE)
    m->len--;
  if (m->lost.buf && m->lost.ticks >= ticks)
    return m->lost;
  return (struct mprof_trace_mark){.buf = NULL};
}

void mprof_wake_marks_skip(struct mprof_wake_marks *m) {
  if (m->len != 0 && m->marks[0].wakes == MPROF_WAKES_ONE)
    remove_at(m, 0);
}
