// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a trace in the format of Go 1.5. The events of all threads are
// numbered in one common sequence. Stacks are lists of addresses. The format
// has no tasks, regions and messages. (Go: traceEvent, traceStackTable.dump)
//
// An address in the program's executable is written as the address in that
// file, as addr2line expects it. An address in a library is written as the
// address in memory.
//
// The threads of a traced program do not share a counter of events. Therefore
// this file keeps the events of each row until all rows are complete. Then it
// merges the rows: it repeatedly takes the earliest event that is ready. An
// event is ready if its thread has the status and the sequence number that the
// event requires.

#include "trace/write_trace.h"

#include "bucket/bucket.h"
#include "symbolize/symbolize.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/pctable.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"

#include <errno.h>
#include <string.h>

// The numbers of Go's event types. (Go: traceEv*)
enum {
  EV_BATCH = 1,
  EV_FREQUENCY = 2,
  EV_STACK = 3,
  EV_GOMAXPROCS = 4,
  EV_PROC_START = 5,
  EV_PROC_STOP = 6,
  EV_GC_START = 7,
  EV_GC_DONE = 8,
  EV_GO_CREATE = 13,
  EV_GO_START = 14,
  EV_GO_END = 15,
  EV_GO_PREEMPT = 18,
  EV_GO_SLEEP = 19,
  EV_GO_UNBLOCK = 21,
  EV_GO_BLOCK_SELECT = 24,
  EV_GO_BLOCK_SYNC = 25,
  EV_GO_BLOCK_COND = 26,
  EV_GO_BLOCK_NET = 27,
  EV_GO_SYS_CALL = 28,
  EV_GO_SYS_EXIT = 29,
  EV_GO_SYS_BLOCK = 30,
  EV_GO_WAITING = 31,
  EV_GO_IN_SYSCALL = 32,
  EV_HEAP_ALLOC = 33,
};

// Layout of the first byte of an event. The low six bits hold the type. The
// upper two bits hold the number of arguments, without the first argument. If
// these two bits are 3, the next byte holds the length of all arguments in
// bytes. (Go: traceArgCountShift)
enum { EV_ARGS_SHIFT = 6, EV_ARGS_COUNTED = 3 };

// Numbers of stacks begin where no code is mapped, because the addresses of
// start functions number other stacks.
#define STACKS_AFTER (UINT64_C(1) << 47)

enum {
  FRAMES_MAX = 128, // (Go: traceStackSize)
  ARGS_MAX = 6,
  EVENT_MAX = 2 + (ARGS_MAX + 1) * 10, // bytes
  BATCH_MAX = 65536,
  NONE = UINT32_MAX,
};

struct event {
  unsigned type;
  uint64_t ticks;
  uint64_t args[ARGS_MAX]; // without the time; adapt() makes those of the file
  size_t n;
};

// The events of one row, and the batch of the file that receives these events.
// A row has the events of one thread at a time; several threads may use it one
// after another.
struct source {
  // The encoded events. Each event consists of its type, the number of its
  // arguments, the ticks since the previous event, and the arguments.
  struct mprof_trace_list events;
  const unsigned char *at;
  struct event head; // the next event of the row
  uint64_t ticks;    // time of the last event stored or read
  uint64_t g;        // number of the thread that uses the row at this event
  struct mprof_trace_list batch;
  uint64_t seq, batch_ticks; // number and time of the last event in the batch
};

struct state {
  struct mprof_trace_list sources; // array of struct source, indexed by row
  uint32_t row;                    // index of the row of the current batch
  uint64_t ticks;                  // time of the last event
  bool left_out;  // records were omitted that format 1.5 cannot represent
  uint64_t seq;   // number of the next event in the file
  uint32_t *heap; // heap of row indices, ordered by their next event's time
  uint32_t heap_len;
  size_t heap_bytes;
  // Maps 1 + the number of a thread to the state of the thread. The function
  // at() encodes the state as one number.
  struct mprof_pc_table threads;
  struct mprof_pc_table starts; // addresses of the threads' start functions
};

static struct state *state_of(const struct mprof_trace_writer *w) {
  return w->state;
}

static struct source *source_of(const struct state *s, uint32_t row) {
  return (struct source *)s->sources.v + row;
}

// --- keeping events ---

static void begin_batch(struct mprof_trace_writer *w,
                        const struct mprof_trace_written *to, uint32_t row,
                        uint64_t ticks) {
  struct state *s = state_of(w);
  const struct source empty = {.g = 0};
  (void)to;
  s->row = row;
  s->ticks = ticks;
  while (s->sources.len <= row && w->error == 0)
    mprof_trace_append(w, &s->sources, &empty, 1, sizeof(empty));
}

static void end_batch(struct mprof_trace_writer *w) { (void)w; }

static void event(struct mprof_trace_writer *w, unsigned type,
                  const uint64_t *args, size_t n) {
  struct state *s = state_of(w);
  unsigned char bytes[EVENT_MAX], *p = bytes;
  if (w->error != 0)
    return;
  struct source *row = source_of(s, s->row);
  s->ticks += args[0];
  *p++ = (unsigned char)type;
  *p++ = (unsigned char)(n - 1);
  p = mprof_trace_put(p, s->ticks - row->ticks);
  row->ticks = s->ticks;
  for (size_t i = 1; i < n; i++)
    p = mprof_trace_put(p, args[i]);
  if (mprof_trace_append(w, &row->events, bytes, (size_t)(p - bytes), 1))
    w->events++;
}

// Reads the next event of the row into row->head. Returns false after the last
// event of the row.
static bool next_event(struct source *row) {
  const unsigned char *end =
      (const unsigned char *)row->events.v + row->events.len;
  if (row->at == end)
    return false;
  struct event *e = &row->head;
  e->type = *row->at++;
  e->n = *row->at++;
  row->ticks += mprof_trace_get(&row->at);
  e->ticks = row->ticks;
  for (size_t i = 0; i < e->n; i++)
    e->args[i] = mprof_trace_get(&row->at);
  return true;
}

// --- order of events ---

enum status { DEAD, RUNNABLE, RUNNING, WAITING, IN_CALL };
enum { STATUS_BITS = 3, STATUS_MASK = (1 << STATUS_BITS) - 1 };

// Returns the state of a thread as one number, made of its status and of the
// sequence number of its next start or wake-up.
static uint64_t at(uint64_t seq, enum status status) {
  return seq << STATUS_BITS | (uint64_t)status;
}

// Describes how event e changes the state of a thread. Stores the number of the
// thread in *g, the state that e requires in *from, and the state after e in
// *to. Returns false if e is possible in every state.
static bool transition(const struct event *e, uint64_t *g, uint64_t *from,
                       uint64_t *to) {
  const uint64_t seq = e->args[1];
  *g = e->args[0];
  switch (e->type) {
  case EV_GO_CREATE:
    *from = at(0, DEAD);
    *to = at(1, RUNNABLE);
    return true;
  case EV_GO_WAITING:
    *from = at(1, RUNNABLE);
    *to = at(1, WAITING);
    return true;
  case EV_GO_IN_SYSCALL:
    *from = at(1, RUNNABLE);
    *to = at(2, IN_CALL);
    return true;
  case EV_GO_START:
    *from = at(seq, RUNNABLE);
    *to = at(seq + 1, RUNNING);
    return true;
  case EV_GO_UNBLOCK:
    *from = at(seq, WAITING);
    *to = at(seq + 1, RUNNABLE);
    return true;
  case EV_GO_SYS_EXIT: // the start after the call takes no new number
    *from = at(seq + 1, IN_CALL);
    *to = at(seq, RUNNABLE);
    return true;
  case EV_GC_START: // thread 0 stands for the sequence of collections
    *g = 0;
    *from = at(e->args[0], DEAD);
    *to = at(e->args[0] + 1, DEAD);
    return true;
  default:
    return false;
  }
}

// Returns the address of the state of thread g. Never returns NULL: if there is
// no memory, returns the address of a dummy and sets w->error.
static uint64_t *thread_of(struct mprof_trace_writer *w, uint64_t g) {
  static uint64_t nowhere;
  struct mprof_pc_slot *slot =
      mprof_trace_slot(w, &state_of(w)->threads, 1 + g);
  return slot != NULL ? &slot->value : &nowhere;
}

static bool is_ready(struct mprof_trace_writer *w, const struct event *e) {
  uint64_t g, from, to;
  return !transition(e, &g, &from, &to) || *thread_of(w, g) == from;
}

// Changes the state of the thread as row->head, the next event of the row,
// requires.
static void pass(struct mprof_trace_writer *w, struct source *row) {
  const struct event *e = &row->head;
  uint64_t g, from, to;
  if (transition(e, &g, &from, &to))
    *thread_of(w, g) = to;
  switch (e->type) {
  case EV_GO_START:
    row->g = e->args[0];
    break;
  case EV_GO_BLOCK_SYNC:
  case EV_GO_BLOCK_COND:
  case EV_GO_BLOCK_NET:
  case EV_GO_BLOCK_SELECT:
  case EV_GO_SLEEP:
  case EV_GO_SYS_BLOCK: {
    uint64_t *t = thread_of(w, row->g);
    *t = at(*t >> STATUS_BITS, e->type == EV_GO_SYS_BLOCK ? IN_CALL : WAITING);
    break;
  }
  default:
    break;
  }
}

static bool comes_before(const struct state *s, uint32_t a, uint32_t b) {
  const uint64_t x = source_of(s, a)->head.ticks;
  const uint64_t y = source_of(s, b)->head.ticks;
  return x != y ? x < y : a < b;
}

static void push(struct state *s, uint32_t row) {
  uint32_t i = s->heap_len++;
  for (; i != 0 && comes_before(s, row, s->heap[(i - 1) / 2]); i = (i - 1) / 2)
    s->heap[i] = s->heap[(i - 1) / 2];
  s->heap[i] = row;
}

static uint32_t pop(struct state *s) {
  const uint32_t first = s->heap[0], last = s->heap[--s->heap_len];
  uint32_t i = 0;
  for (uint32_t k; (k = 2 * i + 1) < s->heap_len; i = k) {
    if (k + 1 < s->heap_len && comes_before(s, s->heap[k + 1], s->heap[k]))
      k++;
    if (!comes_before(s, s->heap[k], last))
      break;
    s->heap[i] = s->heap[k];
  }
  s->heap[i] = last;
  return first;
}

// Removes from the heap the row whose event comes next in the file, and returns
// the index of the row. The next event of a row can be written only if is_ready
// returns true for it. Rows whose events are not ready are popped, stored in
// the array behind the heap, and pushed again before the function returns.
// Returns NONE if no event is ready.
static uint32_t take_next(struct mprof_trace_writer *w) {
  struct state *s = state_of(w);
  const uint32_t len = s->heap_len;
  uint32_t found = NONE;
  while (s->heap_len != 0 && found == NONE) {
    const uint32_t row = pop(s);
    if (is_ready(w, &source_of(s, row)->head))
      found = row;
    else
      s->heap[s->heap_len] = row;
  }
  for (uint32_t i = s->heap_len + (found != NONE); i < len; i++)
    push(s, s->heap[i]);
  return found;
}

// --- bytes ---

static void take_address(const struct mprof_frame *f, void *arg) {
  if (!f->is_library)
    *(uint64_t *)arg = f->offset + 1;
}

static uint64_t address_of(const struct mprof_bucket *b, uint32_t i) {
  const mprof_pc pc = mprof_symbolize_shown(b->stack[i], mprof_bucket_gone(b));
  uint64_t address = pc;
  mprof_symbolize(pc, take_address, &address);
  return address;
}

// Returns the address of the start function of a thread, or STACKS_AFTER if the
// function is unknown. number: number of the stack that represents the start
// function.
static uint64_t start_pc(struct mprof_trace_writer *w, uint64_t number) {
  const uint32_t *handles = w->handles.v;
  const struct mprof_bucket *b =
      mprof_trace_stack_bucket(handles[number - STACKS_AFTER - 1]);
  const uint64_t pc =
      b && b->stack_len != 0 ? address_of(b, 0) - 1 : STACKS_AFTER;
  mprof_trace_slot(w, &state_of(w)->starts, pc);
  return pc;
}

// Replaces the arguments of event e, which the functions above need, by those
// of the file. seq: number of the event in the file.
static void adapt(struct mprof_trace_writer *w, struct event *e, uint64_t seq) {
  size_t gone = ARGS_MAX; // index of the argument that the file lacks
  switch (e->type) {
  case EV_GO_CREATE:
    e->args[1] = start_pc(w, e->args[1]);
    break;
  case EV_GO_SYS_EXIT:
    // These arguments are the number and the time at which the call really
    // ended. MProf records this event when the call ends, so the arguments are
    // the event's own number and time.
    e->args[1] = seq;
    e->args[2] = e->ticks;
    break;
  case EV_GO_START:
  case EV_GO_UNBLOCK:
    gone = 1;
    break;
  case EV_GC_START:
    gone = 0;
    break;
  default:
    break;
  }
  if (gone == ARGS_MAX)
    return;
  e->n--;
  memmove(e->args + gone, e->args + gone + 1,
          (e->n - gone) * sizeof(e->args[0]));
}

static void put_batch(struct mprof_trace_writer *w, struct source *row) {
  mprof_trace_put_bytes(w, row->batch.v, row->batch.len);
  row->batch.len = 0;
}

static void put_event(struct mprof_trace_writer *w, struct source *row) {
  struct state *s = state_of(w);
  struct event *e = &row->head;
  unsigned char bytes[2 * EVENT_MAX], body[EVENT_MAX], *p = bytes, *q = body;
  const uint64_t seq = s->seq++;
  adapt(w, e, seq);
  if (row->batch.len + sizeof(bytes) > BATCH_MAX)
    put_batch(w, row);
  if (row->batch.len == 0) {
    *p++ = EV_BATCH | 1 << EV_ARGS_SHIFT;
    p = mprof_trace_put(p, (uint64_t)(row - source_of(s, 0)));
    p = mprof_trace_put(p, seq);
    p = mprof_trace_put(p, e->ticks);
    row->seq = seq;
    row->batch_ticks = e->ticks;
  }
  q = mprof_trace_put(q, seq - row->seq);
  q = mprof_trace_put(q, e->ticks - row->batch_ticks);
  for (size_t i = 0; i < e->n; i++)
    q = mprof_trace_put(q, e->args[i]);
  const size_t shown = e->n < EV_ARGS_COUNTED ? e->n : EV_ARGS_COUNTED;
  *p++ = (unsigned char)(e->type | shown << EV_ARGS_SHIFT);
  if (shown == EV_ARGS_COUNTED)
    *p++ = (unsigned char)(q - body);
  memcpy(p, body, (size_t)(q - body));
  p += q - body;
  row->seq = seq;
  row->batch_ticks = e->ticks;
  mprof_trace_append(w, &row->batch, bytes, (size_t)(p - bytes), 1);
}

static void put_string(struct mprof_trace_writer *w, uint64_t number,
                       const char *s, size_t len) {
  (void)w, (void)number, (void)s, (void)len;
}

// Writes the stack `number` of n return addresses. n: at most FRAMES_MAX.
static void put_addresses(struct mprof_trace_writer *w, uint64_t number,
                          const uint64_t *addresses, uint32_t n) {
  unsigned char head[2 + 10], body[(2 + FRAMES_MAX) * 10], *p = head, *q = body;
  q = mprof_trace_put(q, number);
  q = mprof_trace_put(q, n);
  for (uint32_t i = 0; i < n; i++)
    q = mprof_trace_put(q, addresses[i]);
  *p++ = EV_STACK | EV_ARGS_COUNTED << EV_ARGS_SHIFT;
  p = mprof_trace_put(p, (uint64_t)(q - body));
  mprof_trace_put_bytes(w, head, (size_t)(p - head));
  mprof_trace_put_bytes(w, body, (size_t)(q - body));
}

static void put_stack(struct mprof_trace_writer *w, uint64_t number,
                      uint32_t handle) {
  const struct mprof_bucket *b = mprof_trace_stack_bucket(handle);
  uint64_t addresses[FRAMES_MAX];
  if (!b)
    return; // unknown start function
  const uint32_t n = b->stack_len < FRAMES_MAX ? b->stack_len : FRAMES_MAX;
  for (uint32_t i = 0; i < n; i++)
    addresses[i] = address_of(b, i);
  put_addresses(w, number, addresses, n);
}

// The web view of Go 1.7 to 1.22 takes the start address in GO_CREATE for the
// number of a stack, because newer formats have a stack there. Therefore each
// start function has a stack whose number is its address.
static void put_start_stacks(struct mprof_trace_writer *w) {
  const struct mprof_pc_table *starts = &state_of(w)->starts;
  for (size_t i = 0; i < starts->count; i++) {
    const uint64_t start = starts->slots[i].pc, address = start + 1;
    if (start != 0)
      put_addresses(w, start, &address, 1);
  }
}

static void put_next(struct mprof_trace_writer *w) {
  const uint32_t i = take_next(w);
  if (i == NONE) { // the records contradict each other
    w->error = -EPROTO;
    return;
  }
  struct source *row = source_of(state_of(w), i);
  pass(w, row);
  put_event(w, row);
  if (next_event(row))
    push(state_of(w), i);
}

// Writes all events, because readers require the events before the stacks.
static void begin_stacks(struct mprof_trace_writer *w, uint64_t end_ticks) {
  struct state *s = state_of(w);
  (void)end_ticks;
  s->heap_bytes = s->sources.len * sizeof(*s->heap);
  s->heap = s->heap_bytes != 0 ? mprof_os_map(s->heap_bytes) : NULL;
  if (!s->heap) {
    w->error = -ENOMEM;
    return;
  }
  for (uint32_t i = 0; i < s->sources.len; i++) {
    struct source *row = source_of(s, i);
    row->at = row->events.v;
    row->ticks = 0;
    if (row->events.len != 0 && next_event(row))
      push(s, i);
  }
  while (s->heap_len != 0 && w->error == 0)
    put_next(w);
  for (uint32_t i = 0; i < s->sources.len; i++)
    put_batch(w, source_of(s, i));
  put_start_stacks(w);
}

// Whether the message about omitted records was printed. The message is printed
// once per process.
static atomic_bool has_said;

static void finish(struct mprof_trace_writer *w, uint64_t end_ticks) {
  unsigned char bytes[1 + 2 * 10], *p = bytes;
  (void)end_ticks;
  *p++ = EV_FREQUENCY;
  p = mprof_trace_put(p, mprof_trace_frequency());
  p = mprof_trace_put(p, 0); // unused
  mprof_trace_put_bytes(w, bytes, (size_t)(p - bytes));
  if (state_of(w)->left_out && !atomic_exchange(&has_said, true))
    mprof_message("tasks, regions and messages of the program are missing from "
                  "the trace: trace_format=1.5 cannot represent them");
}

static void free_state(void *state) {
  struct state *s = state;
  for (uint32_t i = 0; i < s->sources.len; i++) {
    mprof_trace_free_list(&source_of(s, i)->events);
    mprof_trace_free_list(&source_of(s, i)->batch);
  }
  mprof_trace_free_list(&s->sources);
  mprof_pc_table_free(&s->threads);
  mprof_pc_table_free(&s->starts);
  if (s->heap)
    mprof_os_unmap(s->heap, s->heap_bytes);
}

// --- events of a record ---

static void put_begin(struct mprof_trace_writer *w,
                      struct mprof_trace_written *to, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const uint64_t g = r->n[0], tid = r->n[1];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[2];
  uint64_t seq = 1;
  if (from == MPROF_TRACE_FROM_UNKNOWN) {
    EVENT(w, EV_GO_CREATE, ticks, g, mprof_trace_start_number(w, r->n[3], tid),
          0);
    ticks = 0;
  }
  EVENT(w, EV_PROC_START, ticks, tid);
  if (from == MPROF_TRACE_FROM_WAIT)
    return;
  if (from == MPROF_TRACE_FROM_WAITING) {
    EVENT(w, EV_GO_UNBLOCK, 0, g, 1, 0);
    seq = 2;
  } else if (from == MPROF_TRACE_FROM_CALL) {
    EVENT(w, EV_GO_SYS_EXIT, 0, g, 1, 0);
  }
  EVENT(w, EV_GO_START, 0, g, seq);
  // If a thread appears in the file before this event, readers assume that the
  // thread existed when the trace began.
  if (to->is_first)
    EVENT(w, EV_GOMAXPROCS, 0, w->processors, 0);
  to->is_first = false;
}

static void put_pre(struct mprof_trace_writer *w,
                    struct mprof_trace_written *to, uint64_t ticks,
                    const struct mprof_trace_record *r) {
  (void)to, (void)ticks; // a PRE record has no time
  const uint64_t g = r->n[0];
  const enum mprof_trace_from from = (enum mprof_trace_from)r->n[1];
  EVENT(w, EV_GO_CREATE, 0, g, mprof_trace_start_number(w, r->n[2], r->n[3]),
        0);
  if (from == MPROF_TRACE_FROM_WAITING)
    EVENT(w, EV_GO_WAITING, 0, g);
  else if (from == MPROF_TRACE_FROM_CALL)
    EVENT(w, EV_GO_IN_SYSCALL, 0, g);
}

static void put_call(struct mprof_trace_writer *w,
                     struct mprof_trace_written *to, uint64_t ticks,
                     const struct mprof_trace_record *r) {
  const struct mprof_trace_thread *t = &to->thread;
  EVENT(w, EV_GO_SYS_CALL, ticks, mprof_trace_stack_number(w, r->n[0]));
  if (r->type == MPROF_TRACE_CALL)
    return;
  EVENT(w, EV_GO_SYS_BLOCK, 0);
  if (r->type == MPROF_TRACE_CALL_OPEN)
    return;
  EVENT(w, EV_GO_SYS_EXIT, r->n[1], t->g, t->seq, 0);
  EVENT(w, EV_GO_START, 0, t->g, t->seq);
}

// TASK, REGION, LOG and LOCK have no entry, because the format has no such
// events. trace_records.c converts LABELS and CHARGE to LOG records.
static const struct mprof_trace_forms forms = {{
    [MPROF_TRACE_BEGIN] = {.put = put_begin},
    [MPROF_TRACE_END] = {.event = EV_GO_END, .then = EV_PROC_STOP},
    // Go's tracer also writes this event when a trace ends.
    [MPROF_TRACE_STOP] = {.event = EV_GO_PREEMPT},
    [MPROF_TRACE_PRE] = {.put = put_pre},
    [MPROF_TRACE_CREATE] = {.event = EV_GO_CREATE},
    [MPROF_TRACE_BLOCK_SYNC] = {.event = EV_GO_BLOCK_SYNC},
    [MPROF_TRACE_BLOCK_COND] = {.event = EV_GO_BLOCK_COND},
    [MPROF_TRACE_BLOCK_NET] = {.event = EV_GO_BLOCK_NET},
    [MPROF_TRACE_BLOCK_SELECT] = {.event = EV_GO_BLOCK_SELECT},
    [MPROF_TRACE_SLEEP] = {.event = EV_GO_SLEEP},
    [MPROF_TRACE_START] = {.event = EV_GO_START,
                           .put = mprof_trace_write_start},
    [MPROF_TRACE_START_SELF] = {.put = mprof_trace_write_start},
    [MPROF_TRACE_WAKE] = {.event = EV_GO_UNBLOCK,
                          .put = mprof_trace_write_wake},
    [MPROF_TRACE_CALL] = {.put = put_call},
    [MPROF_TRACE_CALL_LONG] = {.put = put_call},
    [MPROF_TRACE_CALL_OPEN] = {.put = put_call},
    [MPROF_TRACE_HEAP] = {.event = EV_HEAP_ALLOC},
    [MPROF_TRACE_GC_START] = {.event = EV_GC_START},
    [MPROF_TRACE_GC_DONE] = {.event = EV_GC_DONE},
}};

static bool record(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                   uint64_t ticks, const struct mprof_trace_record *r) {
  // A region or a message without a stack belongs to the runtime, so its
  // omission is not reported to the user.
  if (r->type == MPROF_TRACE_TASK || r->type == MPROF_TRACE_TASK_END ||
      (r->type == MPROF_TRACE_REGION && r->n[3] != 0) ||
      (r->type == MPROF_TRACE_LOG && r->n[2] != 0))
    state_of(w)->left_out = true;
  return mprof_trace_put_events(w, to, ticks, r);
}

const struct mprof_trace_format mprof_trace_format_1_5 = {
    .name = "1.5",
    .header = "go 1.5 trace\0\0\0",
    .streams = false,
    .has_names = false,
    .string_max = 0,
    .stacks_after = STACKS_AFTER,
    .state_bytes = sizeof(struct state),
    .forms = &forms,
    .begin_batch = begin_batch,
    .end_batch = end_batch,
    .record = record,
    .event = event,
    .string = put_string,
    .begin_stacks = begin_stacks,
    .stack = put_stack,
    .finish = finish,
    .free_state = free_state};
