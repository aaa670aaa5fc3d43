// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_thread.h"

#include "report.h"
#include "trace_data.h"
#include "v2_state.h"
#include "v2_types.h"

#include <inttypes.h>

void v2_go_status(struct v2_state *s, const struct trace_event *ev) {
  uint64_t id = ev->args[0], on = ev->args[1], status = ev->args[2];
  struct g_state *g = v2_g_of(s, id);
  if (status == G_ABSENT || status >= G_KINDS) {
    V2_FAIL(s, ev, STATUS_VALUE,
            "%s: %" PRIu64 " is not a status of a thread (G)", describe(ev),
            status);
    return;
  }
  if (g->status != G_ABSENT && g->status != status)
    V2_FAIL(s, ev, STATUS_AGREES, "%s: G %" PRIu64 " is %s", describe(ev), id,
            v2_g_names[g->status]);
  else if (g->status == G_ABSENT && s->trace->generation != s->first_generation)
    V2_FAIL(s, ev, STATUS_LATE,
            "%s: G %" PRIu64
            " did not exist at the end of the previous generation",
            describe(ev), id);
  g->status = (enum g_status)status;
  g->generation = s->trace->generation;
  g->seq = 0;
  if (status == G_RUNNING)
    v2_m_of(s, ev->m)->g = id;
  if (status != G_IN_CALL)
    return;
  if (on == TRACE_NONE) {
    V2_FAIL(s, ev, CONTEXT,
            "%s: a thread (G) in a system call must have a kernel thread",
            describe(ev));
    return;
  }
  struct m_state *m = v2_m_of(s, on);
  bool first = s->trace->generation == s->first_generation;
  if (m->g != id && m->g != TRACE_NONE && !first)
    V2_FAIL(s, ev, STATUS_AGREES,
            "%s: kernel thread %" PRIu64 " has G %" PRIu64, describe(ev), on,
            m->g);
  m->g = id;
}

void v2_go_create(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = v2_m_of(s, ev->m);
  bool in_call = ev->type == V2_GoCreateSyscall;
  v2_check_context(s, ev, in_call ? MAY : MUST, in_call ? MUST_NOT : MAY);
  if (!in_call)
    v2_check_g_status(s, ev, m->g, G_RUNNING);
  struct g_state *g = v2_g_of(s, ev->args[0]);
  if (g->status != G_ABSENT)
    V2_FAIL(s, ev, THREAD_REUSED, "%s: G %" PRIu64 " already exists",
            describe(ev), ev->args[0]);
  g->status = in_call                          ? G_IN_CALL
              : ev->type == V2_GoCreateBlocked ? G_WAITING
                                               : G_RUNNABLE;
  g->generation = s->trace->generation;
  g->seq = 0;
  g->region_count = 0;
  if (in_call)
    v2_m_of(s, ev->m)->g = ev->args[0];
}

static bool can_take_g(struct v2_state *s, const struct trace_event *ev,
                       enum g_status wanted) {
  const struct g_state *g = v2_g_of(s, ev->args[0]);
  return g->status == wanted &&
         v2_follows(s, g->generation, g->seq, ev->args[1]);
}

bool v2_can_take_runnable(struct v2_state *s, const struct trace_event *ev) {
  return can_take_g(s, ev, G_RUNNABLE);
}

bool v2_can_take_waiting(struct v2_state *s, const struct trace_event *ev) {
  return can_take_g(s, ev, G_WAITING);
}

static void set_g(struct v2_state *s, const struct trace_event *ev,
                  enum g_status status) {
  struct g_state *g = v2_g_of(s, ev->args[0]);
  g->status = status;
  g->seq = ev->args[1];
}

void v2_go_start(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST, MUST_NOT);
  set_g(s, ev, G_RUNNING);
  v2_m_of(s, ev->m)->g = ev->args[0];
}

void v2_destroy(struct v2_state *s, const struct trace_event *ev, uint64_t id) {
  struct g_state *g = v2_g_of(s, id);
  if (g->assist || g->stop)
    V2_FAIL(s, ev, OPEN_AT_END,
            "%s: the %s range of the thread (G) has not ended", describe(ev),
            g->assist ? "GCMarkAssist" : "STW");
  g->assist = g->stop = false;
  g->status = G_ABSENT;
}

void v2_go_stop(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE)
    return;
  v2_check_g_status(s, ev, m->g, G_RUNNING);
  if (ev->type == V2_GoDestroy)
    v2_destroy(s, ev, m->g);
  else
    v2_g_of(s, m->g)->status = ev->type == V2_GoStop ? G_RUNNABLE : G_WAITING;
  m->g = TRACE_NONE;
}

// Makes the G in the arguments of ev runnable. Checks nothing about the thread
// of ev, because any thread may unblock a G.
void v2_go_unblock(struct v2_state *s, const struct trace_event *ev) {
  set_g(s, ev, G_RUNNABLE);
}

void v2_go_switch(struct v2_state *s, const struct trace_event *ev) {
  uint64_t old = v2_m_of(s, ev->m)->g;
  v2_check_context(s, ev, MUST, MUST);
  v2_check_g_status(s, ev, old, G_RUNNING);
  if (old != TRACE_NONE) {
    if (ev->type == V2_GoSwitchDestroy)
      v2_destroy(s, ev, old);
    else
      v2_g_of(s, old)->status = G_WAITING;
  }
  set_g(s, ev, G_RUNNING);
  v2_m_of(s, ev->m)->g = ev->args[0];
}
