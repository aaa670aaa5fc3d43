// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts the events of a trace into calls of timeline.h.
//
// A trace consists of generations (parts of the file). Each generation begins
// with status events, which give the states of all threads. The converter uses
// a status event only if no earlier event was about the same thread.

#include "convert.h"

#include "common/hash_bytes.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "event.h"
#include "event_types.h"
#include "number.h"
#include "read.h"
#include "table.h"
#include "timeline.h"
#include "trace_data.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES_MAX = 10 };

struct thread {
  bool is_short; // the latest system call is shown as an instant
  // With regions as tasks: the number of open regions, and the task that the
  // outermost one is.
  uint64_t regions, task;
  // The lock of the next wait or charge: a number that only this lock has, or
  // 0, and its name, or the empty text.
  uint64_t lock;
  struct trace_text lock_name;
};

struct converter {
  const struct trace *trace;
  struct timeline *line;
  const char *path;
  unsigned messages; // number of violations; the first MESSAGES_MAX are printed
  struct idmap g_ids; // ids of the threads seen so far
  struct thread *threads;
  size_t g_count, g_capacity;
  bool makes_tasks; // of regions
  uint64_t tasks;   // number of them
};

// How to convert the events of one type.
struct conversion {
  void (*convert)(struct converter *c, const struct trace_event *ev,
                  const struct conversion *how);
  enum thread_state state;   // used by create_thread and set_state
  enum counter_kind counter; // used by set_counter
  enum range_kind range;     // used by begin_range and end_range
  enum {
    ID_NONE,
    ID_P,
    ID_G,
    ID_ARG
  } id; // where range_id finds the range's id
};

// Returns the thread id that the kernel gave to thread m: the low 32 bits of m.
// If the kernel reuses a thread id, MProf sets higher bits of m for the later
// thread, so that the two threads have different values of m.
static uint64_t kernel_thread(uint64_t m) { return (uint32_t)m; }

static struct thread *thread_of(struct converter *c, uint64_t g) {
  const size_t index = idmap_get(&c->g_ids, g, c->g_count);
  if (index == c->g_count)
    *APPEND(c->threads, c->g_count, c->g_capacity) =
        (struct thread){.lock_name = TEXT("")};
  return &c->threads[index];
}

// Returns whether the thread has not been seen before.
static bool is_new(struct converter *c, uint64_t g) {
  const size_t known = c->g_count;
  thread_of(c, g);
  return c->g_count > known;
}

static void own_state(struct converter *c, const struct trace_event *ev,
                      enum thread_state state, struct trace_text reason) {
  struct thread *t = thread_of(c, ev->g);
  if (state == THREAD_BLOCKED)
    timeline_lock(c->line, ev->g, t->lock_name, t->lock);
  t->lock = 0;
  t->lock_name = TEXT("");
  timeline_state(c->line, ev->g, state, reason, ev->stack);
}

static void run(struct converter *c, const struct trace_event *ev, uint64_t g) {
  timeline_kernel_thread(c->line, g, kernel_thread(ev->m));
  timeline_state(c->line, g, THREAD_RUNNING, TEXT(""), 0);
}

// --- the conversions: threads

static void convert_status(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  enum { RUNNABLE = 1, RUNNING, IN_CALL, WAITING, STATUSES };
  static const enum thread_state states[STATUSES] = {
      THREAD_RUNNABLE, [RUNNABLE] = THREAD_RUNNABLE, [RUNNING] = THREAD_RUNNING,
      [IN_CALL] = THREAD_IN_CALL, [WAITING] = THREAD_BLOCKED};
  uint64_t g = ev->args[0], status = ev->args[2];
  if (!is_new(c, g))
    return;
  uint64_t stack = ev->type == EV_GoStatusStack ? ev->stack : 0;
  struct trace_text reason = TEXT("");
  if (status == WAITING)
    reason = TEXT("since before the trace");
  // A stack of one frame consists only of the function in which the thread
  // starts or waits. timeline_create names the thread after this function.
  const struct trace_frame *frames;
  if (trace_stack(c->trace, stack, &frames) == 1)
    timeline_create(c->line, g, 0, stack);
  if (ev->args[1] != TRACE_NONE)
    timeline_kernel_thread(c->line, g, kernel_thread(ev->args[1]));
  timeline_state(c->line, g,
                 status < STATUSES ? states[status] : THREAD_RUNNABLE, reason,
                 stack);
}

static void create_thread(struct converter *c, const struct trace_event *ev,
                          const struct conversion *how) {
  thread_of(c, ev->args[0]); // convert_status skips known threads
  timeline_create(c->line, ev->args[0], ev->g,
                  ev->type == EV_GoCreateSyscall ? 0 : ev->args[1]);
  timeline_state(c->line, ev->args[0], how->state, TEXT(""), 0);
}

static void start_thread(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  run(c, ev, ev->args[0]);
}

static void set_state(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  own_state(c, ev, how->state, TEXT(""));
}

static void stop_thread(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  (void)how;
  own_state(c, ev, THREAD_RUNNABLE, trace_string(c->trace, ev->args[0]));
}

static void block_thread(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  struct trace_text reason = trace_string(c->trace, ev->args[0]);
  // MProf writes Go's reason for waits for a condition.
  if (trace_text_is(reason, "sync.(*Cond).Wait"))
    reason = TEXT("cond");
  own_state(c, ev, THREAD_BLOCKED, reason);
}

static void unblock(struct converter *c, const struct trace_event *ev,
                    const struct conversion *how) {
  (void)how;
  timeline_unblock(c->line, ev->args[0], ev->g, ev->stack);
}

static void switch_threads(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  if (ev->type == EV_GoSwitch)
    own_state(c, ev, THREAD_BLOCKED, TEXT("switch"));
  else
    own_state(c, ev, THREAD_ABSENT, TEXT(""));
  timeline_unblock(c->line, ev->args[0], ev->g, 0);
  run(c, ev, ev->args[0]);
}

// --- the conversions: system calls

// Returns whether the next event in the file is the GoSyscallEnd of this
// GoSyscallBegin and has the same tick. If so, the trace does not record how
// long the system call took.
static bool has_no_length(const struct converter *c,
                          const struct trace_event *ev) {
  const uint8_t *at = c->trace->data + ev->offset + 1;
  const uint8_t *end = c->trace->data + c->trace->size;
  uint64_t number;
  for (unsigned i = 0; i < 1 + ev->arg_count; i++)
    if (read_number(&at, end, &number))
      return false;
  return end - at > 1 && at[0] == EV_GoSyscallEnd && at[1] == 0;
}

static void begin_call(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  (void)how;
  bool *is_short = &thread_of(c, ev->g)->is_short;
  *is_short = has_no_length(c, ev);
  if (*is_short)
    timeline_instant(c->line, ev->g, "call", TEXT("system call"), TEXT(""),
                     ev->stack);
  else
    own_state(c, ev, THREAD_IN_CALL, TEXT(""));
}

static void end_call(struct converter *c, const struct trace_event *ev,
                     const struct conversion *how) {
  (void)how;
  if (!thread_of(c, ev->g)->is_short)
    own_state(c, ev, THREAD_RUNNING, TEXT(""));
}

// --- the conversions: counters, ranges and events of the program

static void set_counter(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  timeline_counter(c->line, how->counter, ev->args[0]);
}

static void set_label(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  (void)how;
  timeline_label(c->line, ev->g, trace_string(c->trace, ev->args[0]));
}

static uint64_t range_id(const struct trace_event *ev,
                         const struct conversion *how) {
  switch (how->id) {
  case ID_P:
    return ev->p;
  case ID_G:
    return ev->g;
  case ID_ARG:
    return ev->args[0];
  case ID_NONE:
    break;
  }
  return 0;
}

static void begin_range(struct converter *c, const struct trace_event *ev,
                        const struct conversion *how) {
  timeline_range_begin(c->line, how->range, range_id(ev, how), TEXT(""));
}

static void end_range(struct converter *c, const struct trace_event *ev,
                      const struct conversion *how) {
  timeline_range_end(c->line, how->range, range_id(ev, how));
}

static void begin_task(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  const struct trace_text name = trace_string(c->trace, ev->args[2]);
  timeline_range_begin(c->line, how->range, ev->args[0], name);
  timeline_task_begin(c->line, ev->g, ev->args[0], ev->args[1], name);
}

static void end_task(struct converter *c, const struct trace_event *ev,
                     const struct conversion *how) {
  timeline_range_end(c->line, how->range, ev->args[0]);
  timeline_task_end(c->line, ev->g, ev->args[0]);
}

static void begin_region(struct converter *c, const struct trace_event *ev,
                         const struct conversion *how) {
  (void)how;
  struct thread *t = c->makes_tasks ? thread_of(c, ev->g) : NULL;
  if (t)
    t->regions++;
  if (t && t->regions == 1) {
    t->task = ++c->tasks;
    timeline_task_begin(c->line, ev->g, t->task, 0,
                        trace_string(c->trace, ev->args[1]));
  }
  timeline_region_begin(c->line, ev->g, trace_string(c->trace, ev->args[1]),
                        ev->args[0], ev->stack);
}

static void end_region(struct converter *c, const struct trace_event *ev,
                       const struct conversion *how) {
  (void)how;
  timeline_region_end(c->line, ev->g);
  struct thread *t = c->makes_tasks ? thread_of(c, ev->g) : NULL;
  if (!t || t->regions == 0)
    return;
  t->regions--;
  if (t->regions == 0)
    timeline_task_end(c->line, ev->g, t->task);
}

// Parses the decimal number in the text. Returns false if the text is not a
// decimal number or has more than 19 digits.
static bool number_of(struct trace_text text, uint64_t *number) {
  enum { DIGITS_MAX = 19 };
  *number = 0;
  for (size_t i = 0; i < text.length; i++) {
    if (text.bytes[i] < '0' || text.bytes[i] > '9')
      return false;
    *number = *number * 10 + (uint64_t)(text.bytes[i] - '0');
  }
  return text.length && text.length <= DIGITS_MAX;
}

// Returns the name in the text "NAME (ADDRESS)", or the empty text if the text
// is only an address.
static struct trace_text lock_name(struct trace_text text) {
  static const char before[] = " (0x";
  const size_t length = sizeof before - 1;
  for (size_t i = text.length; i > length; i--)
    if (memcmp(&text.bytes[i - length], before, length) == 0)
      return (struct trace_text){text.bytes, i - length};
  return TEXT("");
}

// The address of a lock comes before its name, if it has both.
static void convert_lock(struct converter *c, uint64_t g,
                         struct trace_text text) {
  struct thread *t = thread_of(c, g);
  t->lock = hash_bytes(0, text.bytes, text.length);
  t->lock_name = lock_name(text);
}

static void convert_charge(struct converter *c, const struct trace_event *ev,
                           uint64_t ns) {
  struct thread *t = thread_of(c, ev->g);
  timeline_charge(c->line, ev->g, ns, ev->stack, t->lock);
  t->lock = 0;
  t->lock_name = TEXT("");
}

static void convert_message(struct converter *c, const struct trace_event *ev,
                            struct trace_text key, struct trace_text text) {
  timeline_instant(c->line, ev->g, "log", key, text, ev->stack);
  if (ev->args[0])
    timeline_message(c->line, ev->args[0], key, text);
}

// If the key of a message is "thread.name", its text is the name of the event's
// thread. If the key is "lock.name", its text is the name of the lock for which
// the thread waits next; if it is "lock.address", the name of the variable and
// its address, or only the address, of the lock of the next wait or charge. If
// the key is "lock.waited_ns", the text is the charge of a release (the time
// that threads have waited for the released lock). If the key is
// "thread.preempted_ns" or "thread.off_cpu_ns", the text is the time for which
// the thread had no processor. Otherwise it is a message of the program.
static void convert_user_log(struct converter *c, const struct trace_event *ev,
                             const struct conversion *how) {
  const struct trace_text key = trace_string(c->trace, ev->args[1]);
  const struct trace_text text = trace_string(c->trace, ev->args[2]);
  uint64_t ns;
  (void)how;
  if (ev->g && text.length && trace_text_is(key, "thread.name"))
    timeline_name(c->line, ev->g, text);
  else if (ev->g && text.length && trace_text_is(key, "lock.name"))
    thread_of(c, ev->g)->lock_name = text;
  else if (ev->g && trace_text_is(key, "lock.address"))
    convert_lock(c, ev->g, text);
  else if (ev->g && trace_text_is(key, "lock.waited_ns") &&
           number_of(text, &ns))
    convert_charge(c, ev, ns);
  else if (ev->g && trace_text_is(key, "thread.preempted_ns") &&
           number_of(text, &ns))
    timeline_stopped(c->line, ev->g, true, ns);
  else if (ev->g && trace_text_is(key, "thread.off_cpu_ns") &&
           number_of(text, &ns))
    timeline_stopped(c->line, ev->g, false, ns);
  else
    convert_message(c, ev, key, text);
}

static void convert_sample(struct converter *c, const struct trace_event *ev,
                           const struct conversion *how) {
  (void)how;
  timeline_sample(c->line, ev->g, ev->stack);
}

// How to convert the events of each type. The timeline does not show events of
// a type without an entry.
static const struct conversion conversions[EV_COUNT] = {
    [EV_GoStatus] = {.convert = convert_status},
    [EV_GoStatusStack] = {.convert = convert_status},
    [EV_GoCreate] = {.convert = create_thread, .state = THREAD_RUNNABLE},
    [EV_GoCreateBlocked] = {.convert = create_thread, .state = THREAD_BLOCKED},
    [EV_GoCreateSyscall] = {.convert = create_thread, .state = THREAD_IN_CALL},
    [EV_GoStart] = {.convert = start_thread},
    [EV_GoDestroy] = {.convert = set_state, .state = THREAD_ABSENT},
    [EV_GoDestroySyscall] = {.convert = set_state, .state = THREAD_ABSENT},
    [EV_GoStop] = {.convert = stop_thread},
    [EV_GoBlock] = {.convert = block_thread},
    [EV_GoUnblock] = {.convert = unblock},
    [EV_GoSwitch] = {.convert = switch_threads},
    [EV_GoSwitchDestroy] = {.convert = switch_threads},
    [EV_GoSyscallBegin] = {.convert = begin_call},
    [EV_GoSyscallEnd] = {.convert = end_call},
    [EV_GoSyscallEndBlocked] = {.convert = set_state, .state = THREAD_RUNNABLE},
    [EV_HeapAlloc] = {.convert = set_counter, .counter = COUNTER_HEAP},
    [EV_HeapGoal] = {.convert = set_counter, .counter = COUNTER_GOAL},
    [EV_GoLabel] = {.convert = set_label},
    [EV_GCActive] = {.convert = begin_range, .range = RANGE_COLLECTION},
    [EV_GCBegin] = {.convert = begin_range, .range = RANGE_COLLECTION},
    [EV_GCEnd] = {.convert = end_range, .range = RANGE_COLLECTION},
    [EV_STWBegin] = {.convert = begin_range, .range = RANGE_STOP, .id = ID_G},
    [EV_STWEnd] = {.convert = end_range, .range = RANGE_STOP, .id = ID_G},
    [EV_GCSweepBegin] = {.convert = begin_range,
                         .range = RANGE_SWEEP,
                         .id = ID_P},
    [EV_GCSweepActive] = {.convert = begin_range,
                          .range = RANGE_SWEEP,
                          .id = ID_ARG},
    [EV_GCSweepEnd] = {.convert = end_range, .range = RANGE_SWEEP, .id = ID_P},
    [EV_GCMarkAssistBegin] = {.convert = begin_range,
                              .range = RANGE_ASSIST,
                              .id = ID_G},
    [EV_GCMarkAssistActive] = {.convert = begin_range,
                               .range = RANGE_ASSIST,
                               .id = ID_ARG},
    [EV_GCMarkAssistEnd] = {.convert = end_range,
                            .range = RANGE_ASSIST,
                            .id = ID_G},
    [EV_UserTaskBegin] = {.convert = begin_task, .range = RANGE_TASK},
    [EV_UserTaskEnd] = {.convert = end_task, .range = RANGE_TASK},
    [EV_UserRegionBegin] = {.convert = begin_region},
    [EV_UserRegionEnd] = {.convert = end_region},
    [EV_UserLog] = {.convert = convert_user_log},
    [EV_CPUSample] = {.convert = convert_sample},
};

// --- the trace

// Returns whether an event concerns the thread that MProf adds to a trace which
// one of its own threads has begun. No kernel thread has the number 0.
static bool is_of_extra_thread(const struct trace_event *ev) {
  return ev->m == 0 && (ev->type == EV_GoCreate || ev->type == EV_GoStart ||
                        ev->type == EV_GoDestroy);
}

static void convert_event(void *context, const struct trace_event *ev) {
  struct converter *c = context;
  timeline_at(c->line, ev->ticks);
  const struct conversion *how = &conversions[ev->type];
  if (how->convert && !is_of_extra_thread(ev))
    how->convert(c, ev, how);
}

static void print_violation(void *context, enum trace_rule rule,
                            uint64_t offset, const char *text) {
  struct converter *c = context;
  if (c->path && c->messages++ < MESSAGES_MAX)
    trace_print_violation(c->path, rule, offset, text);
}

static uint64_t read_into(const char *path, struct trace *trace,
                          struct timeline *line, bool makes_tasks) {
  struct converter c = {
      .trace = trace, .line = line, .path = path, .makes_tasks = makes_tasks};
  const struct trace_visitor visitor = {convert_event, print_violation, &c};
  const uint64_t violations = trace_read(trace, &visitor);
  free(c.threads);
  idmap_clear(&c.g_ids);
  return violations;
}

uint64_t convert(const char *path, struct trace *trace, struct timeline *line) {
  return read_into(path, trace, line, false);
}

void convert_regions_to_tasks(struct trace *trace, struct timeline *line) {
  read_into(NULL, trace, line, true);
}
