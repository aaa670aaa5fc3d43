// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the records of a row and passes them to the file format, which encodes
// them as events. Keeps track of the state of the thread that owns the row.
// Omits records that readers of the file would reject.
//
// Events have sequence numbers, so that readers can order the events of several
// rows. Each thread has its own sequence. Every start of the thread takes the
// next number, and so does every event that makes the thread runnable.
//
// The row of a thread contains these events in order, so their numbers are
// counted while the row is read. If thread A wakes thread B, the row of A does
// not show the sequence numbers of B. Therefore B has written its sequence
// number into the WAKE record in the row of A.

#include "trace/trace_records.h"

#include "sys/clock.h"
#include "sys/message.h"
#include "thread/labels.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

#include <string.h>

// --- reading ---

enum {
  PLAIN = MPROF_TRACE_PLAIN,
  STACK = MPROF_TRACE_STACK,
  START = MPROF_TRACE_START_STACK,
  NAME = MPROF_TRACE_NAME
};
#define NUMBERS(...)                                                           \
  {                                                                            \
    sizeof((const unsigned char[]){__VA_ARGS__}), { __VA_ARGS__ }              \
  }
const struct mprof_trace_arguments mprof_trace_arguments_of[] = {
    [MPROF_TRACE_BEGIN] = NUMBERS(PLAIN, PLAIN, PLAIN, START),
    [MPROF_TRACE_STOP] = NUMBERS(STACK),
    [MPROF_TRACE_PRE] = NUMBERS(PLAIN, PLAIN, START, PLAIN),
    [MPROF_TRACE_CREATE] = NUMBERS(PLAIN, START, STACK),
    [MPROF_TRACE_BLOCK_SYNC] = NUMBERS(STACK),
    [MPROF_TRACE_BLOCK_COND] = NUMBERS(STACK),
    [MPROF_TRACE_BLOCK_NET] = NUMBERS(STACK),
    [MPROF_TRACE_BLOCK_SELECT] = NUMBERS(STACK),
    [MPROF_TRACE_SLEEP] = NUMBERS(STACK),
    [MPROF_TRACE_START_SELF] = NUMBERS(STACK, PLAIN),
    [MPROF_TRACE_WAKE] = NUMBERS(STACK),
    [MPROF_TRACE_CALL] = NUMBERS(STACK),
    [MPROF_TRACE_CALL_LONG] = NUMBERS(STACK, PLAIN),
    [MPROF_TRACE_CALL_OPEN] = NUMBERS(STACK),
    [MPROF_TRACE_HEAP] = NUMBERS(PLAIN),
    [MPROF_TRACE_GC_START] = NUMBERS(PLAIN, STACK),
    [MPROF_TRACE_TASK] = NUMBERS(PLAIN, PLAIN, NAME, STACK),
    [MPROF_TRACE_TASK_END] = NUMBERS(PLAIN, STACK),
    [MPROF_TRACE_REGION] = NUMBERS(PLAIN, PLAIN, NAME, STACK),
    [MPROF_TRACE_LOG] = NUMBERS(PLAIN, NAME, STACK, PLAIN),
    [MPROF_TRACE_LABELS] = NUMBERS(PLAIN),
    [MPROF_TRACE_CHARGE] = NUMBERS(STACK, PLAIN),
    [MPROF_TRACE_LOCK] = NUMBERS(PLAIN)};

const unsigned char *mprof_trace_read_record(const unsigned char *p,
                                             struct mprof_trace_record *r) {
  r->type = (enum mprof_trace_type) * p++;
  r->ticks = r->type == MPROF_TRACE_PRE ? 0 : mprof_trace_get(&p);
  const unsigned n =
      r->type < MPROF_TRACE_TYPES ? mprof_trace_arguments_of[r->type].len : 0;
  for (unsigned i = 0; i < n; i++)
    r->n[i] = mprof_trace_get(&p);
  if (r->type == MPROF_TRACE_WAKE) {
    p = mprof_trace_woken_field(p);
    uint64_t signed_by;
    memcpy(&signed_by, p, sizeof(signed_by));
    p += sizeof(signed_by);
    r->n[1] = signed_by >> 32;
    r->n[2] = (uint32_t)signed_by;
  } else if (r->type == MPROF_TRACE_LOG) {
    r->text = p;
    p += r->n[3];
  }
  return p;
}

// --- state of the row's thread ---

// Returns the state of a thread after r, the BEGIN record of the thread.
static struct mprof_trace_thread begun(const struct mprof_trace_record *r) {
  struct mprof_trace_thread t = {
      .g = r->n[0], .tid = r->n[1], .start = r->n[3], .seq = 1};
  if (r->n[2] == MPROF_TRACE_FROM_WAIT) {
    t.seq = 0;
    t.waits = true;
  } else if (r->n[2] == MPROF_TRACE_FROM_WAITING) {
    t.seq = 2; // the wake-up has a number, too
  }
  return t;
}

void mprof_trace_follow(struct mprof_trace_thread *t,
                        const struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_BEGIN:
    *t = begun(r);
    break;
  case MPROF_TRACE_END:
    t->g = 0;
    break;
  case MPROF_TRACE_BLOCK_SYNC:
  case MPROF_TRACE_BLOCK_COND:
  case MPROF_TRACE_BLOCK_NET:
  case MPROF_TRACE_BLOCK_SELECT:
  case MPROF_TRACE_SLEEP:
  case MPROF_TRACE_CALL_OPEN:
    t->waits = true;
    break;
  case MPROF_TRACE_START:
  case MPROF_TRACE_START_SELF:
    t->waits = false;
    t->seq += 2;
    break;
  case MPROF_TRACE_LABELS:
    t->labels = (uint16_t)r->n[0];
    break;
  default:
    break;
  }
}

// --- events by a format's table ---

static uint64_t argument(struct mprof_trace_writer *w, unsigned kind,
                         uint64_t n) {
  switch (kind) {
  case STACK:
    return mprof_trace_stack_number(w, n);
  case START:
    return mprof_trace_start_number(w, n, 0);
  case NAME:
    return mprof_trace_name_number(w, n);
  default:
    return n;
  }
}

static void put_event(struct mprof_trace_writer *w,
                      const struct mprof_trace_form *f, uint64_t ticks,
                      const struct mprof_trace_record *r) {
  const struct mprof_trace_arguments *numbers =
      &mprof_trace_arguments_of[r->type];
  uint64_t args[2 + MPROF_TRACE_ARGUMENTS];
  size_t n = 1;
  args[0] = ticks;
  if (f->text)
    args[n++] = mprof_trace_string_number(w, f->text);
  for (unsigned i = 0; i < numbers->len; i++)
    args[n++] = argument(w, numbers->kinds[i], r->n[i]);
  w->format->event(w, f->event, args, n);
  if (f->then != 0)
    EVENT(w, f->then, 0);
}

static const struct mprof_trace_form *
form_of(const struct mprof_trace_writer *w, enum mprof_trace_type type) {
  return &w->format->forms->of[type];
}

// A start of a thread takes the next two sequence numbers of the thread: one
// for the wake-up and one for the start.
void mprof_trace_write_start(struct mprof_trace_writer *w,
                             struct mprof_trace_written *to, uint64_t ticks,
                             const struct mprof_trace_record *r) {
  const struct mprof_trace_thread *t = &to->thread;
  if (r->type == MPROF_TRACE_START_SELF) {
    EVENT(w, form_of(w, MPROF_TRACE_WAKE)->event, ticks, t->g, t->seq + 1,
          mprof_trace_stack_number(w, r->n[0]));
    ticks = r->n[1];
  }
  EVENT(w, form_of(w, MPROF_TRACE_START)->event, ticks, t->g, t->seq + 2);
}

void mprof_trace_write_wake(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r) {
  (void)to;
  EVENT(w, form_of(w, MPROF_TRACE_WAKE)->event, ticks, r->n[1], r->n[2],
        mprof_trace_stack_number(w, r->n[0]));
}

bool mprof_trace_put_events(struct mprof_trace_writer *w,
                            struct mprof_trace_written *to, uint64_t ticks,
                            const struct mprof_trace_record *r) {
  const struct mprof_trace_form *f = form_of(w, r->type);
  if (f->put)
    f->put(w, to, ticks, r);
  else if (f->event != 0)
    put_event(w, f, ticks, r);
  return f->put || f->event != 0;
}

// --- writing ---

static bool put(struct mprof_trace_writer *w, struct mprof_trace_written *to,
                uint64_t ticks, const struct mprof_trace_record *r) {
  return w->format->record(w, to, ticks, r);
}

static bool put_region_begin(struct mprof_trace_writer *w,
                             struct mprof_trace_written *to, uint64_t ticks,
                             const struct mprof_trace_record *r) {
  if (to->regions == MPROF_TRACE_REGIONS) {
    to->deeper++;
    return false;
  }
  if (!put(w, to, ticks, r))
    return false;
  to->region[to->regions].task = r->n[0];
  to->region[to->regions].name = r->n[2];
  to->regions++;
  return true;
}

// Writes the end of a region. Readers reject a file whose regions are not
// properly nested. Therefore the function also ends inner regions that are
// still open, because a longjmp or an exception has skipped their ends. Omits
// the end if the file does not contain the start of the region. For example, a
// flight recorder may have dropped the start.
static bool put_region_end(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to, uint64_t ticks,
                           const struct mprof_trace_record *r) {
  uint32_t depth = to->regions;
  if (to->deeper > 0) {
    to->deeper--;
    return false;
  }
  while (depth > 0 && (to->region[depth - 1].task != r->n[0] ||
                       to->region[depth - 1].name != r->n[2]))
    depth--;
  if (depth == 0)
    return false;
  for (; to->regions >= depth; to->regions--) {
    struct mprof_trace_record end = *r;
    end.n[0] = to->region[to->regions - 1].task;
    end.n[2] = to->region[to->regions - 1].name;
    put(w, to, ticks, &end);
    ticks = 0;
  }
  return true;
}

// Writes the start or the end of a garbage collection. Omits the end if the
// file does not contain the start.
static bool put_collection(struct mprof_trace_writer *w,
                           struct mprof_trace_written *to, uint64_t ticks,
                           const struct mprof_trace_record *r) {
  const bool begins = r->type == MPROF_TRACE_GC_START;
  if ((!begins && to->collection == 0) || !put(w, to, ticks, r))
    return false;
  to->collection = begins ? 1 + r->n[0] : 0;
  return true;
}

// Appends s to the text of a label set. s is one character, one escape sequence
// or punctuation. If s does not fit, reduces the capacity of the text to its
// length, so that s is not split and no later part is appended.
static void add_part(void *arg, const char *s, size_t len) {
  struct mprof_text *t = arg;
  if (len < t->cap - t->len)
    mprof_text_mem(t, s, len);
  else
    t->cap = t->len + 1;
}

static MPROF_NOINLINE bool put_labels(struct mprof_trace_writer *w,
                                      struct mprof_trace_written *to,
                                      uint64_t ticks,
                                      const struct mprof_trace_record *r) {
  char text[MPROF_TRACE_LOG_MAX + 1];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_labels_write((uint16_t)r->n[0], add_part, &t);
  const struct mprof_trace_record log = {
      .type = MPROF_TRACE_LOG,
      .n = {0, mprof_trace_labels_key(), 0, t.len},
      .text = (const unsigned char *)text};
  return put(w, to, ticks, &log);
}

// Writes the charge of a lock's release as a message of the program. The charge
// is the time that all waiters have waited since the last release that has a
// charge. The formats have no event for it. mprof trace top reads these
// messages.
static MPROF_NOINLINE bool put_charge(struct mprof_trace_writer *w,
                                      struct mprof_trace_written *to,
                                      uint64_t ticks,
                                      const struct mprof_trace_record *r) {
  char text[24];
  struct mprof_text t = MPROF_TEXT(text);
  const uint32_t key = mprof_trace_charge_key();
  mprof_text_dec(&t, mprof_clock_ns(r->n[1]));
  const struct mprof_trace_record log = {.type = MPROF_TRACE_LOG,
                                         .n = {0, key, r->n[0], t.len},
                                         .text = (const unsigned char *)text};
  return key != 0 && put(w, to, ticks, &log);
}

// Writes the events of record r, unless readers would reject them. Returns
// whether the record became an event.
static bool put_checked(struct mprof_trace_writer *w,
                        struct mprof_trace_written *to, uint64_t ticks,
                        const struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_WAKE:
    // n[1] is the number of the woken thread. It is 0 if no thread has written
    // its number into the record. In that case, the release woke no thread.
    return r->n[1] != 0 && put(w, to, ticks, r);
  case MPROF_TRACE_REGION:
    return r->n[1] != 0 ? put_region_end(w, to, ticks, r)
                        : put_region_begin(w, to, ticks, r);
  case MPROF_TRACE_GC_START:
  case MPROF_TRACE_GC_DONE:
    return put_collection(w, to, ticks, r);
  case MPROF_TRACE_LABELS:
    return put_labels(w, to, ticks, r);
  case MPROF_TRACE_CHARGE:
    return put_charge(w, to, ticks, r);
  case MPROF_TRACE_BEGIN:
    to->regions = to->deeper = 0;
    to->collection = 0;
    return put(w, to, ticks, r);
  default:
    return put(w, to, ticks, r);
  }
}

void mprof_trace_write_record(struct mprof_trace_writer *w,
                              struct mprof_trace_written *to,
                              const struct mprof_trace_record *r) {
  const uint64_t ticks = to->left + r->ticks;
  if (r->type == MPROF_TRACE_PRE) // a PRE record has no time
    put(w, to, 0, r);
  else
    to->left = put_checked(w, to, ticks, r) ? 0 : ticks;
  mprof_trace_follow(&to->thread, r);
}

void mprof_trace_write_row_end(struct mprof_trace_writer *w,
                               struct mprof_trace_written *to,
                               const struct mprof_trace_row *row) {
  // row->ticks may be later than the end of the session, because the thread may
  // have been in the middle of a record at that time and finished it later.
  const uint64_t end = row->end_ticks, last = row->ticks;
  struct mprof_trace_record r = {.ticks = end > last ? end - last : 0};
  if (to->collection != 0) {
    r.type = MPROF_TRACE_GC_DONE;
    mprof_trace_write_record(w, to, &r);
    r.ticks = 0;
  }
  r.type = MPROF_TRACE_STOP;
  if (to->thread.g != 0 && !to->thread.waits)
    mprof_trace_write_record(w, to, &r);
}

void mprof_trace_write_records(struct mprof_trace_writer *w,
                               struct mprof_trace_row *row,
                               const struct mprof_trace_buf *b) {
  struct mprof_trace_written *to = &row->written;
  struct mprof_trace_record r;
  const unsigned char *p = b->data, *const end = b->data + b->len;
  w->format->begin_batch(w, to, b->row, b->ticks - to->left);
  while (p < end) {
    p = mprof_trace_read_record(p, &r);
    mprof_trace_write_record(w, to, &r);
  }
  if (row->end_ticks != 0 && !b->next)
    mprof_trace_write_row_end(w, to, row);
  w->format->end_batch(w);
}
