// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes which threads may run; see stuck_judge.h.

#include "stuck/stuck_judge.h"

// The kinds of evidence that the function settle() may use to decide which
// threads may run. OWNERS: the thread ids in the memory of locks. RECORDS: also
// the records of holds.h. REACHED: also the search of memory, which finds
// whether a thread that may run can reach an awaited object. Evidence of a
// smaller value is more certain.
enum trust { OWNERS, RECORDS, REACHED };

static bool recorded_may_run(struct mprof_stuck *g,
                             struct mprof_stuck_thread *x) {
  uint32_t running = 0;
  for (uint32_t i = 0; i < x->holds_len; i++) {
    const size_t holder = g->holds[x->holds + i]->thread;
    if (g->v[holder].may_run)
      running++;
    else
      x->of = holder;
  }
  return x->needs_all ? running > 0 : running == x->holds_len;
}

static bool may_run(struct mprof_stuck *g, struct mprof_stuck_thread *x,
                    enum trust trust) {
  switch (x->awaited) {
  case MPROF_AWAITS_NOTHING:
    return true;
  case MPROF_AWAITS_OBJECT:
    return trust < REACHED || x->is_reached;
  default:
    break;
  }
  switch (x->holder) {
  case MPROF_HOLDER_THREAD:
    return g->v[x->of].may_run;
  case MPROF_HOLDER_GONE:
    return false;
  case MPROF_HOLDER_RECORDED:
    return trust < RECORDS || recorded_may_run(g, x);
  default:
    return true;
  }
}

// Sets may_run of all threads. Uses the kinds of evidence that `trust` allows.
// Computes the smallest set of threads that may run. All other threads wait for
// one another, or for threads that have ended.
static void settle(struct mprof_stuck *g, enum trust trust) {
  for (size_t i = 0; i < g->len; i++)
    g->v[i].may_run = false;
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (size_t i = 0; i < g->len; i++)
      if (!g->v[i].may_run && may_run(g, &g->v[i], trust))
        g->v[i].may_run = has_changed = true;
  }
}

void mprof_stuck_graph_settle(struct mprof_stuck *g) { settle(g, REACHED); }

void mprof_stuck_graph_judge(struct mprof_stuck *g, bool scanned) {
  g->stuck = g->certain = g->likely = 0;
  settle(g, OWNERS);
  for (size_t i = 0; i < g->len; i++)
    g->v[i].grade = g->v[i].may_run ? MPROF_MAY_RUN : MPROF_STUCK_CERTAIN;
  settle(g, scanned ? REACHED : RECORDS);
  for (size_t i = 0; i < g->len; i++) {
    struct mprof_stuck_thread *x = &g->v[i];
    if (!x->may_run && x->grade == MPROF_MAY_RUN)
      x->grade = MPROF_STUCK_LIKELY;
    g->certain += x->grade == MPROF_STUCK_CERTAIN;
    g->likely += x->grade == MPROF_STUCK_LIKELY;
  }
  g->stuck = g->certain + g->likely;
}

// Finds cycles by walks that begin at each stuck thread and follow the edges,
// which lead from a waiting thread to the holder of its lock. A stuck thread
// has at most one edge. So a walk ends at a thread without an edge, at a thread
// of an earlier walk, or at a thread of this walk. If the walk ends at a thread
// of this walk, a cycle is found.
void mprof_stuck_graph_cycles(struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++) {
    size_t at = i;
    while (at != MPROF_NO_THREAD && g->v[at].grade != MPROF_MAY_RUN &&
           g->v[at].walk == 0) {
      g->v[at].walk = i + 1;
      at = g->v[at].of;
    }
    if (at == MPROF_NO_THREAD || g->v[at].walk != i + 1)
      continue;
    g->cycles++;
    for (; g->v[at].cycle == 0; at = g->v[at].of)
      g->v[at].cycle = g->cycles;
  }
}
