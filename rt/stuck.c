// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See stuck.h. Locks and joins are judged from what the threads' notes say,
// which disturbs nobody. Only where that leaves a thread that waits for a
// condition or the like are all stopped for a moment, and memory is searched.
// (Go: goroutineLeakGC)

#include "stuck.h"

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
static int take_once(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  bool is_scanned = false;
  int error = mprof_stuck_graph_take(g, age, false);
  if (error == 0 && has_objects(g)) {
    error = mprof_stuck_scan(g, caller, age);
    is_scanned = error == 0;
    if (error == ECANCELED)
      error = 0;
  }
  if (error != 0)
    return error;
  mprof_stuck_graph_judge(g, is_scanned);
  return mprof_stuck_graph_look_again(g);
}

int mprof_stuck_take(struct mprof_stuck *g, const struct mprof_caller *caller,
                     uint64_t age) {
  int error = EAGAIN;
  mprof_contention_note_waits(); // the next time more is known
  for (int i = 0; i < TRIES && error == EAGAIN; i++) {
    if (i > 0)
      mprof_stuck_free(g);
    error = take_once(g, caller, age);
  }
  if (error == EAGAIN) { // they are busy
    mprof_stuck_free(g);
    *g = (struct mprof_stuck){.time_ns = mprof_sys_realtime_ns()};
    error = 0;
  }
  mprof_stuck_graph_cycles(g);
  return error;
}

bool mprof_stuck_may_be(uint64_t age) {
  struct mprof_stuck g;
  bool is_found = false;
  if (mprof_stuck_graph_take(&g, age, false) == 0)
    for (size_t i = 0; i < g.len && !is_found; i++)
      is_found = g.v[i].awaited != MPROF_AWAITS_NOTHING;
  mprof_stuck_free(&g);
  return is_found;
}
