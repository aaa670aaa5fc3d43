// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "v2_explain.h"

#include "report.h"
#include "trace_data.h"
#include "v2_state.h"
#include "v2_types.h"

#include <inttypes.h>

static void explain_g(struct v2_state *s, const struct trace_event *ev,
                      enum g_status wanted, enum trace_rule rule) {
  uint64_t id = ev->args[0];
  const struct g_state *g = v2_g_of(s, id);
  const char *text = describe(ev);
  if (g->status == G_ABSENT)
    V2_FAIL(s, ev, THREAD_UNKNOWN,
            "%s: no earlier GoCreate or GoStatus event introduces G %" PRIu64,
            text, id);
  else if (g->generation != s->trace->generation)
    V2_FAIL(s, ev, STATUS_MISSING,
            "%s: generation %" PRIu64 " has no GoStatus event for G %" PRIu64,
            text, s->trace->generation, id);
  else if (g->status != wanted)
    violate(s->trace, rule, ev->offset, "%s: G %" PRIu64 " is %s, not %s", text,
            id, v2_g_names[g->status], v2_g_names[wanted]);
  else
    V2_FAIL(
        s, ev, SEQUENCE,
        "%s: the sequence number must be 1 more than the last one of G %" PRIu64
        ", which is %" PRIu64,
        text, id, g->seq);
}

static void explain_p(struct v2_state *s, const struct trace_event *ev,
                      const char *wanted, bool right) {
  uint64_t id = ev->args[0];
  const struct p_state *p = v2_p_of(s, id);
  const char *text = describe(ev);
  if (p->status == P_ABSENT || p->generation != s->trace->generation)
    V2_FAIL(s, ev, STATUS_MISSING,
            "%s: generation %" PRIu64 " has no ProcStatus event for P %" PRIu64,
            text, s->trace->generation, id);
  else if (!right)
    V2_FAIL(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not %s", text, id,
            v2_p_names[p->status], wanted);
  else if (!v2_follows(s, p->generation, p->seq, ev->args[1]))
    V2_FAIL(
        s, ev, PROC_SEQUENCE,
        "%s: the sequence number must be 1 more than the last one of P %" PRIu64
        ", which is %" PRIu64,
        text, id, p->seq);
  else
    V2_FAIL(s, ev, CONTEXT, "%s: the kernel thread already has P %" PRIu64,
            text, v2_m_of(s, ev->m)->p);
}

void v2_explain(struct v2_state *s, const struct trace_event *ev) {
  switch (ev->type) {
  case V2_ProcStart:
    explain_p(s, ev, v2_p_names[P_IDLE],
              v2_p_of(s, ev->args[0])->status == P_IDLE);
    break;
  case V2_ProcSteal: {
    enum p_status status = v2_p_of(s, ev->args[0])->status;
    explain_p(s, ev, v2_p_names[P_IN_CALL],
              status == P_IN_CALL || status == P_ABANDONED);
    break;
  }
  case V2_GoStart:
    explain_g(s, ev, G_RUNNABLE, TRACE_RULE_START_RUNNABLE);
    break;
  case V2_GoUnblock:
  case V2_GoSwitch:
  case V2_GoSwitchDestroy:
    explain_g(s, ev, G_WAITING, TRACE_RULE_UNBLOCK_WAITING);
    break;
  case V2_GoSyscallEndBlocked:
    V2_FAIL(s, ev, CALL_STATE,
            "%s: no ProcSteal event has taken the processor (P) from the "
            "kernel thread",
            describe(ev));
    break;
  default:
    V2_FAIL(s, ev, GC_SEQUENCE,
            "%s: the number must be 1 more than that of the last garbage "
            "collection event, which is %" PRIu64,
            describe(ev), s->collection_seq);
    break;
  }
}
