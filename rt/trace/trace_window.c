// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the window of a flight recorder: the newest part of a trace whose
// oldest buffers may have been dropped. (Go: FlightRecorder)
//
//                        start of the window
//                        v
//   row 0   xxxxxxxxxxxxx|------------------      x: omitted
//   row 1        xxxxxxxx|------------------      -: in the file
//   row 2                |     ----------
//
// All rows begin in the file at the same time, the start of the window. This is
// the requested time, unless records after the requested time were dropped. In
// that case, it is the earliest time from which no row lacks records. Threads
// that exist at the start of the window are written as if a session began at
// this time and found them.
//
// The later records must be consistent with this start. Sequence numbers start
// again from 1. If a thread was woken before the window and starts in the
// window, the file shows that the thread wakes itself. If an operation began
// before the window, its end is omitted.

#include "sys/os.h"
#include "sys/pctable.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

#include <errno.h>
#include <string.h>

// The position in a row where the window begins. The window is the part of the
// trace that is written.
struct place {
  const struct mprof_trace_row *row;
  const struct mprof_trace_buf *buf; // first buffer in the window; NULL: none
  const unsigned char *at;           // first record in the window
  uint64_t ticks;                    // time of the record before `at`
  bool is_named; // the name of the row's last owner was written
  struct mprof_trace_thread thread;
};

struct window {
  struct mprof_trace_writer *w;
  uint64_t ticks; // time at which the window begins
  struct place *places;
  size_t places_len, mapped_bytes;
  // known: a set of two sorts of keys: the number of each thread that is
  // created in the window, and key_of_wake(...) for each wake-up in the window.
  // ahead: maps the number of a thread to the difference of its sequence
  // numbers in its row and in the file, where they begin again with 1.
  struct mprof_pc_table known, ahead;
  struct mprof_pc_table begun; // numbers of threads that begin in the window
  uint64_t first_collection;   // number of the window's first collection
  int error;
};

static uint64_t key_of_wake(uint64_t g, uint64_t seq) {
  return UINT64_C(1) << 63 | g << 32 | seq;
}

// --- reading the rows ---

// Returns the time at which the window begins. wanted_ticks: the requested
// time.
static uint64_t begin_of(const struct mprof_trace_row *rows,
                         uint64_t wanted_ticks) {
  uint64_t begin = wanted_ticks;
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    if (r->is_cut && r->first && r->first->ticks > begin)
      begin = r->first->ticks;
  return begin;
}

// Returns the ticks from record r until its thread runs again. The result is 0
// except for a START_SELF record, which stands for a wake-up and the later
// start of the thread. If only the start is in the window, the thread is shown
// as waiting when the window begins.
static uint64_t ticks_to_start(const struct mprof_trace_record *r) {
  return r->type == MPROF_TRACE_START_SELF ? r->n[1] : 0;
}

// Updates the time and the thread state of p, a position in a row, after record
// r was read. r is before the window, so it is not written.
static void pass(struct place *p, const struct mprof_trace_record *r) {
  mprof_trace_follow(&p->thread, r);
  if (r->type == MPROF_TRACE_CALL_LONG)
    p->ticks += r->n[1];
  p->ticks += ticks_to_start(r);
}

// Adds a struct place for `row` to v->places. Finds the first record of the row
// that is in the window, and the state of the row's thread before that record.
static void look_at_row(struct window *v, const struct mprof_trace_row *row) {
  const struct mprof_trace_buf *b = row->first;
  struct place *p = &v->places[v->places_len++];
  *p = (struct place){.row = row};
  if (!b)
    return;
  *p = (struct place){.row = row,
                      .ticks = b->ticks,
                      .thread = {.g = b->g,
                                 .tid = (uint64_t)b->tid,
                                 .start = b->start,
                                 .seq = b->seq,
                                 .waits = b->waits,
                                 .labels = b->labels}};
  for (; b; b = b->next) {
    const unsigned char *at = b->data, *const end = b->data + b->len;
    while (at < end) {
      struct mprof_trace_record r;
      const unsigned char *next = mprof_trace_read_record(at, &r);
      if (p->ticks + r.ticks + ticks_to_start(&r) >= v->ticks) {
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
    v->error = -ENOMEM;
}

static uint64_t value_of(struct window *v, struct mprof_pc_table *t,
                         uint64_t key) {
  struct mprof_pc_slot *s = mprof_pc_table_get(t, key);
  if (!s)
    v->error = -ENOMEM;
  return s ? s->value : 0;
}

// Calls fn for each record in the window, in the row of p.
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

// Remembers the thread that begins in the window with BEGIN record r. The file
// shows the thread as newly created, so its sequence numbers in the file may
// differ from those in the row.
static void note_begin(struct window *v, const struct mprof_trace_record *r) {
  note(v, &v->begun, r->n[0], 1);
  struct mprof_trace_thread t;
  mprof_trace_follow(&t, r);
  note(v, &v->ahead, t.g, t.seq - 1);
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
  else if (r->type == MPROF_TRACE_BEGIN)
    note_begin(v, r);
}

// --- writing ---

static struct mprof_trace_record
begin_record(const struct mprof_trace_thread *t, enum mprof_trace_from from) {
  return (struct mprof_trace_record){.type = MPROF_TRACE_BEGIN,
                                     .n = {t->g, t->tid, from, t->start}};
}

// Writes a PRE record for thread t, which exists when the window begins. In the
// file, the next wake-up of the thread has the sequence number 1 if the thread
// waits, and otherwise 2.
static void put_there(struct window *v, struct mprof_trace_written *to,
                      const struct mprof_trace_thread *t) {
  const struct mprof_trace_record pre = {
      .type = MPROF_TRACE_PRE,
      .n = {t->g,
            t->waits ? MPROF_TRACE_FROM_WAITING : MPROF_TRACE_FROM_RUNNING,
            t->start, t->tid}};
  mprof_trace_write_record(v->w, to, &pre);
  note(v, &v->ahead, t->g, t->waits ? t->seq : t->seq - 1);
}

// Writes the first batch: all threads that exist when the window begins, and
// one extra thread, which exists only in the file. The extra thread writes the
// number of processors. Readers accept this number only from a running thread,
// and the file shows no other thread as running yet.
static void put_begin(struct window *v, uint32_t row) {
  struct mprof_trace_written own = {.is_first = true};
  const struct mprof_trace_thread thread = {.g = mprof_trace_new_g()};
  const struct mprof_trace_record begin =
      begin_record(&thread, MPROF_TRACE_FROM_UNKNOWN);
  const struct mprof_trace_record end = {.type = MPROF_TRACE_END};
  v->w->format->begin_batch(v->w, &own, row, v->ticks);
  for (size_t i = 0; i < v->places_len; i++)
    if (v->places[i].thread.g != 0)
      put_there(v, &own, &v->places[i].thread);
  mprof_trace_write_record(v->w, &own, &begin);
  mprof_trace_write_record(v->w, &own, &end);
  v->w->format->end_batch(v->w);
}

static struct mprof_trace_written *written_of(const struct place *p) {
  return (struct mprof_trace_written *)&p->row->written;
}

// Changes record r so that it is consistent with the start of the window.
// Returns false if the file must omit the record.
static bool adapt(struct window *v, struct place *p,
                  struct mprof_trace_record *r) {
  switch (r->type) {
  case MPROF_TRACE_PRE:
    return false;          // the file shows the thread by its BEGIN record
  case MPROF_TRACE_CREATE: // omitted if the new thread has no records
    return value_of(v, &v->begun, r->n[0]) != 0;
  case MPROF_TRACE_BEGIN:
    if (r->n[2] != MPROF_TRACE_FROM_CREATE ||
        value_of(v, &v->known, r->n[0]) == 0)
      r->n[2] = MPROF_TRACE_FROM_UNKNOWN;
    return true;
  case MPROF_TRACE_WAKE: {
    if (r->n[1] == 0)
      return true;
    const uint64_t ahead = value_of(v, &v->ahead, r->n[1]);
    if (r->n[2] <= ahead)
      r->n[1] = 0; // the woken thread had started before the window
    else
      r->n[2] -= ahead;
    return true;
  }
  case MPROF_TRACE_START: {
    const struct mprof_trace_thread *t = &written_of(p)->thread;
    const uint64_t seq = t->seq + 1 + value_of(v, &v->ahead, t->g);
    if (value_of(v, &v->known, key_of_wake(t->g, seq)) == 0) {
      r->type = MPROF_TRACE_START_SELF;
      r->n[0] = r->n[1] = 0;
    }
    return true;
  }
  case MPROF_TRACE_START_SELF: {
    const uint64_t ticks = written_of(p)->left + r->ticks;
    if ((int64_t)ticks < 0) { // the thread was woken before the window
      r->ticks -= ticks;
      r->n[1] += ticks;
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

// Writes the name of the last thread of the row, as soon as the file shows the
// thread as running. The name is written again, because the thread may have got
// its name before the window. after: type of the record that was written last.
static void put_name(struct window *v, struct place *p,
                     enum mprof_trace_type after) {
  const struct mprof_trace_row *row = p->row;
  struct mprof_trace_written *to = written_of(p);
  if (p->is_named || !row->has_own_name || to->thread.g != row->g ||
      to->thread.waits ||
      (after != MPROF_TRACE_BEGIN && after != MPROF_TRACE_START &&
       after != MPROF_TRACE_START_SELF))
    return;
  const struct mprof_trace_record name = {
      .type = MPROF_TRACE_LOG,
      .n = {0, mprof_trace_name_key(), 0, strlen(row->name)},
      .text = (const unsigned char *)row->name};
  mprof_trace_write_record(v->w, to, &name);
  p->is_named = true;
}

// Writes the labels that the thread had when the window began, as soon as the
// file shows the thread as running.
static void put_labels(struct window *v, struct place *p) {
  struct mprof_trace_written *to = written_of(p);
  const struct mprof_trace_record labels = {.type = MPROF_TRACE_LABELS,
                                            .n = {p->thread.labels}};
  if (p->thread.labels == 0 || to->thread.waits)
    return;
  mprof_trace_write_record(v->w, to, &labels);
  p->thread.labels = 0;
}

static void put_record(struct window *v, struct place *p,
                       struct mprof_trace_record *r) {
  struct mprof_trace_written *to = written_of(p);
  if (adapt(v, p, r)) {
    mprof_trace_write_record(v->w, to, r);
    put_labels(v, p);
    put_name(v, p, r->type);
  } else {
    to->left += r->ticks;
  }
}

static void put_row(struct window *v, struct place *p) {
  struct mprof_trace_written *to = written_of(p);
  *to = (struct mprof_trace_written){0};
  if (p->thread.g == 0 && !p->buf)
    return;
  v->w->format->begin_batch(v->w, to, p->row->id, v->ticks);
  if (p->thread.g != 0) {
    const struct mprof_trace_record begin =
        begin_record(&p->thread, p->thread.waits ? MPROF_TRACE_FROM_WAIT
                                                 : MPROF_TRACE_FROM_RUNNING);
    mprof_trace_write_record(v->w, to, &begin);
    put_labels(v, p);
    put_name(v, p, MPROF_TRACE_BEGIN);
  }
  // The time of the first record is relative to the previous record, which is
  // before the window. The file needs the time since the start of the window.
  // Therefore to->left, the correction of the first time, is negative, modulo
  // 2^64.
  to->left = p->ticks - v->ticks;
  each(v, p, put_record);
  mprof_trace_write_row_end(v->w, to, p->row);
  v->w->format->end_batch(v->w);
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
    return -ENOMEM;
  for (const struct mprof_trace_row *r = rows; r; r = r->next)
    look_at_row(&v, r);
  for (size_t i = 0; i < v.places_len; i++)
    each(&v, &v.places[i], note_record);
  put_begin(&v, (uint32_t)v.places_len);
  for (size_t i = 0; i < v.places_len; i++)
    put_row(&v, &v.places[i]);
  mprof_pc_table_free(&v.known);
  mprof_pc_table_free(&v.ahead);
  mprof_pc_table_free(&v.begun);
  mprof_os_unmap(v.places, v.mapped_bytes);
  return v.error;
}
