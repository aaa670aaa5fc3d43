// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See stuck.h. Locks and joins are judged from what the threads' notes say,
// which disturbs nobody. Only where that leaves a thread that waits for a
// condition or the like are all stopped for a moment, and memory is searched.
// (Go: goroutineLeakGC)

#include "stuck.h"

#include "clock.h"

#include <errno.h>

// How often it is tried again when the accused move.
enum { TRIES = 4 };

static bool has_objects(const struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++)
    if (g->v[i].awaited == MPROF_AWAITS_OBJECT)
      return true;
  return false;
}

// Without a search everything counts as reached.
static int take_once(struct mprof_stuck *g, const struct mprof_caller *caller) {
  bool is_scanned = false;
  int error = mprof_stuck_graph_take(g, false);
  if (error == 0 && has_objects(g)) {
    error = mprof_stuck_scan(g, caller);
    is_scanned = error == 0;
    if (error == ECANCELED)
      error = 0;
  }
  if (error != 0)
    return error;
  mprof_stuck_graph_judge(g, is_scanned);
  return mprof_stuck_graph_look_again(g);
}

int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller) {
  int error = EAGAIN;
  mprof_contention_note_waits(); // the next time more is known
  for (int i = 0; i < TRIES && error == EAGAIN; i++) {
    if (i > 0)
      mprof_stuck_free(g);
    error = take_once(g, caller);
  }
  if (error == EAGAIN) { // they are busy
    mprof_stuck_free(g);
    *g = (struct mprof_stuck){.time_ns = mprof_sys_realtime_ns()};
    error = 0;
  }
  mprof_stuck_graph_cycles(g);
  return error;
}

// --- whether a look is worth while ---

bool mprof_stuck_may_be(uint64_t ticks) {
  struct mprof_stuck g;
  bool is_found = false;
  if (mprof_stuck_graph_take(&g, false) == 0) {
    const uint64_t now = mprof_clock_now();
    for (size_t i = 0; i < g.len && !is_found; i++)
      is_found = g.v[i].awaited != MPROF_AWAITS_NOTHING &&
                 now > g.v[i].wait.start && now - g.v[i].wait.start >= ticks;
  }
  mprof_stuck_free(&g);
  return is_found;
}
