// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a trace in the format of Go 1.23: batches of at most 64 KiB, all in
// one generation. A batch contains the events of one kernel thread (M), or
// strings, or stacks. The first batch contains the frequency of the clock, so
// that the times in the file of a killed program can be read. (Go:
// internal/trace/tracev2)
//
// A row is written as a processor (P). A P has sequence numbers of its own. The
// thread that owns the row is an M for its whole life. Readers process the
// batches of an M in the order of the file. The kernel may give the tid of an
// ended thread to a new thread. In that case, the new thread gets another M.
//
// A thread in a system call keeps its P, because it is unknown whether another
// thread could have run on that P.

#include "trace/write_trace.h"

#include "sys/pctable.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"

#include <string.h>

// The numbers of Go's event types. (Go: tracev2.Ev*)
enum event {
  EV_EVENT_BATCH = 1,
  EV_STACKS = 2,
  EV_STACK = 3,
  EV_STRINGS = 4,
  EV_STRING = 5,
  EV_CPU_SAMPLES = 6,
  EV_CPU_SAMPLE = 7,
  EV_FREQUENCY = 8,
  EV_PROCS_CHANGE = 9,
  EV_PROC_START = 10,
  EV_PROC_STOP = 11,
  EV_PROC_STATUS = 13,
  EV_GO_CREATE = 14,
  EV_GO_START = 16,
  EV_GO_DESTROY = 17,
  EV_GO_STOP = 19,
  EV_GO_BLOCK = 20,
  EV_GO_UNBLOCK = 21,
  EV_GO_SYSCALL_BEGIN = 22,
  EV_GO_SYSCALL_END = 23,
  EV_GO_SYSCALL_END_BLOCKED = 24,
  EV_GC_BEGIN = 29,
  EV_GC_END = 30,
  EV_HEAP_ALLOC = 37,
  EV_USER_TASK_BEGIN = 40,
  EV_USER_TASK_END = 41,
  EV_USER_REGION_BEGIN = 42,
  EV_USER_REGION_END = 43,
  EV_USER_LOG = 44,
  EV_GO_STATUS_STACK = 48,
};
enum { GO_RUNNABLE = 1, GO_IN_CALL = 3, GO_WAITING = 4 }; // (Go: GoStatus)
enum { PROC_IDLE = 2 };                                   // (Go: ProcStatus)

enum {
  BATCH_MAX = 65536, // maximum in bytes that readers accept
  STRING_MAX = 1024, // maximum in bytes that readers accept
  EVENT_MAX = 1 + 6 * 10,
  GENERATION = 1,
};
#define NO_THREAD UINT64_MAX

// A batch that is being filled. A full or complete batch is written to the
// file.
struct batch {
  uint64_t m, ticks;
  size_t len;
  unsigned char data[BATCH_MAX];
};

struct state {
  // events: the batch of events of the current M (kernel thread). samples,
  // strings, stacks: their batches, which are filled at the same time.
  struct batch events, samples, strings, stacks;
  uint64_t first_ticks; // time of the first batch
  uint64_t m, ticks;    // M (kernel thread) and time of the last event
  uint32_t row;
  bool has_frequency;         // the file contains the frequency
  struct mprof_pc_table tids; // maps 1 + tid to the number of Ms with this tid
};

static struct state *state_of(const struct mprof_trace_writer *w) {
  return w->state;
}

// --- batches ---

static void put_batch(struct mprof_trace_writer *w, struct batch *b) {
  unsigned char head[1 + 4 * 10], *p = head;
  if (b->len == 0)
    return;
  *p++ = EV_EVENT_BATCH;
  p = mprof_trace_put(p, GENERATION);
  p = mprof_trace_put(p, b->m);
  p = mprof_trace_put(p, b->ticks);
  p = mprof_trace_put(p, b->len);
  mprof_trace_put_bytes(w, head, (size_t)(p - head));
  mprof_trace_put_bytes(w, b->data, b->len);
  b->len = 0;
}

static void add(struct batch *b, const void *data, size_t len) {
  memcpy(b->data + b->len, data, len);
  b->len += len;
}

// Adds a string or a stack to batch b. The first byte of such a batch is
// `type`. The string or stack consists of head (head_len bytes) and data (len
// bytes).
static void add_entry(struct mprof_trace_writer *w, struct batch *b,
                      unsigned char type, const unsigned char *head,
                      size_t head_len, const void *data, size_t len) {
  if (b->len + head_len + len > BATCH_MAX)
    put_batch(w, b);
  if (b->len == 0) {
    b->m = NO_THREAD;
    b->ticks = state_of(w)->ticks;
    add(b, &type, 1);
  }
  add(b, head, head_len);
  add(b, data, len);
}

// Writes the current batch to the file if it has no room for `events` more
// events. As a result, these events will be in one batch.
static void keep_together(struct mprof_trace_writer *w, unsigned events) {
  struct batch *b = &state_of(w)->events;
  if (b->len + events * EVENT_MAX > BATCH_MAX)
    put_batch(w, b);
}

static void event(struct mprof_trace_writer *w, unsigned type,
                  const uint64_t *args, size_t n) {
  struct state *s = state_of(w);
  struct batch *b = &s->events;
  w->events++;
  s->ticks += args[0];
  keep_together(w, 1);
  unsigned char *p = b->data + b->len;
  *p++ = (unsigned char)type;
  // The time in the batch header is the time of the first event, so the first
  // event has the time difference 0. If the header had the time of the event
  // before the batch, two batches of an M could have equal times.
  p = mprof_trace_put(p, b->len == 0 ? 0 : args[0]);
  for (size_t i = 1; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  if (b->len == 0) {
    b->m = s->m;
    b->ticks = s->ticks;
  }
  b->len = (size_t)(p - b->data);
}

static void end_batch(struct mprof_trace_writer *w) {
  put_batch(w, &state_of(w)->events);
}

// Writes the batch with the frequency, if the file does not contain it yet.
// Readers accept it only once.
static void put_frequency(struct mprof_trace_writer *w, uint64_t ticks) {
  struct state *s = state_of(w);
  struct batch *b = &s->events;
  if (s->has_frequency)
    return;
  s->has_frequency = true;
  s->first_ticks = ticks;
  b->m = NO_THREAD;
  b->ticks = ticks;
  b->data[0] = EV_FREQUENCY;
  b->len =
      (size_t)(mprof_trace_put(b->data + 1, mprof_trace_frequency()) - b->data);
  put_batch(w, b);
}

static void begin_batch(struct mprof_trace_writer *w,
                        const struct mprof_trace_written *to, uint32_t row,
                        uint64_t ticks) {
  struct state *s = state_of(w);
  put_frequency(w, ticks);
  s->m = to->thread.g != 0 ? to->m : NO_THREAD;
  s->ticks = ticks;
  s->row = row;
}

static void put_string(struct mprof_trace_writer *w, uint64_t number,
                       const char *text, size_t len) {
  unsigned char head[1 + 2 * 10], *p = head;
  *p++ = EV_STRING;
  p = mprof_trace_put(p, number);
  p = mprof_trace_put(p, len);
  add_entry(w, &state_of(w)->strings, EV_STRINGS, head, (size_t)(p - head),
            text, len);
}

static void put_sample(struct mprof_trace_writer *w, uint64_t ticks,
                       uint64_t tid, uint64_t row, uint64_t g, uint64_t stack) {
  struct state *s = state_of(w);
  unsigned char bytes[EVENT_MAX], *p = bytes;
  if (!s->has_frequency || ticks < s->first_ticks)
    return;
  *p++ = EV_CPU_SAMPLE;
  p = mprof_trace_put(p, ticks);
  p = mprof_trace_put(p, tid);
  p = mprof_trace_put(p, row);
  p = mprof_trace_put(p, g);
  p = mprof_trace_put(p, stack);
  w->events++;
  add_entry(w, &s->samples, EV_CPU_SAMPLES, bytes, (size_t)(p - bytes), NULL,
            0);
}

static void begin_stacks(struct mprof_trace_writer *w, uint64_t end_ticks) {
  state_of(w)->ticks = end_ticks;
}

static void put_stack(struct mprof_trace_writer *w, uint64_t number,
                      uint32_t handle) {
  struct mprof_trace_frames f;
  unsigned char head[1 + 2 * 10], *p = head;
  mprof_trace_stack_frames(w, handle, &f);
  *p++ = EV_STACK;
  p = mprof_trace_put(p, number);
  p = mprof_trace_put(p, f.count);
  add_entry(w, &state_of(w)->stacks, EV_STACKS, head, (size_t)(p - head),
            f.bytes, f.len);
}

static void finish(struct mprof_trace_writer *w, uint64_t end_ticks) {
  struct state *s = state_of(w);
  put_batch(w, &s->samples);
  put_batch(w, &s->stacks);
  put_batch(w, &s->strings);
  put_frequency(w, end_ticks);
}

static void free_state(void *state) {
  struct state *s = state;
  mprof_pc_table_free(&s->tids);
}

// --- events of a record ---

static uint64_t stack(struct mprof_trace_writer *w, uint64_t handle) {
  return mprof_trace_stack_number(w, handle);
}

// Returns the M (kernel thread in the file) of a thread that was in a system
// call when the trace began. The status of this thread is in another row, which
// may be written later. Therefore the M is determined by the tid alone.
static uint64_t m_in_call(uint64_t tid) { return UINT64_C(1) << 32 | tid; }

// Returns a new M (kernel thread in the file) for thread tid, which was not in
// a system call when the trace began.
static uint64_t new_m(struct mprof_trace_writer *w, uint64_t tid) {
  struct mprof_pc_slot *slot = mprof_trace_slot(w, &state_of(w)->tids, 1 + tid);
  if (slot == NULL)
    return NO_THREAD;
  const uint64_t before = slot->value++;
  return before == 0 ? tid : (before + 1) << 32 | tid;
}

static void put_begin(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  struct state *s = state_of(w);
  const uint64_t g = r->n[0], tid = r->n[1];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[2];
  uint64_t seq = 1;
  end_batch(w);
  s->m = to->m = from == MPROF_TRACE_FROM_CALL ? m_in_call(tid) : new_m(w, tid);
  if (from == MPROF_TRACE_FROM_CALL) {
    EVENT(w, EV_GO_SYSCALL_END_BLOCKED, ticks);
    ticks = 0;
  }
  if (to->row_seq == 0) {
    EVENT(w, EV_PROC_STATUS, ticks, s->row, PROC_IDLE);
    ticks = 0;
  }
  to->row_seq++;
  EVENT(w, EV_PROC_START, ticks, s->row, to->row_seq);
  if (from == MPROF_TRACE_FROM_WAIT)
    return;
  if (from == MPROF_TRACE_FROM_UNKNOWN)
    EVENT(w, EV_GO_CREATE, 0, g, mprof_trace_start_number(w, r->n[3], tid), 0);
  if (from == MPROF_TRACE_FROM_WAITING) {
    EVENT(w, EV_GO_UNBLOCK, 0, g, 1, 0);
    seq = 2;
  }
  EVENT(w, EV_GO_START, 0, g, seq);
  if (to->is_first)
    EVENT(w, EV_PROCS_CHANGE, 0, w->processors, 0);
  to->is_first = false;
}

// Writes the status of a thread that existed when the trace began. Readers use
// the stack of this event to name the thread.
static void put_pre(struct mprof_trace_writer *w,
                    struct mprof_trace_written *to, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  (void)to, (void)ticks; // a PRE record has no time
  const uint64_t g = r->n[0], tid = r->n[3];
  const uint64_t start = mprof_trace_start_number(w, r->n[2], tid);
  if (r->n[1] == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_STATUS_STACK, 0, g, m_in_call(tid), GO_IN_CALL, start);
  else
    EVENT(w, EV_GO_STATUS_STACK, 0, g, NO_THREAD,
          r->n[1] == MPROF_TRACE_FROM_WAITING ? GO_WAITING : GO_RUNNABLE,
          start);
}

// The start and the end of a system call must be in one batch. The duration of
// a short call was not measured, so its end has the same time as its start.
static void put_call(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  to->row_seq++;
  keep_together(w, 2);
  EVENT(w, EV_GO_SYSCALL_BEGIN, ticks, to->row_seq, stack(w, r->n[0]));
  if (r->type != MPROF_TRACE_CALL_OPEN)
    EVENT(w, EV_GO_SYSCALL_END, r->type == MPROF_TRACE_CALL_LONG ? r->n[1] : 0);
}

// In this format, the starts and ends of garbage collections share one sequence
// of numbers, which starts at 1.
static void put_gc_start(struct mprof_trace_writer *w,
                         struct mprof_trace_written *to, uint64_t ticks,
                         const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, EV_GC_BEGIN, ticks, 2 * r->n[0] + 1, stack(w, r->n[1]));
}

static void put_gc_done(struct mprof_trace_writer *w,
                        struct mprof_trace_written *to, uint64_t ticks,
                        const struct mprof_trace_record *r) {
  (void)r;
  EVENT(w, EV_GC_END, ticks, 2 * to->collection);
}

static void put_region(struct mprof_trace_writer *w,
                       struct mprof_trace_written *to, uint64_t ticks,
                       const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, r->n[1] == 0 ? EV_USER_REGION_BEGIN : EV_USER_REGION_END, ticks,
        r->n[0], mprof_trace_name_number(w, r->n[2]), stack(w, r->n[3]));
}

static void put_log(struct mprof_trace_writer *w,
                    struct mprof_trace_written *to, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, EV_USER_LOG, ticks, r->n[0], mprof_trace_name_number(w, r->n[1]),
        mprof_trace_text_number(w, r->text, r->n[3]), stack(w, r->n[2]));
}

static void put_lock(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, EV_USER_LOG, ticks, 0, mprof_trace_string_number(w, "lock.address"),
        mprof_trace_lock_number(w, r->n[0]), 0);
}

// Each `text` is the reason why the thread stops or waits, in the words of Go's
// tools. LABELS and CHARGE have no entry, because trace_records.c converts
// these records to LOG records.
static const struct mprof_trace_forms forms = {{
    [MPROF_TRACE_BEGIN] = {.put = put_begin},
    [MPROF_TRACE_END] = {.event = EV_GO_DESTROY, .then = EV_PROC_STOP},
    [MPROF_TRACE_STOP] = {.event = EV_GO_STOP, .text = "preempted"},
    [MPROF_TRACE_PRE] = {.put = put_pre},
    [MPROF_TRACE_CREATE] = {.event = EV_GO_CREATE},
    [MPROF_TRACE_BLOCK_SYNC] = {.event = EV_GO_BLOCK, .text = "sync"},
    [MPROF_TRACE_BLOCK_COND] = {.event = EV_GO_BLOCK,
                                .text = "sync.(*Cond).Wait"},
    [MPROF_TRACE_BLOCK_NET] = {.event = EV_GO_BLOCK, .text = "network"},
    [MPROF_TRACE_BLOCK_SELECT] = {.event = EV_GO_BLOCK, .text = "select"},
    [MPROF_TRACE_SLEEP] = {.event = EV_GO_BLOCK, .text = "sleep"},
    [MPROF_TRACE_START] = {.event = EV_GO_START,
                           .put = mprof_trace_write_start},
    [MPROF_TRACE_START_SELF] = {.put = mprof_trace_write_start},
    [MPROF_TRACE_WAKE] = {.event = EV_GO_UNBLOCK,
                          .put = mprof_trace_write_wake},
    [MPROF_TRACE_CALL] = {.put = put_call},
    [MPROF_TRACE_CALL_LONG] = {.put = put_call},
    [MPROF_TRACE_CALL_OPEN] = {.put = put_call},
    [MPROF_TRACE_HEAP] = {.event = EV_HEAP_ALLOC},
    [MPROF_TRACE_GC_START] = {.put = put_gc_start},
    [MPROF_TRACE_GC_DONE] = {.put = put_gc_done},
    [MPROF_TRACE_TASK] = {.event = EV_USER_TASK_BEGIN},
    [MPROF_TRACE_TASK_END] = {.event = EV_USER_TASK_END},
    [MPROF_TRACE_REGION] = {.put = put_region},
    [MPROF_TRACE_LOG] = {.put = put_log},
    [MPROF_TRACE_LOCK] = {.put = put_lock},
}};

const struct mprof_trace_format mprof_trace_format_1_23 = {
    .name = "1.23",
    .header = "go 1.23 trace\0\0",
    .streams = true,
    .has_names = true,
    .string_max = STRING_MAX,
    .state_bytes = sizeof(struct state),
    .forms = &forms,
    .begin_batch = begin_batch,
    .end_batch = end_batch,
    .record = mprof_trace_put_events,
    .event = event,
    .string = put_string,
    .sample = put_sample,
    .begin_stacks = begin_stacks,
    .stack = put_stack,
    .finish = finish,
    .free_state = free_state};
