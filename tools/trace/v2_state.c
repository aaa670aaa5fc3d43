// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generation format: which event can come next, and what must hold for it
// then.
//
// Whether an event can come next, its sequence number and the states of the G
// and the P say that it names; other threads' events may have to come first.
// What must hold is about the thread's own G and P, which only its own events
// change; so when it does not hold, waiting does not help. After a violation
// the event is taken at its word.

#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum g_status {
  G_ABSENT,
  G_RUNNABLE,
  G_RUNNING,
  G_IN_CALL,
  G_WAITING,
  G_KINDS
};
static const char *const g_names[] = {"not known", "runnable", "running",
                                      "in a system call", "waiting"};

enum p_status { P_ABSENT, P_RUNNING, P_IDLE, P_IN_CALL, P_ABANDONED, P_KINDS };
static const char *const p_names[] = {"not known", "running", "idle",
                                      "in a system call",
                                      "in a system call of an unknown thread"};

struct region {
  uint64_t task;
  struct trace_text name;
};

struct g_state {
  enum g_status status;
  uint64_t generation, seq; // seq counts from 0 in each generation
  bool assist, stop;        // open ranges
  struct region *regions;
  size_t region_count, region_capacity;
};

struct p_state {
  enum p_status status;
  uint64_t generation, seq;
  bool sweep;
};

struct m_state {
  uint64_t g, p; // TRACE_NONE: none
};

struct v2_state {
  struct trace *trace;
  uint64_t first_generation;
  struct idmap g_ids, p_ids, m_ids, task_ids;
  struct g_state *gs;
  size_t g_count, g_capacity;
  struct p_state *ps;
  size_t p_count, p_capacity;
  struct m_state *ms;
  size_t m_count, m_capacity;
  bool *tasks;
  size_t task_count, task_capacity;
  bool collections_known, collecting;
  uint64_t collection_seq;
};

#define FAIL(rule, ...)                                                        \
  violate(s->trace, TRACE_RULE_##rule, ev->offset, __VA_ARGS__)

// Pointers into the tables hold until the next id that is new.
static struct g_state *g_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->g_ids, id, &index)) {
    index = s->g_count;
    idmap_add(&s->g_ids, id, index);
    *APPEND(s->gs, s->g_count, s->g_capacity) = (struct g_state){0};
  }
  return &s->gs[index];
}

static struct p_state *p_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->p_ids, id, &index)) {
    index = s->p_count;
    idmap_add(&s->p_ids, id, index);
    *APPEND(s->ps, s->p_count, s->p_capacity) = (struct p_state){0};
  }
  return &s->ps[index];
}

static struct m_state *m_of(struct v2_state *s, uint64_t id) {
  size_t index;
  if (!idmap_find(&s->m_ids, id, &index)) {
    index = s->m_count;
    idmap_add(&s->m_ids, id, index);
    *APPEND(s->ms, s->m_count, s->m_capacity) =
        (struct m_state){TRACE_NONE, TRACE_NONE};
  }
  return &s->ms[index];
}

enum need { MAY, MUST, MUST_NOT };

static const char *lacks(const char *what, enum need need, uint64_t id) {
  static char text[64];
  if (need == MAY || (need == MUST) == (id != TRACE_NONE))
    return NULL;
  snprintf(text, sizeof text, "the thread %s %s",
           need == MUST ? "has no" : "has a", what);
  return text;
}

static void context(struct v2_state *s, const struct trace_event *ev,
                    enum need p, enum need g) {
  const struct m_state *m = m_of(s, ev->m);
  const char *text = ev->m == TRACE_NONE ? "there is no thread" : NULL;
  if (!text)
    text = lacks("P", p, m->p);
  if (!text)
    text = lacks("G", g, m->g);
  if (text)
    FAIL(CONTEXT, "%s: %s", describe(s->trace, ev), text);
}

static bool follows(const struct v2_state *s, uint64_t generation, uint64_t old,
                    uint64_t new) {
  return generation == s->trace->generation && new == old + 1;
}

static void need_g_status(struct v2_state *s, const struct trace_event *ev,
                          uint64_t g, enum g_status wanted) {
  if (g != TRACE_NONE && g_of(s, g)->status != wanted)
    FAIL(NOT_RUNNING, "%s: G %" PRIu64 " is %s, not %s", describe(s->trace, ev),
         g, g_names[g_of(s, g)->status], g_names[wanted]);
}

// --- Ps

static void proc_status(struct v2_state *s, const struct trace_event *ev) {
  uint64_t status = ev->args[1];
  struct p_state *p = p_of(s, ev->args[0]);
  if (status == P_ABSENT || status >= P_KINDS) {
    FAIL(STATUS_VALUE, "%s: %" PRIu64 " is no status of a P",
         describe(s->trace, ev), status);
    return;
  }
  // Who abandons a P may not know that it is still in its call.
  bool promoted = status == P_ABANDONED && p->status == P_IN_CALL;
  if (promoted)
    status = P_IN_CALL;
  if (p->status != P_ABSENT && p->status != status)
    FAIL(STATUS_AGREES, "%s: P %" PRIu64 " is %s", describe(s->trace, ev),
         ev->args[0], p_names[p->status]);
  p->status = (enum p_status)status;
  p->generation = s->trace->generation;
  p->seq = 0;
  if (!promoted && (status == P_RUNNING || status == P_IN_CALL))
    m_of(s, ev->m)->p = ev->args[0];
}

static bool can_start_proc(struct v2_state *s, const struct trace_event *ev) {
  const struct p_state *p = p_of(s, ev->args[0]);
  return p->status == P_IDLE &&
         follows(s, p->generation, p->seq, ev->args[1]) &&
         m_of(s, ev->m)->p == TRACE_NONE;
}

static void proc_start(struct v2_state *s, const struct trace_event *ev) {
  context(s, ev, MUST_NOT, MAY);
  struct p_state *p = p_of(s, ev->args[0]);
  p->status = P_RUNNING;
  p->seq = ev->args[1];
  m_of(s, ev->m)->p = ev->args[0];
}

static void proc_stop(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = m_of(s, ev->m);
  context(s, ev, MUST, MAY);
  if (m->p == TRACE_NONE)
    return;
  p_of(s, m->p)->status = P_IDLE;
  m->p = TRACE_NONE;
}

static bool can_steal(struct v2_state *s, const struct trace_event *ev) {
  const struct p_state *p = p_of(s, ev->args[0]);
  return (p->status == P_IN_CALL || p->status == P_ABANDONED) &&
         follows(s, p->generation, p->seq, ev->args[1]);
}

static void proc_steal(struct v2_state *s, const struct trace_event *ev) {
  struct p_state *p = p_of(s, ev->args[0]);
  bool abandoned = p->status == P_ABANDONED;
  context(s, ev, MAY, MAY);
  p->status = P_IDLE;
  p->seq = ev->args[1];
  if (abandoned)
    return; // nobody knows of which thread
  struct m_state *victim = m_of(s, ev->args[2]);
  if (victim->p != ev->args[0])
    FAIL(PROC_STATE, "%s: thread %" PRIu64 " does not have P %" PRIu64,
         describe(s->trace, ev), ev->args[2], ev->args[0]);
  victim->p = TRACE_NONE;
}

// --- Gs

static void go_status(struct v2_state *s, const struct trace_event *ev) {
  uint64_t id = ev->args[0], on = ev->args[1], status = ev->args[2];
  struct g_state *g = g_of(s, id);
  if (status == G_ABSENT || status >= G_KINDS) {
    FAIL(STATUS_VALUE, "%s: %" PRIu64 " is no status of a G",
         describe(s->trace, ev), status);
    return;
  }
  if (g->status != G_ABSENT && g->status != status)
    FAIL(STATUS_AGREES, "%s: G %" PRIu64 " is %s", describe(s->trace, ev), id,
         g_names[g->status]);
  else if (g->status == G_ABSENT && s->trace->generation != s->first_generation)
    FAIL(STATUS_LATE, "%s: nothing before this generation has G %" PRIu64,
         describe(s->trace, ev), id);
  g->status = (enum g_status)status;
  g->generation = s->trace->generation;
  g->seq = 0;
  if (status == G_RUNNING)
    m_of(s, ev->m)->g = id;
  if (status != G_IN_CALL)
    return;
  if (on == TRACE_NONE) {
    FAIL(CONTEXT, "%s: a system call has a thread", describe(s->trace, ev));
    return;
  }
  struct m_state *m = m_of(s, on);
  bool first = s->trace->generation == s->first_generation;
  if (m->g != id && m->g != TRACE_NONE && !first)
    FAIL(STATUS_AGREES, "%s: thread %" PRIu64 " has G %" PRIu64,
         describe(s->trace, ev), on, m->g);
  m->g = id;
}

static void go_create(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = m_of(s, ev->m);
  bool in_call = ev->type == V2_GoCreateSyscall;
  context(s, ev, in_call ? MAY : MUST, in_call ? MUST_NOT : MAY);
  if (!in_call)
    need_g_status(s, ev, m->g, G_RUNNING);
  struct g_state *g = g_of(s, ev->args[0]);
  if (g->status != G_ABSENT)
    FAIL(THREAD_REUSED, "%s: G %" PRIu64 " exists already",
         describe(s->trace, ev), ev->args[0]);
  g->status = in_call                          ? G_IN_CALL
              : ev->type == V2_GoCreateBlocked ? G_WAITING
                                               : G_RUNNABLE;
  g->generation = s->trace->generation;
  g->seq = 0;
  g->region_count = 0;
  if (in_call)
    m_of(s, ev->m)->g = ev->args[0];
}

static bool can_take_g(struct v2_state *s, const struct trace_event *ev,
                       enum g_status wanted) {
  const struct g_state *g = g_of(s, ev->args[0]);
  return g->status == wanted && follows(s, g->generation, g->seq, ev->args[1]);
}

static void set_g(struct v2_state *s, const struct trace_event *ev,
                  enum g_status status) {
  struct g_state *g = g_of(s, ev->args[0]);
  g->status = status;
  g->seq = ev->args[1];
}

static void go_start(struct v2_state *s, const struct trace_event *ev) {
  context(s, ev, MUST, MUST_NOT);
  set_g(s, ev, G_RUNNING);
  m_of(s, ev->m)->g = ev->args[0];
}

static void destroy(struct v2_state *s, const struct trace_event *ev,
                    uint64_t id) {
  struct g_state *g = g_of(s, id);
  if (g->assist || g->stop)
    FAIL(OPEN_AT_END, "%s: its %s has not ended", describe(s->trace, ev),
         g->assist ? "GCMarkAssist" : "STW");
  g->assist = g->stop = false;
  g->status = G_ABSENT;
}

static void go_stop(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = m_of(s, ev->m);
  context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_g_status(s, ev, m->g, G_RUNNING);
  if (ev->type == V2_GoDestroy)
    destroy(s, ev, m->g);
  else
    g_of(s, m->g)->status = ev->type == V2_GoStop ? G_RUNNABLE : G_WAITING;
  m->g = TRACE_NONE;
}

static void go_switch(struct v2_state *s, const struct trace_event *ev) {
  uint64_t old = m_of(s, ev->m)->g;
  context(s, ev, MUST, MUST);
  need_g_status(s, ev, old, G_RUNNING);
  if (old != TRACE_NONE) {
    if (ev->type == V2_GoSwitchDestroy)
      destroy(s, ev, old);
    else
      g_of(s, old)->status = G_WAITING;
  }
  set_g(s, ev, G_RUNNING);
  m_of(s, ev->m)->g = ev->args[0];
}

// --- System calls

static void call_begin(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = m_of(s, ev->m);
  context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  need_g_status(s, ev, m->g, G_RUNNING);
  g_of(s, m->g)->status = G_IN_CALL;
  struct p_state *p = p_of(s, m->p);
  if (!follows(s, p->generation, p->seq, ev->args[0]))
    FAIL(PROC_SEQUENCE, "%s: P %" PRIu64 " is at sequence number %" PRIu64,
         describe(s->trace, ev), m->p, p->seq);
  p->status = P_IN_CALL;
  p->generation = s->trace->generation;
  p->seq = ev->args[0];
}

static void need_call(struct v2_state *s, const struct trace_event *ev,
                      uint64_t g) {
  if (g_of(s, g)->status != G_IN_CALL)
    FAIL(CALL_STATE, "%s: G %" PRIu64 " is %s, not in a system call",
         describe(s->trace, ev), g, g_names[g_of(s, g)->status]);
}

static void call_end(struct v2_state *s, const struct trace_event *ev) {
  const struct m_state *m = m_of(s, ev->m);
  context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  g_of(s, m->g)->status = G_RUNNING;
  struct p_state *p = p_of(s, m->p);
  if (p->status != P_IN_CALL)
    FAIL(PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
         describe(s->trace, ev), m->p, p_names[p->status]);
  p->status = P_RUNNING;
}

// A call that lost its P ends after the P was taken.
static bool can_end_blocked(struct v2_state *s, const struct trace_event *ev) {
  uint64_t p = m_of(s, ev->m)->p;
  return p == TRACE_NONE || p_of(s, p)->status != P_IN_CALL;
}

static void call_end_blocked(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = m_of(s, ev->m);
  context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  g_of(s, m->g)->status = G_RUNNABLE;
  m->g = TRACE_NONE;
}

static void destroy_in_call(struct v2_state *s, const struct trace_event *ev) {
  struct m_state *m = m_of(s, ev->m);
  context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  destroy(s, ev, m->g);
  m->g = TRACE_NONE;
  if (m->p == TRACE_NONE)
    return;
  struct p_state *p = p_of(s, m->p);
  if (p->status != P_IN_CALL)
    FAIL(PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
         describe(s->trace, ev), m->p, p_names[p->status]);
  p->status = P_ABANDONED;
  m->p = TRACE_NONE;
}

// --- Tasks, regions, collections

static void task_begin(struct v2_state *s, const struct trace_event *ev) {
  size_t index;
  if (!idmap_find(&s->task_ids, ev->args[0], &index)) {
    index = s->task_count;
    idmap_add(&s->task_ids, ev->args[0], index);
    *APPEND(s->tasks, s->task_count, s->task_capacity) = false;
  }
  if (s->tasks[index])
    FAIL(TASK_UNIQUE, "%s: task %" PRIu64 " has not ended",
         describe(s->trace, ev), ev->args[0]);
  s->tasks[index] = true;
}

static void task_end(struct v2_state *s, const struct trace_event *ev) {
  size_t index;
  if (idmap_find(&s->task_ids, ev->args[0], &index))
    s->tasks[index] = false;
}

static void region(struct v2_state *s, const struct trace_event *ev) {
  uint64_t id = m_of(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = g_of(s, id);
  // By its text: ids change with the generation.
  struct trace_text name = trace_string(s->trace, ev->args[1]);
  if (ev->type == V2_UserRegionBegin) {
    *APPEND(g->regions, g->region_count, g->region_capacity) =
        (struct region){ev->args[0], name};
  } else if (g->region_count) {
    const struct region *open = &g->regions[--g->region_count];
    if (open->task != ev->args[0] || open->name.length != name.length ||
        memcmp(open->name.bytes, name.bytes, name.length) != 0)
      FAIL(REGION_NESTING, "%s: the innermost region is %.*s of task %" PRIu64,
           describe(s->trace, ev), (int)open->name.length, open->name.bytes,
           open->task);
  }
}

// open: whether a range is open; begins: whether the event begins one.
static void range(struct v2_state *s, const struct trace_event *ev, bool *open,
                  bool begins, enum trace_rule rule) {
  if (*open == begins)
    violate(s->trace, rule, ev->offset, "%s: one is %s", describe(s->trace, ev),
            begins ? "going on" : "not going on");
  *open = begins;
}

// One that is said to go on at the start of a generation.
static void active(struct v2_state *s, const struct trace_event *ev, bool *open,
                   enum trace_rule rule) {
  bool first = s->trace->generation == s->first_generation;
  if (*open == first)
    violate(s->trace, rule, ev->offset, "%s: one is %s", describe(s->trace, ev),
            first ? "known to go on" : "not going on");
  *open = true;
}

static void stop_or_assist(struct v2_state *s, const struct trace_event *ev) {
  context(s, ev, MUST, MUST);
  uint64_t id = m_of(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = g_of(s, id);
  if (ev->type == V2_STWBegin || ev->type == V2_STWEnd)
    range(s, ev, &g->stop, ev->type == V2_STWBegin, TRACE_RULE_STOP_NESTING);
  else
    range(s, ev, &g->assist, ev->type == V2_GCMarkAssistBegin,
          TRACE_RULE_ASSIST_NESTING);
}

static void sweep(struct v2_state *s, const struct trace_event *ev) {
  context(s, ev, MUST, MAY);
  uint64_t p = m_of(s, ev->m)->p;
  if (p != TRACE_NONE)
    range(s, ev, &p_of(s, p)->sweep, ev->type == V2_GCSweepBegin,
          TRACE_RULE_SWEEP_NESTING);
}

static bool is_next_collection(const struct v2_state *s,
                               const struct trace_event *ev) {
  bool any = !s->collections_known && ev->type != V2_GCEnd;
  return any || ev->args[0] == s->collection_seq + 1;
}

static void collection(struct v2_state *s, const struct trace_event *ev) {
  bool first = !s->collections_known;
  if (!first) {
    bool wanted = ev->type != V2_GCBegin;
    if (s->collecting != wanted)
      FAIL(GC_NESTING, "%s: a collection is %s", describe(s->trace, ev),
           s->collecting ? "going on" : "not going on");
    context(s, ev, MUST, MUST);
  } else if (ev->type == V2_GCEnd) {
    FAIL(GC_NESTING, "%s: no collection is known", describe(s->trace, ev));
  }
  s->collections_known = true;
  s->collecting = ev->type != V2_GCEnd;
  s->collection_seq = ev->args[0];
}

// --- The way of an event

static bool is_ready(struct v2_state *s, const struct trace_event *ev) {
  switch (ev->type) {
  case V2_ProcStart:
    return can_start_proc(s, ev);
  case V2_ProcSteal:
    return can_steal(s, ev);
  case V2_GoStart:
    return can_take_g(s, ev, G_RUNNABLE);
  case V2_GoUnblock:
  case V2_GoSwitch:
  case V2_GoSwitchDestroy:
    return can_take_g(s, ev, G_WAITING);
  case V2_GoSyscallEndBlocked:
    return can_end_blocked(s, ev);
  case V2_GCActive:
  case V2_GCBegin:
  case V2_GCEnd:
    return is_next_collection(s, ev);
  default:
    return true;
  }
}

static void apply(struct v2_state *s, const struct trace_event *ev) {
  switch (ev->type) {
  case V2_ProcStatus:
    proc_status(s, ev);
    break;
  case V2_ProcStart:
    proc_start(s, ev);
    break;
  case V2_ProcStop:
    proc_stop(s, ev);
    break;
  case V2_ProcSteal:
    proc_steal(s, ev);
    break;
  case V2_GoStatus:
  case V2_GoStatusStack:
    go_status(s, ev);
    break;
  case V2_GoCreate:
  case V2_GoCreateBlocked:
  case V2_GoCreateSyscall:
    go_create(s, ev);
    break;
  case V2_GoStart:
    go_start(s, ev);
    break;
  case V2_GoDestroy:
  case V2_GoStop:
  case V2_GoBlock:
    go_stop(s, ev);
    break;
  case V2_GoDestroySyscall:
    destroy_in_call(s, ev);
    break;
  case V2_GoUnblock:
    set_g(s, ev, G_RUNNABLE); // anybody may unblock
    break;
  case V2_GoSwitch:
  case V2_GoSwitchDestroy:
    go_switch(s, ev);
    break;
  case V2_GoSyscallBegin:
    call_begin(s, ev);
    break;
  case V2_GoSyscallEnd:
    call_end(s, ev);
    break;
  case V2_GoSyscallEndBlocked:
    call_end_blocked(s, ev);
    break;
  case V2_STWBegin:
  case V2_STWEnd:
  case V2_GCMarkAssistBegin:
  case V2_GCMarkAssistEnd:
    stop_or_assist(s, ev);
    break;
  case V2_GCMarkAssistActive:
    active(s, ev, &g_of(s, ev->args[0])->assist, TRACE_RULE_ASSIST_NESTING);
    break;
  case V2_GCActive:
  case V2_GCBegin:
  case V2_GCEnd:
    collection(s, ev);
    break;
  case V2_GCSweepBegin:
  case V2_GCSweepEnd:
    sweep(s, ev);
    break;
  case V2_GCSweepActive:
    active(s, ev, &p_of(s, ev->args[0])->sweep, TRACE_RULE_SWEEP_NESTING);
    break;
  case V2_HeapAlloc:
  case V2_HeapGoal:
    context(s, ev, MUST, MAY);
    break;
  case V2_UserTaskBegin:
    task_begin(s, ev);
    context(s, ev, MUST, MUST);
    break;
  case V2_UserTaskEnd:
    task_end(s, ev);
    context(s, ev, MUST, MUST);
    break;
  case V2_UserRegionBegin:
  case V2_UserRegionEnd:
    context(s, ev, MUST, MUST);
    region(s, ev);
    break;
  default: // ProcsChange, GoLabel, UserLog
    context(s, ev, MUST, MUST);
    break;
  }
}

bool v2_advance(struct v2_state *s, struct trace_event *ev) {
  if (!is_ready(s, ev))
    return false;
  const struct m_state *m = m_of(s, ev->m);
  ev->p = m->p;
  ev->g = m->g == TRACE_NONE ? 0 : m->g;
  apply(s, ev);
  v2_check_ids(s->trace, ev);
  return true;
}

static void explain_g(struct v2_state *s, const struct trace_event *ev,
                      enum g_status wanted, enum trace_rule rule) {
  uint64_t id = ev->args[0];
  const struct g_state *g = g_of(s, id);
  const char *text = describe(s->trace, ev);
  if (g->status == G_ABSENT)
    FAIL(THREAD_UNKNOWN, "%s: no event has made or found G %" PRIu64, text, id);
  else if (g->generation != s->trace->generation)
    FAIL(STATUS_MISSING,
         "%s: generation %" PRIu64 " has no GoStatus of G %" PRIu64, text,
         s->trace->generation, id);
  else if (g->status != wanted)
    violate(s->trace, rule, ev->offset, "%s: G %" PRIu64 " is %s, not %s", text,
            id, g_names[g->status], g_names[wanted]);
  else
    FAIL(SEQUENCE, "%s: G %" PRIu64 " is at sequence number %" PRIu64, text, id,
         g->seq);
}

static void explain_p(struct v2_state *s, const struct trace_event *ev,
                      const char *wanted, bool right) {
  uint64_t id = ev->args[0];
  const struct p_state *p = p_of(s, id);
  const char *text = describe(s->trace, ev);
  if (p->status == P_ABSENT || p->generation != s->trace->generation)
    FAIL(STATUS_MISSING,
         "%s: generation %" PRIu64 " has no ProcStatus of P %" PRIu64, text,
         s->trace->generation, id);
  else if (!right)
    FAIL(PROC_STATE, "%s: P %" PRIu64 " is %s, not %s", text, id,
         p_names[p->status], wanted);
  else if (!follows(s, p->generation, p->seq, ev->args[1]))
    FAIL(PROC_SEQUENCE, "%s: P %" PRIu64 " is at sequence number %" PRIu64,
         text, id, p->seq);
  else
    FAIL(CONTEXT, "%s: the thread has P %" PRIu64, text, m_of(s, ev->m)->p);
}

void v2_explain(struct v2_state *s, const struct trace_event *ev) {
  switch (ev->type) {
  case V2_ProcStart:
    explain_p(s, ev, p_names[P_IDLE], p_of(s, ev->args[0])->status == P_IDLE);
    break;
  case V2_ProcSteal: {
    enum p_status status = p_of(s, ev->args[0])->status;
    explain_p(s, ev, p_names[P_IN_CALL],
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
    FAIL(CALL_STATE, "%s: the thread still has its P", describe(s->trace, ev));
    break;
  default:
    FAIL(GC_SEQUENCE, "%s: the last one has number %" PRIu64,
         describe(s->trace, ev), s->collection_seq);
    break;
  }
}

struct v2_state *v2_state_new(struct trace *t) {
  struct v2_state *s = zeroed(1, sizeof *s);
  s->trace = t;
  return s;
}

void v2_begin_generation(struct v2_state *s) {
  if (!s->first_generation)
    s->first_generation = s->trace->generation;
}

void v2_state_free(struct v2_state *s) {
  idmap_clear(&s->g_ids);
  idmap_clear(&s->p_ids);
  idmap_clear(&s->m_ids);
  idmap_clear(&s->task_ids);
  for (size_t i = 0; i < s->g_count; i++)
    free(s->gs[i].regions);
  free(s->gs);
  free(s->ps);
  free(s->ms);
  free(s->tasks);
  free(s);
}
