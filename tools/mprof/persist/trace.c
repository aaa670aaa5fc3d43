// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the rows of a trace in the file of the option persist; see trace.h. The
// rows and their buffers are copied. The runtime's functions that read records
// expect valid records, so each record is checked first.

#include "persist/trace.h"

#include "bucket/bucket.h"
#include "common/idmap.h"
#include "common/memory.h"
#include "model/profile.h"
#include "options/flags.h"
#include "persist/file.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/persistent.h"
#include "thread/labels.h"
#include "trace/trace.h"
#include "trace/trace_buf.h"
#include "trace/trace_events.h"
#include "trace/trace_records.h"
#include "trace/trace_rows.h"
#include "trace/write_trace.h"

#include <stdlib.h>
#include <string.h>

// --- stacks, names and label sets to which the records refer ---
//
// This file defines the functions by which the runtime's writer of traces gets
// them in a program. In the tool, they return what is in the file, after
// persist_stacks_use.

struct persist_stacks {
  struct persist_file *file;
  struct profile *names;  // a location for each address
  struct idmap locations; // from a return address to its location
  struct idmap buckets;   // the handles that were checked
  uint64_t last_g;        // the highest number of a thread
};

static struct {
  struct persist_stacks *stacks;
  struct mprof_labels *labels; // the set that was asked for last
} state;

static void persist_stacks_begin(struct persist_stacks *s,
                                 struct persist_file *f) {
  *s = (struct persist_stacks){.file = f, .names = profile_new()};
}

static void persist_stacks_end(struct persist_stacks *s) {
  profile_free(s->names);
  idmap_clear(&s->locations);
  idmap_clear(&s->buckets);
}

static void add_address(struct persist_stacks *s, uint64_t pc, uint32_t gone) {
  size_t found;
  const uint64_t shown = persist_shown(s->file, pc, gone);
  if (pc != 0 && !idmap_find(&s->locations, shown, &found))
    idmap_add(&s->locations, shown,
              persist_location(s->file, s->names, shown - 1));
}

// Returns whether the handle is 0, or that of a stack in the file. Adds the
// addresses of the stack to s->names.
static bool persist_stacks_add(struct persist_stacks *s, uint64_t handle) {
  struct mprof_bucket b;
  size_t found;
  if (handle == 0 || idmap_find(&s->buckets, handle, &found))
    return true;
  const uint64_t address = persist_object(s->file, (uint32_t)handle);
  if (handle > UINT32_MAX || !persist_copy(s->file, address, &b, sizeof b) ||
      b.type != MPROF_BUCKET_TRACE || b.stack_len > MPROF_MAX_STACK_DEPTH ||
      (b.size == MPROF_TRACE_IS_START && b.stack_len == 0))
    return false;
  const uint8_t *stack =
      persist_at(s->file, address + sizeof b, b.stack_len * sizeof(mprof_pc));
  if (!stack)
    return false;
  for (uint32_t i = 0; i < b.stack_len; i++) {
    uint64_t pc;
    memcpy(&pc, stack + i * sizeof pc, sizeof pc);
    add_address(s, pc, mprof_bucket_gone(&b));
  }
  idmap_add(&s->buckets, handle, 0);
  return true;
}

// Returns whether the handle is 0, or that of a name in the file.
static bool persist_stacks_has_name(struct persist_stacks *s, uint64_t handle) {
  uint32_t length; // of the text that follows; see struct name in trace_user.c
  if (handle == 0)
    return true;
  const uint64_t address = persist_object(s->file, (uint32_t)handle);
  if (handle > UINT32_MAX ||
      !persist_copy(s->file, address, &length, sizeof length))
    return false;
  const uint8_t *text =
      persist_at(s->file, address + sizeof length, (size_t)length + 1);
  return text && memchr(text, '\0', (size_t)length + 1) == text + length;
}

// Makes the runtime's writer use these stacks; NULL: none.
static void persist_stacks_use(struct persist_stacks *s) {
  state.stacks = s;
  mprof_persistent_base = s ? (char *)s->file->bytes->at : NULL;
  free(state.labels);
  state.labels = NULL;
}

// --- what the runtime's writer calls ---

// The start of the file. The handles that the writer uses were checked.
char *mprof_persistent_base;

int mprof_symbolize_begin(bool names) {
  (void)names;
  return 0;
}

void mprof_symbolize_end(void) {}

bool mprof_symbolize_collect(struct mprof_outfile *f) {
  (void)f;
  return false;
}

bool mprof_symbolize_want_stack(const struct mprof_bucket *b) {
  (void)b;
  return false;
}

void mprof_symbolize_look_up(struct mprof_outfile *f) { (void)f; }

void mprof_symbolize_variables(uintptr_t *addresses, size_t n,
                               mprof_variable_fn *fn, void *arg) {
  (void)addresses, (void)n, (void)fn, (void)arg;
}

mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone) {
  return persist_shown(state.stacks->file, pc, gone);
}

bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *),
                     void *arg) {
  const struct profile *p = state.stacks->names;
  const struct persist_module *m =
      persist_find_module(state.stacks->file, pc - 1);
  size_t i;
  if (!m || !idmap_find(&state.stacks->locations, pc, &i))
    return false;
  const struct location *l = &p->locations[i];
  struct mprof_frame frame = {
      .function = "",
      .file = "",
      .module = m->note.file,
      .is_library = strcmp(m->note.file, state.stacks->file->head.program) != 0,
      .offset = pc - 1 - m->note.shift - m->note.bias};
  for (uint32_t n = 0; n < l->line_count; n++) {
    const struct line *line = &p->lines[l->first_line + n];
    const struct function *f = &p->functions[line->function];
    frame.function = p->strings[f->name];
    frame.file = p->strings[f->file];
    frame.line = (unsigned)line->line;
    frame.start_line = (unsigned)f->start_line;
    fn(&frame, arg);
  }
  if (l->line_count == 0)
    fn(&frame, arg);
  return true;
}

// The keys of messages that the writer adds. No name of the file has these
// handles, because its memory has at most 2^31 units.
enum { FIRST_KEY = 0x80000000u, NAME_KEY = FIRST_KEY, LABELS_KEY, CHARGE_KEY };

uint32_t mprof_trace_name_key(void) { return NAME_KEY; }
uint32_t mprof_trace_labels_key(void) { return LABELS_KEY; }
uint32_t mprof_trace_charge_key(void) { return CHARGE_KEY; }

const char *mprof_trace_name_text(uint32_t handle) {
  static const char *const keys[] = {"thread.name", "labels", "lock.waited_ns"};
  if (handle >= FIRST_KEY)
    return keys[handle - FIRST_KEY];
  return handle
             ? (const char *)mprof_persistent_pointer(handle) + sizeof(uint32_t)
             : "";
}

uint64_t mprof_trace_new_g(void) { return ++state.stacks->last_g; }

uint64_t mprof_clock_ticks_per_second(void) {
  const uint64_t ticks = state.stacks->file->head.ticks_per_second;
  return ticks ? ticks : 1000000000;
}

uint64_t mprof_trace_frequency(void) {
  const uint64_t div = state.stacks->file->head.trace_tick_div;
  const uint64_t frequency = mprof_clock_ticks_per_second() / (div ? div : 1);
  return frequency != 0 ? frequency : 1;
}

uint64_t mprof_clock_ns(uint64_t ticks) {
  const double ns =
      (double)ticks * 1e9 / (double)mprof_clock_ticks_per_second() + 0.5;
  return ns < 0x1p63 ? (uint64_t)ns : INT64_MAX;
}

static void add_label(struct mprof_labels *set, const char *key,
                      const char *value) {
  set->v[set->len++] =
      (struct mprof_label){.key = key,
                           .value = value,
                           .key_len = (uint16_t)strlen(key),
                           .value_len = (uint16_t)strlen(value)};
}

const struct mprof_labels *mprof_labels_of(uint16_t id) {
  enum { LABELS_MAX = 1024 };
  const struct persist_note *sets = state.stacks->file->label_sets;
  uint32_t count;
  if (id == 0 || !sets || !sets[id].data)
    return NULL;
  if (!state.labels)
    state.labels = zeroed(1, sizeof *state.labels +
                                 LABELS_MAX * sizeof(struct mprof_label));
  state.labels->id = id;
  state.labels->len = 0;
  memcpy(&count, sets[id].data + 4, sizeof count);
  const uint8_t *p = sets[id].data + 8, *end = sets[id].data + sets[id].length;
  for (; p && count > 0 && state.labels->len < LABELS_MAX; count--) {
    const char *key, *value;
    p = persist_next_label(p, end, &key, &value);
    if (p)
      add_label(state.labels, key, value);
  }
  return state.labels;
}

// --- the trace ---

struct persist_trace {
  struct persist_file *file;
  struct persist_stacks stacks;
  struct mprof_trace_row *rows; // copies, newest first
  size_t row_count;
  size_t bytes; // of all buffers that were copied
};

// --- checking the records ---

// Reads a number in LEB128 at *p, and advances *p. Returns false if the number
// does not end before `end`.
static bool get(const uint8_t **p, const uint8_t *end, uint64_t *v) {
  *v = 0;
  for (unsigned shift = 0; *p < end && shift < 64; shift += 7) {
    const uint8_t byte = *(*p)++;
    *v |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80)
      return true;
  }
  return false;
}

static bool is_argument(struct persist_trace *t, unsigned kind, uint64_t v) {
  return kind == MPROF_TRACE_STACK || kind == MPROF_TRACE_START_STACK
             ? persist_stacks_add(&t->stacks, v)
         : kind == MPROF_TRACE_NAME ? persist_stacks_has_name(&t->stacks, v)
                                    : true;
}

// Returns the end of the record at p, or NULL if the record is not valid.
static const uint8_t *check_record(struct persist_trace *t, const uint8_t *p,
                                   const uint8_t *end) {
  const unsigned type = *p++;
  uint64_t v = 0;
  if (type == MPROF_TRACE_NONE || type == MPROF_TRACE_STOP ||
      type >= MPROF_TRACE_TYPES ||
      (type != MPROF_TRACE_PRE && !get(&p, end, &v)))
    return NULL;
  const struct mprof_trace_arguments *a = &mprof_trace_arguments_of[type];
  for (unsigned i = 0; i < a->len; i++)
    if (!get(&p, end, &v) || !is_argument(t, a->kinds[i], v))
      return NULL;
  size_t more = 0; // bytes after the arguments
  if (type == MPROF_TRACE_WAKE)
    more = (size_t)(mprof_trace_woken_field(p) - p) + sizeof(uint64_t);
  else if (type == MPROF_TRACE_LOG) // v: the last argument, which is the length
    more = v <= MPROF_TRACE_LOG_MAX ? (size_t)v : SIZE_MAX;
  return more <= (size_t)(end - p) ? p + more : NULL;
}

// Remembers the highest number of a thread.
static void note_g(struct persist_trace *t,
                   const struct mprof_trace_record *r) {
  const uint64_t g = r->type == MPROF_TRACE_WAKE ? r->n[1] : r->n[0];
  if ((r->type == MPROF_TRACE_BEGIN || r->type == MPROF_TRACE_PRE ||
       r->type == MPROF_TRACE_CREATE || r->type == MPROF_TRACE_WAKE) &&
      g > t->stacks.last_g)
    t->stacks.last_g = g;
}

// Checks the records of a buffer. Finds the time of the last record of the row
// and the state of the row's thread.
static bool check_records(struct persist_trace *t, struct mprof_trace_row *row,
                          const struct mprof_trace_buf *b) {
  const uint8_t *p = b->data, *end = b->data + b->len;
  row->ticks = b->ticks;
  while (p < end) {
    struct mprof_trace_record r;
    const uint8_t *next = check_record(t, p, end);
    if (!next)
      return false;
    mprof_trace_read_record(p, &r);
    note_g(t, &r);
    mprof_trace_follow(&row->written.thread, &r);
    row->ticks += r.ticks;
    if (r.type == MPROF_TRACE_CALL_LONG || r.type == MPROF_TRACE_START_SELF)
      row->ticks += r.n[1];
    p = next;
  }
  return true;
}

// --- rows ---

// Makes a bool of a damaged file valid.
static void mend(bool *b) {
  unsigned char byte;
  memcpy(&byte, b, sizeof byte);
  *b = byte != 0;
}

// The process was killed while it emptied the only buffer of the row. The row
// has the state of its thread; see add_buf in trace_rows.c.
static void fill_header(struct mprof_trace_buf *b,
                        const struct mprof_trace_row *r) {
  b->len = 0;
  mprof_trace_fill_header(b, r);
}

// Copies the buffer at an address. Returns NULL if it is not valid.
static struct mprof_trace_buf *copy_buffer(struct persist_trace *t,
                                           const struct mprof_trace_row *row,
                                           uint64_t address) {
  struct mprof_trace_buf head;
  if (!persist_copy(t->file, address, &head, sizeof head))
    return NULL;
  const bool is_last = head.next == NULL;
  mend(&head.is_ready);
  mend(&head.waits);
  if (!head.is_ready && is_last)
    fill_header(&head, row);
  const uint8_t *data = persist_at(t->file, address + sizeof head, head.len);
  t->bytes += sizeof head + head.len;
  // A list of buffers that leads back to itself has more bytes than the file.
  if (!data || (!head.is_ready && !is_last) || head.row != row->id ||
      t->bytes > t->file->bytes->length ||
      !persist_stacks_add(&t->stacks, head.start))
    return NULL;
  struct mprof_trace_buf *b = zeroed(1, sizeof head + head.len);
  memcpy(b, &head, sizeof head);
  memcpy(b->data, data, head.len);
  b->next = NULL;
  return b;
}

static bool copy_buffers(struct persist_trace *t, struct mprof_trace_row *row) {
  uint64_t next = (uintptr_t)row->first;
  row->first = row->last = NULL;
  while (next) {
    struct mprof_trace_buf *b = copy_buffer(t, row, next);
    struct mprof_trace_buf head;
    if (!b)
      return false;
    if (row->last)
      row->last->next = b;
    else
      row->first = b;
    row->last = b;
    if (b == row->first)
      row->written.thread = (struct mprof_trace_thread){.g = b->g,
                                                        .tid = (uint64_t)b->tid,
                                                        .start = b->start,
                                                        .seq = b->seq,
                                                        .waits = b->waits,
                                                        .labels = b->labels};
    if (b->g > t->stacks.last_g)
      t->stacks.last_g = b->g;
    if (!check_records(t, row, b) ||
        !persist_copy(t->file, next, &head, sizeof head))
      return false;
    next = (uintptr_t)head.next;
  }
  return true;
}

static bool has_open_wait(struct persist_trace *t,
                          const struct mprof_trace_row *r) {
  const struct mprof_trace_thread *thread = &r->written.thread;
  return r->last && thread->g != 0 && !thread->waits && r->open_ticks != 0 &&
         r->open_type >= MPROF_TRACE_BLOCK_SYNC &&
         (r->open_type <= MPROF_TRACE_SLEEP ||
          r->open_type == MPROF_TRACE_CALL_OPEN) &&
         persist_stacks_add(&t->stacks, r->open_stack);
}

// Adds the record of a wait that is recorded only when it ends, as close_row in
// trace.c does at the end of a session.
static void add_open_wait(struct mprof_trace_row *r) {
  struct mprof_trace_buf *b = zeroed(1, sizeof *b + MPROF_TRACE_RECORD_MAX);
  const uint64_t now = r->open_ticks > r->ticks ? r->open_ticks : r->ticks;
  uint8_t *p = b->data;
  b->row = r->id;
  b->ticks = r->ticks;
  *p++ = (uint8_t)r->open_type;
  p = mprof_trace_put(p, now - r->ticks);
  p = mprof_trace_put(p, r->open_stack);
  b->len = (uint32_t)(p - b->data);
  r->ticks = now;
  r->last->next = b;
  r->last = b;
}

static void free_row(struct mprof_trace_row *r) {
  struct mprof_trace_buf *next;
  for (struct mprof_trace_buf *b = r->first; b; b = next) {
    next = b->next;
    free(b);
  }
  free(r);
}

// Copies the row at an address to the end of the list at *link. Returns false
// if the row or a buffer is not valid. *next receives the next address.
static bool copy_row(struct persist_trace *t, uint64_t address,
                     struct mprof_trace_row **link, uint64_t *next) {
  struct mprof_trace_row *r =
      aligned_alloc(_Alignof(struct mprof_trace_row), sizeof *r);
  if (!r || !persist_copy(t->file, address, r, sizeof *r)) {
    free(r);
    return false;
  }
  *next = (uintptr_t)r->next;
  r->next = NULL;
  mend(&r->is_cut);
  mend(&r->has_own_name);
  r->name[sizeof r->name - 1] = '\0';
  r->written = (struct mprof_trace_written){.is_first = false};
  *link = r;
  t->row_count++;
  if (!copy_buffers(t, r))
    return false;
  if (has_open_wait(t, r))
    add_open_wait(r);
  r->written = (struct mprof_trace_written){.is_first = r->id == 0};
  return true;
}

// Gives each row the end of the session, which is the time of the last record.
static void end_rows(struct persist_trace *t) {
  uint64_t end = 1;
  for (const struct mprof_trace_row *r = t->rows; r; r = r->next)
    end = r->ticks > end ? r->ticks : end;
  for (struct mprof_trace_row *r = t->rows; r; r = r->next)
    r->end_ticks = end;
}

static bool copy_rows(struct persist_trace *t, uint64_t address) {
  struct mprof_trace_row **link = &t->rows;
  // Each row has its number, from that of the newest down to 0. So a list that
  // leads back to itself is found.
  do {
    if (!copy_row(t, address, link, &address) ||
        t->rows->id - (*link)->id != t->row_count - 1 ||
        (address == 0) != ((*link)->id == 0))
      return false;
    link = &(*link)->next;
  } while (address);
  end_rows(t);
  return true;
}

struct persist_trace *persist_trace_read(struct persist_file *f,
                                         enum mprof_persist_root root,
                                         const char **error) {
  const uint64_t rows = f->head.roots[root];
  *error = NULL;
  if (rows == 0)
    return NULL;
  if (f->head.row_size != sizeof(struct mprof_trace_row) ||
      f->head.buffer_size != sizeof(struct mprof_trace_buf)) {
    *error = "the trace was written by another version of MProf";
    return NULL;
  }
  struct persist_trace *t = zeroed(1, sizeof *t);
  t->file = f;
  persist_stacks_begin(&t->stacks, f);
  if (copy_rows(t, rows))
    return t;
  *error = f->head.state & MPROF_PERSIST_IS_CUT
               ? "the file could not grow, so it has no complete trace"
               : "the trace in the file is damaged";
  persist_trace_free(t);
  return NULL;
}

struct profile *persist_trace_names(struct persist_trace *t) {
  return t->stacks.names;
}

void persist_trace_free(struct persist_trace *t) {
  struct mprof_trace_row *next;
  for (struct mprof_trace_row *r = t->rows; r; r = next) {
    next = r->next;
    free_row(r);
  }
  persist_stacks_end(&t->stacks);
  free(t);
}

// --- writing ---

static void put(void *to, const void *data, size_t length) {
  fwrite(data, 1, length, to); // the caller sees errors in the stream
}

// Returns the time at which the trace begins; see the option trace_last.
static uint64_t begin_of(const struct persist_trace *t) {
  const struct mprof_persist_head *h = &t->file->head;
  const double ticks =
      (double)h->trace_keep_ns * (double)mprof_trace_frequency() / 1e9;
  const uint64_t end = t->rows->end_ticks;
  return h->trace_keep_ns != 0 && ticks < (double)end ? end - (uint64_t)ticks
                                                      : 0;
}

static void write_all(struct mprof_trace_writer *w,
                      struct mprof_trace_row *rows) {
  for (struct mprof_trace_row *r = rows; r; r = r->next)
    for (struct mprof_trace_buf *b = r->first; b; b = b->next)
      mprof_trace_write_records(w, r, b);
}

int64_t persist_trace_write(struct persist_trace *t, FILE *to) {
  const struct mprof_trace_sink sink = {put, to};
  memcpy(mprof_flags.trace_format, t->file->head.trace_format,
         sizeof t->file->head.trace_format);
  mprof_flags.symbolize = true;
  struct mprof_trace_writer *w =
      mprof_trace_writer_new(&sink, t->file->head.processors);
  if (!w)
    return -1;
  w->pid = t->file->head.pid;
  persist_stacks_use(&t->stacks);
  const uint64_t from = begin_of(t);
  if (mprof_trace_is_whole(t->rows, from))
    write_all(w, t->rows);
  else
    w->error = mprof_trace_write_window(w, t->rows, from);
  mprof_trace_write_tail(w, t->rows->end_ticks);
  persist_stacks_use(NULL);
  const int64_t events = (int64_t)w->events;
  const bool has_failed = w->error != 0;
  mprof_trace_writer_free(w);
  return has_failed ? -1 : events;
}
