// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The newest part of a trace, of which the oldest buffers are gone: a flight
// recorder's. (Go: FlightRecorder)
//
// The file begins at one time, the same for all rows: when the wanted time
// begins, or the youngest of the buffers that rows begin with. Threads that
// there were then are what a session's begin would have found. What is said of
// them later must fit that: sequence numbers begin anew, who was made ready
// before and starts after makes itself ready, ends of what began before are
// left out.

#include "pctable.h"
#include "write_trace.h"

#include <errno.h>

// Where a row is at that time.
struct place {
  const struct mprof_trace_row *row;
  const struct mprof_trace_buf *buf; // NULL: nothing more is in it
  const unsigned char *at;           // the first record that is in the file
  uint64_t ticks;                    // of the record before it
  uint64_t g;                        // of the thread; 0: none
  uint64_t seq;                      // as the row counts
  uint64_t start, tid;
  bool waits;
};

struct window {
  struct mprof_trace_writer *w;
  uint64_t ticks; // when it begins
  struct place *places;
  size_t places_len, mapped_bytes;
  // What is in the file: numbers of threads that are created in it, and wakes,
  // by key_of_wake. And by a thread's number what its row counts when the file
  // counts 1; 0: they count alike.
  struct mprof_pc_table known, ahead;
  uint64_t first_collection; // the number of the first that begins in it
  int error;
};

static uint64_t key_of_wake(uint64_t g, uint64_t seq) {
  return UINT64_C(1) << 63 | g << 32 | seq;
}

// --- looking ---

static uint64_t begin_of(const struct mprof_trace_row *rows,
                         uint64_t wanted_ticks) {
  uint64_t begin = wanted_ticks;
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    if (r->is_cut && r->first && r->first->ticks > begin)
      begin = r->first->ticks;
  return begin;
}

// Of BEGIN: whether its row counts what made the thread ready.
static bool waited_before(const struct mprof_trace_record *r) {
  return r->n[2] == MPROF_TRACE_FROM_WAITING ||
         r->n[2] == MPROF_TRACE_FROM_CALL;
}

// What a record before the window does to its thread.
static void pass(struct place *p, const struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_BEGIN:
    p->g = r->n[0];
    p->tid = r->n[1];
    p->seq = waited_before(r) ? 3 : 1;
    p->start = r->n[3];
    p->waits = false;
    break;
  case MPROF_TRACE_END:
    p->g = 0;
    break;
  case MPROF_TRACE_BLOCK_SYNC:
  case MPROF_TRACE_BLOCK_COND:
  case MPROF_TRACE_BLOCK_NET:
  case MPROF_TRACE_BLOCK_SELECT:
  case MPROF_TRACE_SLEEP:
  case MPROF_TRACE_CALL_OPEN:
    p->waits = true;
    break;
  case MPROF_TRACE_START:
  case MPROF_TRACE_START_SELF:
    p->waits = false;
    p->seq += 2;
    break;
  case MPROF_TRACE_CALL_LONG:
    p->seq += 2;
    p->ticks += r->n[1];
    break;
  default:
    break;
  }
}

static void look_at_row(struct window *v, const struct mprof_trace_row *row) {
  const struct mprof_trace_buf *b = row->first;
  struct place *p = &v->places[v->places_len++];
  *p = (struct place){.row = row};
  if (!b)
    return;
  *p = (struct place){.row = row,
                      .ticks = b->ticks,
                      .g = b->g,
                      .seq = b->seq,
                      .start = b->start,
                      .tid = (uint64_t)b->tid,
                      .waits = b->waits};
  for (; b; b = b->next) {
    const unsigned char *at = b->data, *const end = b->data + b->len;
    while (at < end) {
      struct mprof_trace_record r;
      const unsigned char *next = mprof_trace_read_record(at, &r);
      if (p->ticks + r.ticks >= v->ticks) {
        p->buf = b;
        p->at = at;
        return;
      }
      p->ticks += r.ticks;
      pass(p, &r);
      at = next;
    }
  }
}

static void note(struct window *v, struct mprof_pc_table *t, uint64_t key,
                 uint64_t value) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, key);
  if (s)
    s->value = value;
  else
    v->error = ENOMEM;
}

static uint64_t value_of(struct window *v, struct mprof_pc_table *t,
                         uint64_t key) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, key);
  if (!s)
    v->error = ENOMEM;
  return s ? s->value : 0;
}

// Calls fn for each record of a place's row in the window.
static void each(struct window *v, struct place *p,
                 void (*fn)(struct window *, struct place *,
                            struct mprof_trace_record *)) {
  for (const struct mprof_trace_buf *b = p->buf; b; b = b->next) {
    const unsigned char *const end = b->data + b->len;
    const unsigned char *at = b == p->buf ? p->at : b->data;
    while (at < end) {
      struct mprof_trace_record r;
      at = mprof_trace_read_record(at, &r);
      fn(v, p, &r);
    }
  }
}

static void note_record(struct window *v, struct place *p,
                        struct mprof_trace_record *r) {
  (void)p;
  if (r->type == MPROF_TRACE_CREATE)
    note(v, &v->known, r->n[0], 1);
  else if (r->type == MPROF_TRACE_WAKE && r->n[1] != 0)
    note(v, &v->known, key_of_wake(r->n[1], r->n[2]), 1);
  else if (r->type == MPROF_TRACE_GC_START && r->n[0] < v->first_collection)
    v->first_collection = r->n[0];
  else if (r->type == MPROF_TRACE_BEGIN && waited_before(r))
    note(v, &v->ahead, r->n[0], 3); // it begins as if it had just been created
}

// --- writing ---

// The file's own thread, which begins it: readers want one that runs when the
// number of processors is told.
static void put_begin(struct window *v, uint32_t row) {
  const uint64_t g = mprof_trace_new_g();
  EVENT(v->w, EV_BATCH, row, v->ticks);
  for (size_t i = 0; i < v->places_len; i++) {
    const struct place *p = &v->places[i];
    if (p->g == 0)
      continue;
    EVENT(v->w, EV_GO_CREATE, 0, p->g,
          mprof_trace_start_number(v->w, p->start,
                                   p->tid == (uint64_t)mprof_sys_getpid()),
          0);
    if (p->waits)
      EVENT(v->w, EV_GO_WAITING, 0, p->g);
    // Its next number is 2: of its start or of what makes it ready.
    note(v, &v->ahead, p->g, p->seq);
  }
  EVENT(v->w, EV_GO_CREATE, 0, g, mprof_trace_start_number(v->w, 0, false), 0);
  EVENT(v->w, EV_PROC_START, 0, 0);
  EVENT(v->w, EV_GO_START, 0, g, 1);
  EVENT(v->w, EV_GOMAXPROCS, 0, mprof_trace_processors(v->w), 0);
  EVENT(v->w, EV_GO_END, 0);
  EVENT(v->w, EV_PROC_STOP, 0);
}

static struct mprof_trace_written *written_of(const struct place *p) {
  return (struct mprof_trace_written *)&p->row->written;
}

// Makes a record say what is right in the file. False: it is not in it.
static bool adapt(struct window *v, struct place *p,
                  struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_PRE:
    return false; // if it comes, it is seen by itself
  case MPROF_TRACE_BEGIN:
    if (r->n[2] != MPROF_TRACE_FROM_CREATE ||
        value_of(v, &v->known, r->n[0]) == 0)
      r->n[2] = MPROF_TRACE_FROM_UNKNOWN;
    return true;
  case MPROF_TRACE_WAKE: {
    if (r->n[1] == 0)
      return true;
    const uint64_t ahead = value_of(v, &v->ahead, r->n[1]);
    if (ahead != 0 && r->n[2] <= ahead)
      r->n[1] = 0; // what it made ready had started before
    else if (ahead != 0)
      r->n[2] -= ahead - 1;
    return true;
  }
  case MPROF_TRACE_START: {
    const struct mprof_trace_written *to = written_of(p);
    const uint64_t ahead = value_of(v, &v->ahead, to->g);
    const uint64_t seq = to->seq + 1 + (ahead != 0 ? ahead - 1 : 0);
    if (value_of(v, &v->known, key_of_wake(to->g, seq)) == 0) {
      r->type = MPROF_TRACE_START_SELF;
      r->n[0] = 0;
    }
    return true;
  }
  case MPROF_TRACE_GC_START:
    r->n[0] -= v->first_collection;
    return true;
  default:
    return true;
  }
}

static void put_record(struct window *v, struct place *p,
                       struct mprof_trace_record *r) {
  struct mprof_trace_written *to = written_of(p);
  if (adapt(v, p, r))
    mprof_trace_write_record(v->w, to, r);
  else
    to->left += r->ticks;
}

static void put_row(struct window *v, struct place *p) {
  struct mprof_trace_written *to = written_of(p);
  *to = (struct mprof_trace_written){.g = p->g};
  if (p->g == 0 && !p->buf)
    return;
  EVENT(v->w, EV_BATCH, p->row->id, v->ticks);
  if (p->g != 0) {
    EVENT(v->w, EV_PROC_START, 0, p->tid);
    to->seq = 1;
    if (!p->waits)
      EVENT(v->w, EV_GO_START, 0, p->g, 1);
  }
  // The first record's ticks are since the one before it: modulo 2^64.
  to->left = p->ticks - v->ticks;
  each(v, p, put_record);
}

static size_t count(const struct mprof_trace_row *rows) {
  size_t n = 0;
  for (; rows; rows = rows->next)
    n++;
  return n;
}

bool mprof_trace_is_whole(const struct mprof_trace_row *rows,
                          uint64_t wanted_ticks) {
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    if (r->is_cut || (r->first && r->first->ticks < wanted_ticks))
      return false;
  return true;
}

int mprof_trace_write_window(struct mprof_trace_writer *w,
                             struct mprof_trace_row *rows,
                             uint64_t wanted_ticks) {
  struct window v = {.w = w,
                     .ticks = begin_of(rows, wanted_ticks),
                     .first_collection = UINT64_MAX};
  v.mapped_bytes = count(rows) * sizeof(*v.places);
  v.places = v.mapped_bytes != 0 ? mprof_os_map(v.mapped_bytes) : NULL;
  if (!v.places)
    return ENOMEM;
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    look_at_row(&v, r);
  for (size_t i = 0; i < v.places_len; i++)
    each(&v, &v.places[i], note_record);
  put_begin(&v, (uint32_t)v.places_len);
  for (size_t i = 0; i < v.places_len; i++)
    put_row(&v, &v.places[i]);
  mprof_pc_table_free(&v.known);
  mprof_pc_table_free(&v.ahead);
  mprof_os_unmap(v.places, v.mapped_bytes);
  return v.error;
}
