// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_proc.h"

#include "report.h"
#include "trace_data.h"
#include "v2_state.h"

#include <inttypes.h>

void v2_proc_status(struct v2_state *s, const struct trace_event *ev) {
  uint64_t status = ev->args[1];
  struct p_state *p = v2_p_of(s, ev->args[0]);
  if (status == P_ABSENT || status >= P_KINDS) {
    V2_FAIL(s, ev, STATUS_VALUE,
            "%s: %" PRIu64 " is not a status of a processor (P)", describe(ev),
            status);
    return;
  }
  // P_ABANDONED means that the P belongs to a thread in a system call, but that
  // the writer of the status may not know which thread. If an earlier event has
  // given the P to a thread, keep P_IN_CALL, so that the P still belongs to
  // this thread.
  bool promoted = status == P_ABANDONED && p->status == P_IN_CALL;
  if (promoted)
    status = P_IN_CALL;
  if (p->status != P_ABSENT && p->status != status)
    V2_FAIL(s, ev, STATUS_AGREES, "%s: P %" PRIu64 " is %s", describe(ev),
            ev->args[0], v2_p_names[p->status]);
  p->status = (enum p_status)status;
  p->generation = s->trace->generation;
  p->seq = 0;
  if (!promoted && (status == P_RUNNING || status == P_IN_CALL))
    v2_m_of(s, ev->m)->p = ev->args[0];
}

bool v2_can_start_proc(struct v2_state *s, const struct trace_event *ev) {
  const struct p_state *p = v2_p_of(s, ev->args[0]);
  return p->status == P_IDLE &&
         v2_follows(s, p->generation, p->seq, ev->args[1]) &&
         v2_m_of(s, ev->m)->p == TRACE_NONE;
}

void v2_proc_start(struct v2_state *s, const struct trace_event *ev) {
  v2_check_context(s, ev, MUST_NOT, MAY);
  struct p_state *p = v2_p_of(s, ev->args[0]);
  p->status = P_RUNNING;
  p->seq = ev->args[1];
  v2_m_of(s, ev->m)->p = ev->args[0];
}

void v2_proc_stop(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = v2_m_of(s, ev->m);
  v2_check_context(s, ev, MUST, MAY);
  if (m->p == TRACE_NONE)
    return;
  v2_p_of(s, m->p)->status = P_IDLE;
  m->p = TRACE_NONE;
}

bool v2_can_steal(struct v2_state *s, const struct trace_event *ev) {
  const struct p_state *p = v2_p_of(s, ev->args[0]);
  return (p->status == P_IN_CALL || p->status == P_ABANDONED) &&
         v2_follows(s, p->generation, p->seq, ev->args[1]);
}

void v2_proc_steal(struct v2_state *s, const struct trace_event *ev) {
  struct p_state *p = v2_p_of(s, ev->args[0]);
  bool abandoned = p->status == P_ABANDONED;
  v2_check_context(s, ev, MAY, MAY);
  p->status = P_IDLE;
  p->seq = ev->args[1];
  if (abandoned)
    return; // it is not known which thread had the P
  struct m_state *victim = v2_m_of(s, ev->args[2]);
  if (victim->p != ev->args[0])
    V2_FAIL(s, ev, PROC_STATE,
            "%s: kernel thread %" PRIu64 " does not have P %" PRIu64,
            describe(ev), ev->args[2], ev->args[0]);
  victim->p = TRACE_NONE;
}
