// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides whether an event can come next in the merged order, checks it, and
// changes the states of Gs, Ps and Ms (event.h) accordingly.
//
// states_advance tests two kinds of conditions. The first kind is about the
// event's sequence number and about the G or the P in the event's arguments. If
// such a condition does not hold, the event has to wait, because events of
// other threads may have to come first.
//
// The second kind is about the G and the P of the event's own thread. No event
// of another thread can make such a condition true. So if the condition does
// not hold, the event is a violation. After a violation, the event is applied
// as if it were right.

#include "states.h"

#include "common/idmap.h"
#include "common/memory.h"
#include "event_types.h"
#include "report.h"
#include "scan.h"
#include "table.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

const char *const g_status_names[] = {"not known", "runnable", "running",
                                      "in a system call", "waiting"};

const char *const p_status_names[] = {"not known", "running", "idle",
                                      "in a system call",
                                      "in a system call of an unknown thread"};

struct g_state *state_of_g(struct states *s, uint64_t id) {
  const size_t index = idmap_get(&s->g_ids, id, s->g_count);
  if (index == s->g_count)
    *APPEND(s->gs, s->g_count, s->g_capacity) = (struct g_state){0};
  return &s->gs[index];
}

struct p_state *state_of_p(struct states *s, uint64_t id) {
  const size_t index = idmap_get(&s->p_ids, id, s->p_count);
  if (index == s->p_count)
    *APPEND(s->ps, s->p_count, s->p_capacity) = (struct p_state){0};
  return &s->ps[index];
}

struct m_state *state_of_m(struct states *s, uint64_t id) {
  // Many events in turn are of one thread.
  if (s->m_count && s->last_m == id)
    return &s->ms[s->last_m_index];
  const size_t index = idmap_get(&s->m_ids, id, s->m_count);
  if (index == s->m_count)
    *APPEND(s->ms, s->m_count, s->m_capacity) =
        (struct m_state){TRACE_NONE, TRACE_NONE};
  s->last_m = id;
  s->last_m_index = index;
  return &s->ms[index];
}

struct states *states_new(struct trace *t) {
  struct states *s = zeroed(1, sizeof *s);
  s->trace = t;
  return s;
}

void states_begin_generation(struct states *s) {
  if (!s->first_generation)
    s->first_generation = s->trace->generation;
}

void states_free(struct states *s) {
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

enum need { MAY, MUST, MUST_NOT };

static const char *lacks(const char *what, enum need need, uint64_t id) {
  static char text[64];
  if (need == MAY || (need == MUST) == (id != TRACE_NONE))
    return NULL;
  snprintf(text, sizeof text, "the kernel thread must %shave a %s",
           need == MUST ? "" : "not ", what);
  return text;
}

// Reports a violation if the thread of ev has a P (processor) or a G
// (goroutine) that it must not have, or lacks a P or a G that it must have. p
// and g say what is required. MUST: the thread must have one. MUST_NOT: the
// thread must have none. MAY: both are valid.
static void check_context(struct states *s, const struct trace_event *ev,
                          enum need p, enum need g) {
  const struct m_state *m = state_of_m(s, ev->m);
  const char *text =
      ev->m == TRACE_NONE ? "the event must have a kernel thread" : NULL;
  if (!text)
    text = lacks("processor (P)", p, m->p);
  if (!text)
    text = lacks("thread (G)", g, m->g);
  if (text)
    VIOLATE(s, ev, CONTEXT, "%s: %s", describe(ev), text);
}

bool is_next_in_sequence(const struct states *s, uint64_t generation,
                         uint64_t old, uint64_t new) {
  return generation == s->trace->generation && new == old + 1;
}

// Reports a violation if the G (goroutine) g is not in the state `wanted`. Does
// nothing if g is TRACE_NONE.
static void check_g_status(struct states *s, const struct trace_event *ev,
                           uint64_t g, enum g_status wanted) {
  if (g != TRACE_NONE && state_of_g(s, g)->status != wanted)
    VIOLATE(s, ev, NOT_RUNNING, "%s: G %" PRIu64 " is %s, not %s", describe(ev),
            g, g_status_names[state_of_g(s, g)->status],
            g_status_names[wanted]);
}

// --- Ps (processors) ---

static void proc_status(struct states *s, const struct trace_event *ev) {
  uint64_t status = ev->args[1];
  struct p_state *p = state_of_p(s, ev->args[0]);
  if (status == P_ABSENT || status >= P_KINDS) {
    VIOLATE(s, ev, STATUS_VALUE,
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
    VIOLATE(s, ev, STATUS_AGREES, "%s: P %" PRIu64 " is %s", describe(ev),
            ev->args[0], p_status_names[p->status]);
  p->status = (enum p_status)status;
  p->generation = s->trace->generation;
  p->seq = 0;
  if (!promoted && (status == P_RUNNING || status == P_IN_CALL))
    state_of_m(s, ev->m)->p = ev->args[0];
}

static bool can_start_proc(struct states *s, const struct trace_event *ev) {
  const struct p_state *p = state_of_p(s, ev->args[0]);
  return p->status == P_IDLE &&
         is_next_in_sequence(s, p->generation, p->seq, ev->args[1]) &&
         state_of_m(s, ev->m)->p == TRACE_NONE;
}

static void proc_start(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST_NOT, MAY);
  struct p_state *p = state_of_p(s, ev->args[0]);
  p->status = P_RUNNING;
  p->seq = ev->args[1];
  state_of_m(s, ev->m)->p = ev->args[0];
}

static void proc_stop(struct states *s, const struct trace_event *ev) {
  struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MUST, MAY);
  if (m->p == TRACE_NONE)
    return;
  state_of_p(s, m->p)->status = P_IDLE;
  m->p = TRACE_NONE;
}

static bool can_steal(struct states *s, const struct trace_event *ev) {
  const struct p_state *p = state_of_p(s, ev->args[0]);
  return (p->status == P_IN_CALL || p->status == P_ABANDONED) &&
         is_next_in_sequence(s, p->generation, p->seq, ev->args[1]);
}

static void proc_steal(struct states *s, const struct trace_event *ev) {
  struct p_state *p = state_of_p(s, ev->args[0]);
  bool abandoned = p->status == P_ABANDONED;
  check_context(s, ev, MAY, MAY);
  p->status = P_IDLE;
  p->seq = ev->args[1];
  if (abandoned)
    return; // it is not known which thread had the P
  struct m_state *victim = state_of_m(s, ev->args[2]);
  if (victim->p != ev->args[0])
    VIOLATE(s, ev, PROC_STATE,
            "%s: kernel thread %" PRIu64 " does not have P %" PRIu64,
            describe(ev), ev->args[2], ev->args[0]);
  victim->p = TRACE_NONE;
}

// --- Gs (threads) ---

static void go_status(struct states *s, const struct trace_event *ev) {
  uint64_t id = ev->args[0], on = ev->args[1], status = ev->args[2];
  struct g_state *g = state_of_g(s, id);
  if (status == G_ABSENT || status >= G_KINDS) {
    VIOLATE(s, ev, STATUS_VALUE,
            "%s: %" PRIu64 " is not a status of a thread (G)", describe(ev),
            status);
    return;
  }
  if (g->status != G_ABSENT && g->status != status)
    VIOLATE(s, ev, STATUS_AGREES, "%s: G %" PRIu64 " is %s", describe(ev), id,
            g_status_names[g->status]);
  else if (g->status == G_ABSENT && s->trace->generation != s->first_generation)
    VIOLATE(s, ev, STATUS_LATE,
            "%s: G %" PRIu64
            " did not exist at the end of the previous generation",
            describe(ev), id);
  g->status = (enum g_status)status;
  g->generation = s->trace->generation;
  g->seq = 0;
  if (status == G_RUNNING)
    state_of_m(s, ev->m)->g = id;
  if (status != G_IN_CALL)
    return;
  if (on == TRACE_NONE) {
    VIOLATE(s, ev, CONTEXT,
            "%s: a thread (G) in a system call must have a kernel thread",
            describe(ev));
    return;
  }
  struct m_state *m = state_of_m(s, on);
  bool first = s->trace->generation == s->first_generation;
  if (m->g != id && m->g != TRACE_NONE && !first)
    VIOLATE(s, ev, STATUS_AGREES,
            "%s: kernel thread %" PRIu64 " has G %" PRIu64, describe(ev), on,
            m->g);
  m->g = id;
}

static void go_create(struct states *s, const struct trace_event *ev) {
  const struct m_state *m = state_of_m(s, ev->m);
  bool in_call = ev->type == EV_GoCreateSyscall;
  check_context(s, ev, in_call ? MAY : MUST, in_call ? MUST_NOT : MAY);
  if (!in_call)
    check_g_status(s, ev, m->g, G_RUNNING);
  struct g_state *g = state_of_g(s, ev->args[0]);
  if (g->status != G_ABSENT)
    VIOLATE(s, ev, THREAD_REUSED, "%s: G %" PRIu64 " already exists",
            describe(ev), ev->args[0]);
  g->status = in_call                          ? G_IN_CALL
              : ev->type == EV_GoCreateBlocked ? G_WAITING
                                               : G_RUNNABLE;
  g->generation = s->trace->generation;
  g->seq = 0;
  g->region_count = 0;
  if (in_call)
    state_of_m(s, ev->m)->g = ev->args[0];
}

static bool can_take_g(struct states *s, const struct trace_event *ev,
                       enum g_status wanted) {
  const struct g_state *g = state_of_g(s, ev->args[0]);
  return g->status == wanted &&
         is_next_in_sequence(s, g->generation, g->seq, ev->args[1]);
}

static bool can_take_runnable(struct states *s, const struct trace_event *ev) {
  return can_take_g(s, ev, G_RUNNABLE);
}

static bool can_take_waiting(struct states *s, const struct trace_event *ev) {
  return can_take_g(s, ev, G_WAITING);
}

static void set_g(struct states *s, const struct trace_event *ev,
                  enum g_status status) {
  struct g_state *g = state_of_g(s, ev->args[0]);
  g->status = status;
  g->seq = ev->args[1];
}

static void go_start(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MUST_NOT);
  set_g(s, ev, G_RUNNING);
  state_of_m(s, ev->m)->g = ev->args[0];
}

// Ends the G with this id. Reports a violation if a stop of the world that this
// G began, or this G's work for the garbage collector (GCMarkAssist), has not
// ended.
static void destroy_g(struct states *s, const struct trace_event *ev,
                      uint64_t id) {
  struct g_state *g = state_of_g(s, id);
  if (g->assist || g->stop)
    VIOLATE(s, ev, OPEN_AT_END,
            "%s: the %s range of the thread (G) has not ended", describe(ev),
            g->assist ? "GCMarkAssist" : "STW");
  g->assist = g->stop = false;
  g->status = G_ABSENT;
}

static void go_stop(struct states *s, const struct trace_event *ev) {
  struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE)
    return;
  check_g_status(s, ev, m->g, G_RUNNING);
  if (ev->type == EV_GoDestroy)
    destroy_g(s, ev, m->g);
  else
    state_of_g(s, m->g)->status =
        ev->type == EV_GoStop ? G_RUNNABLE : G_WAITING;
  m->g = TRACE_NONE;
}

// Makes the G in the arguments of ev runnable. Checks nothing about the thread
// of ev, because any thread may unblock a G.
static void go_unblock(struct states *s, const struct trace_event *ev) {
  set_g(s, ev, G_RUNNABLE);
}

static void go_switch(struct states *s, const struct trace_event *ev) {
  uint64_t old = state_of_m(s, ev->m)->g;
  check_context(s, ev, MUST, MUST);
  check_g_status(s, ev, old, G_RUNNING);
  if (old != TRACE_NONE) {
    if (ev->type == EV_GoSwitchDestroy)
      destroy_g(s, ev, old);
    else
      state_of_g(s, old)->status = G_WAITING;
  }
  set_g(s, ev, G_RUNNING);
  state_of_m(s, ev->m)->g = ev->args[0];
}

// --- system calls ---

static void call_begin(struct states *s, const struct trace_event *ev) {
  const struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  check_g_status(s, ev, m->g, G_RUNNING);
  state_of_g(s, m->g)->status = G_IN_CALL;
  struct p_state *p = state_of_p(s, m->p);
  if (!is_next_in_sequence(s, p->generation, p->seq, ev->args[0]))
    VIOLATE(s, ev, PROC_SEQUENCE,
            "%s: no event of this generation gives P %" PRIu64
            " the preceding sequence number; its last one is %" PRIu64,
            describe(ev), m->p, p->seq);
  p->status = P_IN_CALL;
  p->generation = s->trace->generation;
  p->seq = ev->args[0];
}

static void need_call(struct states *s, const struct trace_event *ev,
                      uint64_t g) {
  if (state_of_g(s, g)->status != G_IN_CALL)
    VIOLATE(s, ev, CALL_STATE, "%s: G %" PRIu64 " is %s, not in a system call",
            describe(ev), g, g_status_names[state_of_g(s, g)->status]);
}

static void call_end(struct states *s, const struct trace_event *ev) {
  const struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MUST, MUST);
  if (m->g == TRACE_NONE || m->p == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  state_of_g(s, m->g)->status = G_RUNNING;
  struct p_state *p = state_of_p(s, m->p);
  if (p->status != P_IN_CALL)
    VIOLATE(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
            describe(ev), m->p, p_status_names[p->status]);
  p->status = P_RUNNING;
}

// Returns whether the event GoSyscallEndBlocked can come next. It means that
// another thread has taken the P (processor of Go's scheduler) with which the
// system call began. So the event ProcSteal, by which that thread took the P,
// must come first.
static bool can_end_blocked(struct states *s, const struct trace_event *ev) {
  uint64_t p = state_of_m(s, ev->m)->p;
  return p == TRACE_NONE || state_of_p(s, p)->status != P_IN_CALL;
}

static void call_end_blocked(struct states *s, const struct trace_event *ev) {
  struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  state_of_g(s, m->g)->status = G_RUNNABLE;
  m->g = TRACE_NONE;
}

static void destroy_in_call(struct states *s, const struct trace_event *ev) {
  struct m_state *m = state_of_m(s, ev->m);
  check_context(s, ev, MAY, MUST);
  if (m->g == TRACE_NONE)
    return;
  need_call(s, ev, m->g);
  destroy_g(s, ev, m->g);
  m->g = TRACE_NONE;
  if (m->p == TRACE_NONE)
    return;
  struct p_state *p = state_of_p(s, m->p);
  if (p->status != P_IN_CALL)
    VIOLATE(s, ev, PROC_STATE, "%s: P %" PRIu64 " is %s, not in a system call",
            describe(ev), m->p, p_status_names[p->status]);
  p->status = P_ABANDONED;
  m->p = TRACE_NONE;
}

// --- tasks, regions and ranges of time ---

static void task_begin(struct states *s, const struct trace_event *ev) {
  const size_t index = idmap_get(&s->task_ids, ev->args[0], s->task_count);
  if (index == s->task_count)
    *APPEND(s->tasks, s->task_count, s->task_capacity) = false;
  if (s->tasks[index])
    VIOLATE(s, ev, TASK_UNIQUE,
            "%s: task %" PRIu64 " already exists and has not ended",
            describe(ev), ev->args[0]);
  s->tasks[index] = true;
  check_context(s, ev, MUST, MUST);
}

static void task_end(struct states *s, const struct trace_event *ev) {
  size_t index;
  if (idmap_find(&s->task_ids, ev->args[0], &index))
    s->tasks[index] = false;
  check_context(s, ev, MUST, MUST);
}

static void region(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MUST);
  uint64_t id = state_of_m(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = state_of_g(s, id);
  // Keep the name as a text, not as a string id, because ids have other
  // meanings in the next generation.
  struct trace_text name = trace_string(s->trace, ev->args[1]);
  if (ev->type == EV_UserRegionBegin) {
    *APPEND(g->regions, g->region_count, g->region_capacity) =
        (struct region){ev->args[0], name};
  } else if (g->region_count) {
    const struct region *open = &g->regions[--g->region_count];
    if (open->task != ev->args[0] || !trace_text_equal(open->name, name))
      VIOLATE(s, ev, REGION_NESTING,
              "%s: this event must end the innermost open region, which is "
              "%.*s of task %" PRIu64,
              describe(ev), (int)open->name.length, open->name.bytes,
              open->task);
  }
}

// Reports a violation if the event begins a range (a time span, such as a
// sweep) that is already open, or ends a range that is not open. Then updates
// *open.
// *open: whether the range of the event is open.
// begins: true: the event begins the range; false: the event ends the range.
static void range(struct states *s, const struct trace_event *ev, bool *open,
                  bool begins, enum trace_rule rule) {
  if (*open == begins)
    violate(s->trace, rule, ev->offset,
            "%s: the time range of this event is %s", describe(ev),
            begins ? "already open" : "not open");
  *open = begins;
}

// Handles an event such as GCSweepActive, which tells at the start of a
// generation that a range is open. In the first generation, no earlier event
// can have opened the range, so *open must be false. In a later generation,
// *open must be true, because earlier events have told that the range is open.
static void active(struct states *s, const struct trace_event *ev, bool *open,
                   enum trace_rule rule) {
  bool first = s->trace->generation == s->first_generation;
  if (*open == first)
    violate(s->trace, rule, ev->offset,
            "%s: the time range of this event is %s", describe(ev),
            first ? "already open" : "not open");
  *open = true;
}

static void stop_or_assist(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MUST);
  uint64_t id = state_of_m(s, ev->m)->g;
  if (id == TRACE_NONE)
    return;
  struct g_state *g = state_of_g(s, id);
  if (ev->type == EV_STWBegin || ev->type == EV_STWEnd)
    range(s, ev, &g->stop, ev->type == EV_STWBegin, TRACE_RULE_STOP_NESTING);
  else
    range(s, ev, &g->assist, ev->type == EV_GCMarkAssistBegin,
          TRACE_RULE_ASSIST_NESTING);
}

static void assist_active(struct states *s, const struct trace_event *ev) {
  active(s, ev, &state_of_g(s, ev->args[0])->assist, TRACE_RULE_ASSIST_NESTING);
}

static void sweep(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MAY);
  uint64_t p = state_of_m(s, ev->m)->p;
  if (p != TRACE_NONE)
    range(s, ev, &state_of_p(s, p)->sweep, ev->type == EV_GCSweepBegin,
          TRACE_RULE_SWEEP_NESTING);
}

static void sweep_active(struct states *s, const struct trace_event *ev) {
  active(s, ev, &state_of_p(s, ev->args[0])->sweep, TRACE_RULE_SWEEP_NESTING);
}

static bool is_next_collection(struct states *s, const struct trace_event *ev) {
  bool any = !s->collections_known && ev->type != EV_GCEnd;
  return any || ev->args[0] == s->collection_seq + 1;
}

static void collection(struct states *s, const struct trace_event *ev) {
  bool first = !s->collections_known;
  if (!first) {
    bool wanted = ev->type != EV_GCBegin;
    if (s->collecting != wanted)
      VIOLATE(s, ev, GC_NESTING, "%s: a garbage collection is %s", describe(ev),
              s->collecting ? "already open" : "not open");
    check_context(s, ev, MUST, MUST);
  } else if (ev->type == EV_GCEnd) {
    VIOLATE(s, ev, GC_NESTING, "%s: no garbage collection has begun",
            describe(ev));
  }
  s->collections_known = true;
  s->collecting = ev->type != EV_GCEnd;
  s->collection_seq = ev->args[0];
}

// --- the next event ---

static void counter(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MAY);
}

static void of_running_thread(struct states *s, const struct trace_event *ev) {
  check_context(s, ev, MUST, MUST);
}

// The functions for each event type. is_ready returns whether the event can
// come next; NULL: the event can always come next. apply checks the event and
// updates the states; NULL: of_running_thread is called instead.
static const struct {
  bool (*is_ready)(struct states *s, const struct trace_event *ev);
  void (*apply)(struct states *s, const struct trace_event *ev);
} events[EV_COUNT] = {
    [EV_ProcStatus] = {NULL, proc_status},
    [EV_ProcStart] = {can_start_proc, proc_start},
    [EV_ProcStop] = {NULL, proc_stop},
    [EV_ProcSteal] = {can_steal, proc_steal},
    [EV_GoStatus] = {NULL, go_status},
    [EV_GoStatusStack] = {NULL, go_status},
    [EV_GoCreate] = {NULL, go_create},
    [EV_GoCreateBlocked] = {NULL, go_create},
    [EV_GoCreateSyscall] = {NULL, go_create},
    [EV_GoStart] = {can_take_runnable, go_start},
    [EV_GoDestroy] = {NULL, go_stop},
    [EV_GoStop] = {NULL, go_stop},
    [EV_GoBlock] = {NULL, go_stop},
    [EV_GoDestroySyscall] = {NULL, destroy_in_call},
    [EV_GoUnblock] = {can_take_waiting, go_unblock},
    [EV_GoSwitch] = {can_take_waiting, go_switch},
    [EV_GoSwitchDestroy] = {can_take_waiting, go_switch},
    [EV_GoSyscallBegin] = {NULL, call_begin},
    [EV_GoSyscallEnd] = {NULL, call_end},
    [EV_GoSyscallEndBlocked] = {can_end_blocked, call_end_blocked},
    [EV_STWBegin] = {NULL, stop_or_assist},
    [EV_STWEnd] = {NULL, stop_or_assist},
    [EV_GCMarkAssistBegin] = {NULL, stop_or_assist},
    [EV_GCMarkAssistEnd] = {NULL, stop_or_assist},
    [EV_GCMarkAssistActive] = {NULL, assist_active},
    [EV_GCActive] = {is_next_collection, collection},
    [EV_GCBegin] = {is_next_collection, collection},
    [EV_GCEnd] = {is_next_collection, collection},
    [EV_GCSweepBegin] = {NULL, sweep},
    [EV_GCSweepEnd] = {NULL, sweep},
    [EV_GCSweepActive] = {NULL, sweep_active},
    [EV_HeapAlloc] = {NULL, counter},
    [EV_HeapGoal] = {NULL, counter},
    [EV_UserTaskBegin] = {NULL, task_begin},
    [EV_UserTaskEnd] = {NULL, task_end},
    [EV_UserRegionBegin] = {NULL, region},
    [EV_UserRegionEnd] = {NULL, region},
};

bool states_advance(struct states *s, struct trace_event *ev) {
  if (events[ev->type].is_ready && !events[ev->type].is_ready(s, ev))
    return false;
  const struct m_state *m = state_of_m(s, ev->m);
  ev->p = m->p;
  ev->g = m->g == TRACE_NONE ? 0 : m->g;
  if (events[ev->type].apply)
    events[ev->type].apply(s, ev);
  else
    of_running_thread(s, ev);
  check_ids(s->trace, ev);
  return true;
}
