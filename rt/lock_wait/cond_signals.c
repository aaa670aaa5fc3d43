// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of the signals of a condition; see cond_signals.h. The kernel does
// not tell which thread a signal has woken. If several signals wake one thread
// each, the first thread that returns is assumed to be woken by the first
// signal, and so on. So the recorded waiting times of two threads may be
// exchanged, but the sum of these times is right.

#include "lock_wait/cond_signals.h"

#include "sys/message.h"

#include <string.h>

bool mprof_signals_add(struct mprof_signals *s, struct mprof_signal x) {
  if (s->len == MPROF_SIGNALS)
    return false;
  s->v[s->len++] = x;
  s->woken += x.woken;
  return true;
}

uint32_t mprof_signals_counted(struct mprof_signals *s, uint64_t id) {
  for (uint32_t i = 0; i < s->len; i++)
    if (s->v[i].id == id) {
      s->v[i].is_counted = true;
      return s->v[i].woken;
    }
  return 0;
}

static void take_one(struct mprof_signals *s, uint32_t i,
                     struct mprof_signal *taken) {
  *taken = s->v[i];
  s->woken--;
  if (--s->v[i].woken == 0) {
    s->len--;
    memmove(&s->v[i], &s->v[i + 1], (s->len - i) * sizeof(s->v[0]));
  }
}

bool mprof_signals_take(struct mprof_signals *s, uint64_t start,
                        uint32_t waiting, struct mprof_signal *taken) {
  MPROF_ASSERT(s->len <= MPROF_SIGNALS);
  for (uint32_t i = 0; i < s->len; i++)
    if (s->v[i].time >= start) {
      take_one(s, i, taken);
      return true;
    }
  if (s->woken <= waiting)
    return false;
  take_one(s, 0, taken);
  return true;
}
