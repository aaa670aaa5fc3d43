// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks the rules for events in Go's trace formats 1.5 to 1.21. There are
// three sources of rules: the reader of Go 1.19, the validator of Go 1.26, and
// errors that become visible only when the trace is displayed. The validator of
// Go 1.26 checks the trace after a conversion to its own format. An event that
// breaks a rule is applied as if it were right, so that later violations are
// found, too.

#include "v1_rules.h"

#include "common/memory.h"
#include "report.h"
#include "table.h"
#include "trace_data.h"
#include "v1_types.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum state { UNKNOWN, RUNNABLE, RUNNING, WAITING, IN_SYSCALL, ENDED };
static const char *const state_names[] = {"not created",      "runnable",
                                          "running",          "waiting",
                                          "in a system call", "ended"};

// Format 1.11 is the first format that Go 1.22 and later can read. Some rules
// apply only from this format on, because Go 1.22 and later check more than
// older versions.
enum { SINCE_BOTH = 11 };

struct region {
  uint64_t task, name;
};

struct g_state {
  enum state state;
  uint8_t last;        // type of the last event
  bool assist;         // the G is assisting a garbage collection
  uint64_t call_ticks; // time at which the G's system call blocked
  struct region *regions;
  size_t region_count, region_capacity;
};

struct p_state {
  bool started, sweeping;
  uint64_t g; // G that runs on the P; 0: none
  uint64_t m; // kernel thread of the P's last ProcStart
  // Until format 1.9: 1 while this P stops the world; 0 otherwise.
  uint64_t stopper;
};

struct v1_rules {
  struct trace *trace;
  struct idmap g_ids, p_ids, m_ids, task_ids;
  struct g_state *gs;
  size_t g_count, g_capacity;
  struct p_state *ps;
  size_t p_count, p_capacity;
  uint64_t *m_ps; // P of the last ProcStart of each kernel thread
  size_t m_count, m_capacity;
  bool *tasks; // for each task: has begun and not ended
  size_t task_count, task_capacity;
  bool procs_seen; // a Gomaxprocs event has been seen
  bool early_told; // BEFORE_GOMAXPROCS has been reported
  bool collecting, stopped;
  uint64_t stopper; // the last G that stopped the world
};

#define FAIL(rule, ...)                                                        \
  violate(r->trace, TRACE_RULE_##rule, ev->offset, __VA_ARGS__)

static struct g_state *g_of(struct v1_rules *r, uint64_t id) {
  size_t index;
  if (!idmap_find(&r->g_ids, id, &index)) {
    index = r->g_count;
    idmap_add(&r->g_ids, id, index);
    *APPEND(r->gs, r->g_count, r->g_capacity) = (struct g_state){0};
  }
  return &r->gs[index];
}

static struct p_state *p_of(struct v1_rules *r, uint64_t id) {
  size_t index;
  if (!idmap_find(&r->p_ids, id, &index)) {
    index = r->p_count;
    idmap_add(&r->p_ids, id, index);
    *APPEND(r->ps, r->p_count, r->p_capacity) =
        (struct p_state){.m = TRACE_NONE};
  }
  return &r->ps[index];
}

// Reports a violation if the G of the event does not run on p. ev->g is 0 if
// the event has no G. none_allowed: ev->g may be 0 if no G runs on p.
static void need_running(struct v1_rules *r, const struct trace_event *ev,
                         const struct p_state *p, bool none_allowed) {
  struct trace *t = r->trace;
  if (!ev->g && !none_allowed)
    FAIL(NOT_RUNNING, "%s: the processor (P) runs no thread (G)",
         describe(t, ev));
  else if (p->g != ev->g)
    FAIL(NOT_RUNNING,
         "%s: the processor (P) runs G %" PRIu64 ", not the G of the event",
         describe(t, ev), p->g);
}

static void proc_start(struct v1_rules *r, const struct trace_event *ev,
                       struct p_state *p) {
  struct trace *t = r->trace;
  uint64_t m = ev->args[0];
  if (p->started)
    FAIL(SLOT_RUNNING, "%s: the processor (P) is already started",
         describe(t, ev));
  size_t index;
  if (!idmap_find(&r->m_ids, m, &index)) {
    index = r->m_count;
    idmap_add(&r->m_ids, m, index);
    *APPEND(r->m_ps, r->m_count, r->m_capacity) = ev->p;
  } else if (r->m_ps[index] != ev->p && t->minor >= SINCE_BOTH) {
    // The pointer p stays valid, because p_of does not enlarge the array here:
    // the other P already has an entry.
    // Thread m may still have the other P if the G of the other P is in a
    // system call. This is no violation, because the scheduler may take a P
    // from a thread in a system call without an event.
    const struct p_state *other = p_of(r, r->m_ps[index]);
    if (other->started && other->m == m && other->g &&
        g_of(r, other->g)->last != V1_GoSysCall)
      FAIL(THREAD_ON_TWO_SLOTS,
           "%s: kernel thread %" PRIu64
           " already runs a thread (G) on P %" PRIu64,
           describe(t, ev), m, r->m_ps[index]);
  }
  r->m_ps[index] = ev->p;
  p->started = true;
  p->m = m;
}

static void proc_stop(struct v1_rules *r, const struct trace_event *ev,
                      struct p_state *p) {
  struct trace *t = r->trace;
  if (!p->started)
    FAIL(SLOT_STOPPED, "%s: the processor (P) has not been started",
         describe(t, ev));
  if (p->g)
    FAIL(SLOT_IN_USE, "%s: the processor (P) still runs G %" PRIu64,
         describe(t, ev), p->g);
  p->started = false;
}

static void go_create(struct v1_rules *r, const struct trace_event *ev,
                      struct p_state *p) {
  struct trace *t = r->trace;
  need_running(r, ev, p, true);
  struct g_state *g = g_of(r, ev->args[0]);
  if (g->state != UNKNOWN)
    FAIL(THREAD_REUSED, "%s: G %" PRIu64 " already exists", describe(t, ev),
         ev->args[0]);
  g->state = RUNNABLE;
  if (t->minor < 7)
    return; // the second argument is a pc, not a stack id
  if (!ev->args[1])
    FAIL(CREATE_STACK,
         "%s: the new thread (G) has no stack, but trace viewers need one",
         describe(t, ev));
  check_stack_id(t, ev, ev->args[1]);
}

static void go_start(struct v1_rules *r, const struct trace_event *ev,
                     struct p_state *p) {
  struct trace *t = r->trace;
  struct g_state *g = g_of(r, ev->g);
  if (g->state == UNKNOWN)
    FAIL(THREAD_UNKNOWN, "%s: no GoCreate event creates the thread (G)",
         describe(t, ev));
  else if (g->state != RUNNABLE)
    FAIL(START_RUNNABLE, "%s: the thread (G) is %s, not runnable",
         describe(t, ev), state_names[g->state]);
  if (p->g)
    FAIL(SLOT_BUSY, "%s: the processor (P) already runs G %" PRIu64,
         describe(t, ev), p->g);
  if (!p->started && t->minor >= SINCE_BOTH)
    FAIL(SLOT_WITHOUT_THREAD,
         "%s: no ProcStart gave the processor (P) a kernel thread",
         describe(t, ev));
  g->state = RUNNING;
  p->g = ev->g;
  if (ev->type == V1_GoStartLabel)
    check_string_id(t, ev, ev->args[2]);
}

static void go_stop(struct v1_rules *r, const struct trace_event *ev,
                    struct p_state *p) {
  static const enum state states[V1_COUNT] = {[V1_GoEnd] = ENDED,
                                              [V1_GoStop] = ENDED,
                                              [V1_GoSched] = RUNNABLE,
                                              [V1_GoPreempt] = RUNNABLE,
#define WAIT(name) [V1_##name] = WAITING,
                                              V1_WAITS(WAIT)
#undef WAIT
                                                  [V1_GoSysBlock] = IN_SYSCALL};
  struct trace *t = r->trace;
  need_running(r, ev, p, false);
  struct g_state *g = g_of(r, ev->g);
  if (ev->type == V1_GoSysBlock) {
    if (g->last != V1_GoSysCall && t->minor >= SINCE_BOTH)
      FAIL(SYSCALL_BLOCK,
           "%s: the previous event of the thread (G) is %s, not GoSysCall",
           describe(t, ev), trace_type_name(t, g->last));
    g->call_ticks = ev->ticks;
  }
  if (ev->type == V1_GoEnd && t->minor >= SINCE_BOTH &&
      (g->assist || (r->stopped && r->stopper == ev->g)))
    FAIL(OPEN_AT_END, "%s: the %s range of the thread (G) has not ended",
         describe(t, ev), g->assist ? "GCMarkAssist" : "STW");
  if (ev->type == V1_GoEnd)
    g->region_count = 0;
  g->state = states[ev->type];
  p->g = 0;
}

static void go_sys_call(struct v1_rules *r, const struct trace_event *ev,
                        struct p_state *p) {
  need_running(r, ev, p, false);
}

static void go_unblock(struct v1_rules *r, const struct trace_event *ev,
                       struct p_state *p) {
  struct trace *t = r->trace;
  need_running(r, ev, p, true);
  struct g_state *g = g_of(r, ev->args[0]);
  if (g->state == IN_SYSCALL && t->minor >= SINCE_BOTH)
    FAIL(UNBLOCK_OF_CALL,
         "%s: G %" PRIu64 " is in a system call, which this event cannot end",
         describe(t, ev), ev->args[0]);
  else if (g->state != WAITING && g->state != IN_SYSCALL)
    FAIL(UNBLOCK_WAITING, "%s: G %" PRIu64 " is %s, not waiting",
         describe(t, ev), ev->args[0], state_names[g->state]);
  g->state = RUNNABLE;
}

static void go_sys_exit(struct v1_rules *r, const struct trace_event *ev,
                        struct p_state *p) {
  (void)p;
  struct trace *t = r->trace;
  struct g_state *g = g_of(r, ev->g);
  uint64_t real = ev->args[2];
  if (g->state == WAITING && t->minor >= SINCE_BOTH)
    FAIL(EXIT_OF_WAIT, "%s: the thread (G) waits, but not in a system call",
         describe(t, ev));
  else if (g->state != WAITING && g->state != IN_SYSCALL)
    FAIL(EXIT_WAITING, "%s: the thread (G) is %s, not in a system call",
         describe(t, ev), state_names[g->state]);
  else if (real && t->minor >= 7) {
    if (!g->call_ticks)
      FAIL(EXIT_TICKS,
           "%s: the system call blocked at tick 0, so trace readers ignore the "
           "call",
           describe(t, ev));
    else if (real < g->call_ticks || real > ev->ticks)
      FAIL(EXIT_TICKS,
           "%s: the system call must end between tick %" PRIu64
           ", at which the call blocked, and the tick of this event",
           describe(t, ev), g->call_ticks);
  }
  g->state = RUNNABLE;
}

static void snapshot_state(struct v1_rules *r, const struct trace_event *ev,
                           struct p_state *p) {
  (void)p;
  struct trace *t = r->trace;
  struct g_state *g = g_of(r, ev->g);
  if (g->state != RUNNABLE)
    FAIL(SNAPSHOT_STATE, "%s: the thread (G) is %s, not runnable",
         describe(t, ev), state_names[g->state]);
  if (r->procs_seen && t->minor >= SINCE_BOTH)
    FAIL(LATE_SNAPSHOT, "%s: this event must not come after Gomaxprocs",
         describe(t, ev));
  g->state = ev->type == V1_GoWaiting ? WAITING : IN_SYSCALL;
  g->call_ticks = ev->ticks;
}

static void world_stop(struct v1_rules *r, const struct trace_event *ev,
                       struct p_state *p) {
  struct trace *t = r->trace;
  bool per_p = t->minor < 10;
  if (per_p ? p->stopper != 0 : r->stopped)
    FAIL(STOP_NESTING, "%s: the world is already stopped", describe(t, ev));
  if (!per_p && t->minor < 21 && ev->args[0] > 1)
    FAIL(STOP_KIND,
         "%s: the first argument, the reason for stopping the world, is "
         "neither 0 nor 1",
         describe(t, ev));
  p->stopper = 1;
  r->stopped = true;
  r->stopper = ev->g;
}

static void world_start(struct v1_rules *r, const struct trace_event *ev,
                        struct p_state *p) {
  struct trace *t = r->trace;
  bool per_p = t->minor < 10;
  if (per_p ? p->stopper == 0 : !r->stopped)
    FAIL(STOP_NESTING, "%s: the world is not stopped", describe(t, ev));
  else if (!per_p && r->stopper != ev->g && t->minor >= SINCE_BOTH)
    FAIL(STOP_THREAD, "%s: another thread, G %" PRIu64 ", stopped the world",
         describe(t, ev), r->stopper);
  p->stopper = 0;
  r->stopped = false;
}

static void task_create(struct v1_rules *r, const struct trace_event *ev,
                        struct p_state *p) {
  (void)p;
  struct trace *t = r->trace;
  size_t index;
  check_string_id(t, ev, ev->args[2]);
  if (!idmap_find(&r->task_ids, ev->args[0], &index)) {
    index = r->task_count;
    idmap_add(&r->task_ids, ev->args[0], index);
    *APPEND(r->tasks, r->task_count, r->task_capacity) = false;
  }
  if (r->tasks[index])
    FAIL(TASK_UNIQUE, "%s: task %" PRIu64 " already exists and has not ended",
         describe(t, ev), ev->args[0]);
  r->tasks[index] = true;
}

static void task_end(struct v1_rules *r, const struct trace_event *ev,
                     struct p_state *p) {
  (void)p;
  size_t index;
  // A task that began before the trace is not in the table. The end of such a
  // task is valid.
  if (idmap_find(&r->task_ids, ev->args[0], &index))
    r->tasks[index] = false;
}

static void region(struct v1_rules *r, const struct trace_event *ev,
                   struct p_state *p) {
  (void)p;
  struct trace *t = r->trace;
  struct g_state *g = g_of(r, ev->g);
  check_string_id(t, ev, ev->args[2]);
  if (ev->args[1] > 1) {
    FAIL(REGION_MODE, "%s: the mode is %" PRIu64 ", neither 0 nor 1",
         describe(t, ev), ev->args[1]);
  } else if (ev->args[1] == 0) {
    *APPEND(g->regions, g->region_count, g->region_capacity) =
        (struct region){ev->args[0], ev->args[2]};
  } else if (g->region_count) {
    // If the G has no open region here, the region began before the trace, and
    // its end is valid.
    const struct region *open = &g->regions[--g->region_count];
    if (open->task != ev->args[0] ||
        !trace_text_equal(trace_string(t, open->name),
                          trace_string(t, ev->args[2])))
      FAIL(REGION_NESTING,
           "%s: this event must end the innermost open region, which has name "
           "string %" PRIu64 " and task %" PRIu64,
           describe(t, ev), open->name, open->task);
  }
}

static void user_log(struct v1_rules *r, const struct trace_event *ev,
                     struct p_state *p) {
  (void)p;
  check_string_id(r->trace, ev, ev->args[1]);
}

static void collection(struct v1_rules *r, const struct trace_event *ev,
                       struct p_state *p) {
  (void)p;
  bool starts = ev->type == V1_GCStart;
  if (r->collecting == starts)
    FAIL(GC_NESTING, "%s: a garbage collection is %s", describe(r->trace, ev),
         starts ? "already open" : "not open");
  r->collecting = starts;
}

static void sweep(struct v1_rules *r, const struct trace_event *ev,
                  struct p_state *p) {
  bool starts = ev->type == V1_GCSweepStart;
  if (p->sweeping == starts)
    FAIL(SWEEP_NESTING,
         "%s: a garbage collection sweep of the processor (P) is %s",
         describe(r->trace, ev), starts ? "already open" : "not open");
  p->sweeping = starts;
}

static void assist(struct v1_rules *r, const struct trace_event *ev,
                   struct p_state *p) {
  (void)p;
  bool starts = ev->type == V1_GCMarkAssistStart;
  struct g_state *g = g_of(r, ev->g);
  // Only a second start is a violation. An end without a start is valid,
  // because the assist may have begun before the trace.
  if (g->assist && starts)
    FAIL(ASSIST_NESTING, "%s: a mark assist of the thread (G) is already open",
         describe(r->trace, ev));
  g->assist = starts;
}

// Reports the first event that comes before Gomaxprocs although its type is not
// allowed there. Go's readers take all events before the first Gomaxprocs as a
// snapshot: the state of the program when the trace began.
static void check_snapshot(struct v1_rules *r, const struct trace_event *ev) {
  static const bool may_be_early[V1_COUNT] = {
      [V1_Gomaxprocs] = true,   [V1_GoCreate] = true,  [V1_GoWaiting] = true,
      [V1_GoInSyscall] = true,  [V1_ProcStart] = true, [V1_GoStart] = true,
      [V1_GoStartLabel] = true, [V1_HeapAlloc] = true, [V1_HeapGoal] = true,
      [V1_CPUSample] = true};
  if (ev->type == V1_Gomaxprocs)
    r->procs_seen = true;
  if (may_be_early[ev->type] || r->procs_seen || r->early_told ||
      r->trace->minor < SINCE_BOTH)
    return;
  r->early_told = true;
  FAIL(BEFORE_GOMAXPROCS,
       "%s: only events that describe the state at the start of the "
       "trace may come before Gomaxprocs",
       describe(r->trace, ev));
}

// For each event type, the function that checks its rules. An event type
// without an entry has only the rules that apply to all types.
static void (*const checks[V1_COUNT])(struct v1_rules *r,
                                      const struct trace_event *ev,
                                      struct p_state *p) = {
    [V1_ProcStart] = proc_start,
    [V1_ProcStop] = proc_stop,
    [V1_GoCreate] = go_create,
    [V1_GoStart] = go_start,
    [V1_GoStartLabel] = go_start,
    [V1_GoEnd] = go_stop,
    [V1_GoStop] = go_stop,
    [V1_GoSched] = go_stop,
    [V1_GoPreempt] = go_stop,
#define WAIT(name) [V1_##name] = go_stop,
    V1_WAITS(WAIT)
#undef WAIT
        [V1_GoSysBlock] = go_stop,
    [V1_GoSysCall] = go_sys_call,
    [V1_GoUnblock] = go_unblock,
    [V1_GoSysExit] = go_sys_exit,
    [V1_GoWaiting] = snapshot_state,
    [V1_GoInSyscall] = snapshot_state,
    [V1_GCStart] = collection,
    [V1_GCDone] = collection,
    [V1_STWStart] = world_stop,
    [V1_STWDone] = world_start,
    [V1_GCSweepStart] = sweep,
    [V1_GCSweepDone] = sweep,
    [V1_GCMarkAssistStart] = assist,
    [V1_GCMarkAssistDone] = assist,
    [V1_UserTaskCreate] = task_create,
    [V1_UserTaskEnd] = task_end,
    [V1_UserRegion] = region,
    [V1_UserLog] = user_log,
};

void v1_rules_event(struct v1_rules *r, const struct trace_event *ev) {
  check_snapshot(r, ev);
  check_stack_id(r->trace, ev, ev->stack);
  if (ev->type == V1_CPUSample)
    return;
  struct p_state *p = p_of(r, ev->p);
  if (checks[ev->type])
    checks[ev->type](r, ev, p);
  if (ev->g)
    g_of(r, ev->g)->last = ev->type;
}

struct v1_rules *v1_rules_new(struct trace *t) {
  struct v1_rules *r = zeroed(1, sizeof *r);
  r->trace = t;
  return r;
}

void v1_rules_end(struct v1_rules *r) {
  if (!r->procs_seen && !r->trace->is_cut && r->trace->minor >= SINCE_BOTH)
    violate(r->trace, TRACE_RULE_NO_GOMAXPROCS, r->trace->size,
            "there is no Gomaxprocs event, so trace readers treat all events "
            "as part of the initial state");
  idmap_clear(&r->g_ids);
  idmap_clear(&r->p_ids);
  idmap_clear(&r->m_ids);
  idmap_clear(&r->task_ids);
  for (size_t i = 0; i < r->g_count; i++)
    free(r->gs[i].regions);
  free(r->gs);
  free(r->ps);
  free(r->m_ps);
  free(r->tasks);
  free(r);
}
