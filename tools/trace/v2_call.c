// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_call.h"

#include "report.h"
#include "trace_data.h"
#include "v2_state.h"
#include "v2_thread.h"

#include <inttypes.h>

void v2_call_begin(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  v2_check_g_status(s, ev, m->g, G_RUNNING);
  v2_g_of(s, m->g)->status = G_IN_CALL;
  struct p_state *p = v2_p_of(s, m->p);
  if (!v2_follows(s, p->generation, p->seq, ev->args[0]))
    V2_FAIL(s, ev, PROC_SEQUENCE,
            "%s: no event of this generation gives P %" PRIu64
            " the preceding sequence number; its last one is %" PRIu64,
            describe(ev), m->p, p->seq);
  p->status = P_IN_CALL;
  p->generation = s->trace->generation;
  p->seq = ev->args[0];
}

static void need_call(struct v2_state *s, const struct trace_event *ev,
                      uint64_t g) {
  if (v2_g_of(s, g)->status != G_IN_CALL)
    V2_FAIL(s, ev, CALL_STATE, "%s: G %" PRIu64 " is %s, not in a system call",
            describe(ev), g, v2_g_names[v2_g_of(s, g)->status]);
}

void v2_call_end(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  v2_g_of(s, m->g)->status = G_RUNNING;
  struct p_state *p = v2_p_of(s, m->p);
  if (p->status != P_IN_CALL)
    V2_FAIL(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
            describe(ev), m->p, v2_p_names[p->status]);
  p->status = P_RUNNING;
}

// Returns whether the event GoSyscallEndBlocked can come next. It means that
// another thread has taken the P (processor of Go's scheduler) with which the
// system call began. So the event ProcSteal, by which that thread took the P,
// must come first.
bool v2_can_end_blocked(struct v2_state *s, const struct trace_event *ev) {
  uint64_t p = v2_m_of(s, ev->m)->p;
  return p == TRACE_NONE || v2_p_of(s, p)->status != P_IN_CALL;
}

void v2_call_end_blocked(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  v2_g_of(s, m->g)->status = G_RUNNABLE;
  m->g = TRACE_NONE;
}

void v2_destroy_in_call(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  v2_destroy(s, ev, m->g);
  m->g = TRACE_NONE;
  if (m->p == TRACE_NONE)
    return;
  struct p_state *p = v2_p_of(s, m->p);
  if (p->status != P_IN_CALL)
    V2_FAIL(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
            describe(ev), m->p, v2_p_names[p->status]);
  p->status = P_ABANDONED;
  m->p = TRACE_NONE;
}
