// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the file of the option persist; see read_persist.h. The structs are
// those of the runtime. They are copied out of the file before their members
// are used, because a damaged file may have an address without alignment.

#include "files/read_persist.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/scale.h"
#include "common/memory.h"
#include "sys/persist_head.h"
#include "sys/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_SETS = UINT16_MAX + 1, LABELS_MAX = 64 };

// A note of the file. data is NULL if there is none.
struct note {
  uint64_t key;
  const uint8_t *data;
  size_t length;
};

struct notes {
  struct note *v;
  size_t count, capacity;
};

struct module {
  struct mprof_persist_module note;
  uint64_t shown; // the start in profiles
};

struct reader {
  const struct bytes *bytes;
  struct mprof_persist_head head;
  struct persist *out;
  struct note *label_sets; // by number; NULL: there are none
  struct notes locks, names;
  struct module *modules;
  size_t module_count, module_capacity;
  // The profile that is being made.
  struct profile *profile;
  uint32_t *locations;
};

// --- the file ---

// Returns the `length` bytes at an address of the process, or NULL if the file
// does not have them.
static const uint8_t *at(struct reader *r, uint64_t address, size_t length) {
  const uint64_t offset = address - r->head.base;
  if (address < r->head.base || offset > r->bytes->length ||
      length > r->bytes->length - offset) {
    r->out->is_damaged = true;
    return NULL;
  }
  return r->bytes->at + offset;
}

// Copies the object at an address. Returns false if the file does not have it.
static bool copy(struct reader *r, uint64_t address, void *to, size_t length) {
  const uint8_t *from = at(r, address, length);
  if (from)
    memcpy(to, from, length);
  return from != NULL;
}

// Returns the longest possible length of a list, so that a damaged list that
// leads back to itself ends.
static size_t longest_list(const struct reader *r) {
  return r->bytes->length / 16;
}

bool persist_is(const struct bytes *bytes) {
  return bytes->length >= sizeof MPROF_PERSIST_MAGIC &&
         memcmp(bytes->at, MPROF_PERSIST_MAGIC, sizeof MPROF_PERSIST_MAGIC) ==
             0;
}

static const char *read_head(struct reader *r) {
  struct mprof_persist_head *h = &r->head;
  if (!persist_is(r->bytes))
    return "not a file of the option persist";
  if (r->bytes->length < sizeof *h)
    return "the file ends in its head; nothing was recorded";
  memcpy(h, r->bytes->at, sizeof *h);
  h->version[sizeof h->version - 1] = '\0';
  h->program[sizeof h->program - 1] = '\0';
  if (h->head_size != sizeof *h ||
      h->bucket_size != sizeof(struct mprof_bucket) ||
      h->cell_size != sizeof(struct mprof_cell) ||
      h->stats_len != MPROF_STAT_COUNT)
    return "written by another version of MProf; use its mprof";
  if (h->check != mprof_persist_check(h))
    return "the head of the file is damaged";
  return NULL;
}

// --- notes ---

static void add_note(struct notes *notes, struct note note) {
  *APPEND(notes->v, notes->count, notes->capacity) = note;
}

static const struct note *find_note(const struct notes *notes, uint64_t key) {
  for (size_t i = 0; i < notes->count; i++)
    if (notes->v[i].key == key)
      return &notes->v[i];
  return NULL;
}

static bool is_text(const uint8_t *data, size_t length) {
  return length > 0 && memchr(data, '\0', length) == data + length - 1;
}

static void add_module(struct reader *r, const uint8_t *data, size_t length) {
  struct module m = {0};
  if (length != sizeof m.note)
    return;
  memcpy(&m.note, data, length);
  m.note.file[sizeof m.note.file - 1] = '\0';
  m.note.build_id[sizeof m.note.build_id - 1] = '\0';
  m.shown = m.note.start + m.note.shift;
  if (m.note.limit <= m.note.start ||
      m.shown > UINT64_MAX - (m.note.limit - m.note.start)) {
    r->out->is_damaged = true;
    return;
  }
  *APPEND(r->modules, r->module_count, r->module_capacity) = m;
}

static void read_note(struct reader *r, const struct mprof_persist_note *head,
                      const uint8_t *data) {
  uint32_t set;
  struct note note = {.data = data + 8, .length = head->len - 8};
  if (head->type == MPROF_NOTE_MODULE) {
    add_module(r, data, head->len);
  } else if (head->len < 8) {
    r->out->is_damaged = true;
  } else if (head->type == MPROF_NOTE_LABELS) {
    memcpy(&set, data, sizeof set);
    note.data = data;
    note.length = head->len;
    if (!r->label_sets)
      r->label_sets = zeroed(LABEL_SETS, sizeof *r->label_sets);
    if (set < LABEL_SETS)
      r->label_sets[set] = note;
  } else if (is_text(note.data, note.length)) {
    memcpy(&note.key, data, sizeof note.key);
    // The newest name of a lock comes first.
    if (head->type == MPROF_NOTE_LOCK)
      add_note(&r->locks, note);
    else if (head->type == MPROF_NOTE_PROFILE)
      add_note(&r->names, note);
  }
}

static void read_notes(struct reader *r) {
  uint64_t next = r->head.roots[MPROF_PERSIST_NOTES];
  for (size_t left = longest_list(r); next && left > 0; left--) {
    struct mprof_persist_note head;
    if (!copy(r, next, &head, sizeof head))
      return;
    const uint8_t *data = at(r, next + sizeof head, head.len);
    if (data)
      read_note(r, &head, data);
    next = head.next;
  }
}

// --- profiles ---

static struct profile *new_profile(const struct reader *r, const char *rate,
                                   uint64_t value) {
  struct profile *p = profile_new();
  char text[sizeof r->head.program + 64];
  p->time_ns = r->head.begin_ns;
  snprintf(text, sizeof text, "MProf %s", r->head.version);
  profile_comment(p, profile_text(p, text));
  snprintf(text, sizeof text, "command: %s", r->head.program);
  profile_comment(p, profile_text(p, text));
  if (rate) {
    snprintf(text, sizeof text, "%s: %" PRIu64, rate, value);
    profile_comment(p, profile_text(p, text));
  }
  profile_comment(p, profile_text(p, "moment: the end of a process that was "
                                     "killed (mprof recover)"));
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    const uint64_t n = r->head.stats[i];
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    snprintf(text, sizeof text, "%s: %" PRIu64 " %s", mprof_stat_infos[i].name,
             n, mprof_stat_infos[i].text);
    profile_comment(p, profile_text(p, text));
  }
  return p;
}

static void add_type(struct profile *p, const char *type, const char *unit) {
  p->types[p->type_count++] = (struct value_type){
      .type = profile_text(p, type), .unit = profile_text(p, unit)};
}

static void set_period(struct profile *p, const char *type, const char *unit,
                       int64_t period) {
  p->period_type = (struct value_type){.type = profile_text(p, type),
                                       .unit = profile_text(p, unit)};
  p->period = period;
}

static const struct module *find_module(const struct reader *r,
                                        uint64_t address) {
  for (size_t i = 0; i < r->module_count; i++) {
    const struct module *m = &r->modules[i];
    if (address - m->shown < m->note.limit - m->note.start)
      return m;
  }
  return NULL;
}

// Returns the address at which profiles show the return address pc of a bucket;
// see mprof_maps_shown.
static uint64_t shown(const struct reader *r, uint64_t pc, uint32_t gone) {
  for (size_t i = 0; gone && i < r->module_count; i++) {
    const struct mprof_persist_module *m = &r->modules[i].note;
    if (m->from < gone && gone <= m->to &&
        pc - 1 - m->start < m->limit - m->start)
      return pc + m->shift;
  }
  return pc;
}

static uint32_t add_mapping(struct reader *r, const struct module *m) {
  struct profile *p = r->profile;
  return profile_mapping(
      p, &(struct mapping){.start = m->shown,
                           .limit = m->shown + (m->note.limit - m->note.start),
                           .offset = m->note.offset,
                           .file = profile_text(p, m->note.file),
                           .build_id = profile_text(p, m->note.build_id)});
}

// Adds the mapping of the program first, as readers expect.
static void add_program(struct reader *r) {
  for (size_t i = r->module_count; i-- > 0;)
    if (strcmp(r->modules[i].note.file, r->head.program) == 0)
      add_mapping(r, &r->modules[i]);
}

// Adds the mapping of code that is in no file. Such code is not noted in the
// file, so the mapping is as large as the regions of module_unloads.c.
static uint32_t add_unknown(struct reader *r, uint64_t address) {
  const uint64_t region = 1u << 16;
  struct profile *p = r->profile;
  return profile_mapping(
      p,
      &(struct mapping){.start = address & -region,
                        .limit = (address | (region - 1)) + (address < -region),
                        .file = profile_text(p, "[anon]")});
}

static uint32_t add_location(struct reader *r, uint64_t address) {
  const struct module *m = find_module(r, address);
  return profile_location(
      r->profile,
      &(struct location){.address = address,
                         .mapping =
                             m ? add_mapping(r, m) : add_unknown(r, address)},
      NULL);
}

// Adds the location of a frame that is no code, such as "[truncated]".
static uint32_t add_pseudo(struct reader *r, const char *name) {
  struct profile *p = r->profile;
  const struct mapping m = {
      .limit = 16, .file = profile_text(p, "[mprof]"), .has_functions = true};
  const struct function f = {.name = profile_text(p, name),
                             .system_name = profile_text(p, name)};
  const struct line line = {.function = profile_function(p, &f)};
  return profile_location(p,
                          &(struct location){.address = 1,
                                             .mapping = profile_mapping(p, &m),
                                             .line_count = 1},
                          &line);
}

// Makes the locations of the stack of the bucket at `address`. Returns their
// number, or -1 if the file does not have them.
static long add_stack(struct reader *r, uint64_t address,
                      const struct mprof_bucket *b, const char *empty) {
  uint32_t n = 0;
  const uint8_t *stack =
      at(r, address + sizeof *b, (size_t)b->stack_len * sizeof(mprof_pc));
  if (!stack || b->stack_len > MPROF_MAX_STACK_DEPTH)
    return -1;
  if (!r->locations)
    r->locations = zeroed(MPROF_MAX_STACK_DEPTH + 1u, sizeof *r->locations);
  for (uint32_t i = 0; i < b->stack_len; i++) {
    uint64_t pc;
    memcpy(&pc, stack + i * sizeof pc, sizeof pc);
    if (pc)
      r->locations[n++] = add_location(
          r,
          shown(r, pc, atomic_load_explicit(&b->gone, memory_order_relaxed)) -
              1);
  }
  if (b->end != MPROF_STACK_COMPLETE)
    r->locations[n++] = add_pseudo(r, "[truncated]");
  if (n == 0 && empty)
    r->locations[n++] = add_pseudo(r, empty);
  return n;
}

// --- labels ---

static int compare_labels(const void *a, const void *b, void *arg) {
  const struct profile *p = arg;
  const struct label *x = a, *y = b;
  const int keys = strcmp(p->strings[x->key], p->strings[y->key]);
  return keys ? keys : strcmp(p->strings[x->str], p->strings[y->str]);
}

// Adds the labels of a set. Returns their number.
static uint32_t add_set(struct reader *r, uint16_t set, struct label *labels,
                        uint32_t room) {
  const struct note *note = r->label_sets ? &r->label_sets[set] : NULL;
  if (!note || !note->data)
    return 0;
  uint32_t count, n = 0;
  memcpy(&count, note->data + 4, sizeof count);
  const uint8_t *p = note->data + 8, *end = note->data + note->length;
  for (; count > 0 && n < room; count--) {
    const uint8_t *key_end = memchr(p, '\0', (size_t)(end - p));
    const uint8_t *value = key_end ? key_end + 1 : end;
    const uint8_t *value_end = memchr(value, '\0', (size_t)(end - value));
    if (!value_end) {
      r->out->is_damaged = true;
      break;
    }
    if (*p) // a label without a key is not valid
      labels[n++] =
          (struct label){.key = profile_text(r->profile, (const char *)p),
                         .str = profile_text(r->profile, (const char *)value)};
    p = value_end + 1;
  }
  return n;
}

static struct label text_label(struct profile *p, const char *key,
                               const char *value) {
  return (struct label){.key = profile_text(p, key),
                        .str = profile_text(p, value)};
}

static const char *kind_name(unsigned kind) {
  static const char *const names[] = {
#define MPROF_KIND(Name, Group) #Name,
#include "mprof/hooks.def"
      "mprof"};
  return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static uint32_t add_wait_labels(struct reader *r, const struct mprof_bucket *b,
                                struct label *labels) {
  struct profile *p = r->profile;
  labels[0] = text_label(p, "kind", kind_name(b->kind));
  if (b->object == 0)
    return 1;
  char text[32];
  const struct note *name = find_note(&r->locks, b->object);
  snprintf(text, sizeof text, "0x%" PRIxPTR, b->object);
  labels[1] = text_label(p, "lock", name ? (const char *)name->data : text);
  return 2;
}

// --- buckets ---

static uint64_t load(const _Atomic uint64_t *n) {
  return atomic_load_explicit(n, memory_order_relaxed);
}

static uint64_t object_at(const struct reader *r, uint32_t handle) {
  return r->head.base + (uint64_t)handle * 64;
}

// Adds the counts of the cells of a bucket.
static void add_cells(struct reader *r, const struct mprof_bucket *b,
                      uint64_t *allocs, uint64_t *frees) {
  uint32_t next = atomic_load_explicit(&b->cells, memory_order_relaxed);
  for (size_t left = longest_list(r); next && left > 0; left--) {
    struct mprof_cell_line line;
    if (!copy(r, object_at(r, next), &line, sizeof line))
      return;
    for (unsigned i = 0; i < MPROF_CELLS_A_LINE; i++) {
      struct mprof_cell cell;
      const uint32_t handle =
          atomic_load_explicit(&line.cells[i], memory_order_relaxed);
      if (!handle || !copy(r, object_at(r, handle), &cell, sizeof cell))
        continue;
      for (int k = 0; k < 3; k++) {
        *allocs += load(&cell.cycles[k].allocs);
        *frees += load(&cell.cycles[k].frees);
      }
    }
    next = atomic_load_explicit(&line.next, memory_order_relaxed);
  }
}

// Rounds a value of a sample down. The counts of a damaged file may be too
// large.
static int64_t whole(double value) {
  return value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

// Finds the values of a sample of the bucket, and its own labels. Returns false
// if the bucket has counted nothing.
static bool heap_values(struct reader *r, const struct mprof_bucket *b,
                        int64_t *values, struct label *labels,
                        uint32_t *label_count) {
  uint64_t allocs = 0, frees = 0;
  for (int k = 0; k < 3; k++) {
    allocs += load(&b->mem.own[k].allocs) + load(&b->mem.future[k].allocs);
    frees += load(&b->mem.own[k].frees) + load(&b->mem.future[k].frees);
  }
  add_cells(r, b, &allocs, &frees);
  if (allocs == 0 && frees == 0)
    return false;
  const uint64_t inuse = allocs > frees ? allocs - frees : 0;
  const double scale = mprof_scale_factor(b->size, b->rate);
  values[0] = whole((double)allocs * scale + 0.5);
  values[1] = whole((double)(allocs * b->size) * scale);
  values[2] = whole((double)inuse * scale + 0.5);
  values[3] = whole((double)(inuse * b->size) * scale);
  if (b->size != 0) {
    labels[0] = (struct label){.key = profile_text(r->profile, "bytes"),
                               .number = (int64_t)b->size};
    *label_count = 1;
  }
  return true;
}

static bool wait_values(struct reader *r, const struct mprof_bucket *b,
                        int64_t *values, struct label *labels,
                        uint32_t *label_count) {
  const uint64_t count = load(&b->wait.count), cycles = load(&b->wait.cycles);
  if (count == 0 && cycles == 0)
    return false;
  const double ticks = (double)r->head.ticks_per_second;
  values[0] = (int64_t)((count + MPROF_COUNT_ONE / 2) / MPROF_COUNT_ONE);
  if (values[0] == 0 && b->type == MPROF_BUCKET_BLOCK)
    values[0] = 1;
  values[1] = ticks > 0 ? whole((double)cycles / (ticks / 1e9)) : 0;
  *label_count = add_wait_labels(r, b, labels);
  return true;
}

static bool thread_values(struct reader *r, const struct mprof_bucket *b,
                          int64_t *values, struct label *labels,
                          uint32_t *label_count) {
  (void)r, (void)labels, (void)label_count;
  values[0] = (int64_t)load(&b->thread.created);
  return values[0] != 0;
}

static bool custom_values(struct reader *r, const struct mprof_bucket *b,
                          int64_t *values, struct label *labels,
                          uint32_t *label_count) {
  (void)r, (void)labels, (void)label_count;
  values[0] = (int64_t)b->custom.values;
  return values[0] != 0;
}

typedef bool values_of(struct reader *r, const struct mprof_bucket *b,
                       int64_t *values, struct label *labels,
                       uint32_t *label_count);

static void add_sample(struct reader *r, uint64_t address,
                       const struct mprof_bucket *b, values_of *find,
                       const char *empty) {
  int64_t values[4] = {0};
  struct label labels[LABELS_MAX];
  uint32_t label_count = 0;
  if (!find(r, b, values, labels, &label_count))
    return;
  const long locations = add_stack(r, address, b, empty);
  if (locations < 0) {
    r->out->is_damaged = true;
    return;
  }
  label_count +=
      add_set(r, b->labels, labels + label_count, LABELS_MAX - label_count);
  qsort_r(labels, label_count, sizeof *labels, compare_labels, r->profile);
  const int64_t period =
      b->type == MPROF_BUCKET_MEM ? (int64_t)b->rate : r->profile->period;
  profile_sample(r->profile, r->locations, (uint32_t)locations, labels,
                 label_count, period, values);
}

// Adds a sample for each bucket of a type. size: only for buckets with this
// size, if it is not 0.
static void add_buckets(struct reader *r, enum mprof_bucket_type type,
                        uint64_t size, values_of *find, const char *empty) {
  uint64_t next = r->head.roots[MPROF_PERSIST_BUCKETS + type];
  add_program(r);
  for (size_t left = longest_list(r); next && left > 0; left--) {
    struct mprof_bucket b;
    if (!copy(r, next, &b, sizeof b))
      return;
    if (b.type != type)
      r->out->is_damaged = true;
    else if (size == 0 || b.size == size)
      add_sample(r, next, &b, find, empty);
    next = (uintptr_t)b.allnext;
  }
}

static struct profile *begin(struct reader *r, const char *name,
                             struct profile *p) {
  struct recovered *v =
      APPEND(r->out->profiles, r->out->count, r->out->capacity);
  snprintf(v->name, sizeof v->name, "%s", name);
  r->profile = v->profile = p;
  return p;
}

static void make_heap(struct reader *r) {
  struct profile *p =
      begin(r, "heap", new_profile(r, "heap_rate", r->head.heap_rate));
  add_type(p, "alloc_objects", "count");
  add_type(p, "alloc_space", "bytes");
  add_type(p, "inuse_objects", "count");
  add_type(p, "inuse_space", "bytes");
  set_period(p, "space", "bytes", (int64_t)r->head.heap_rate);
  add_buckets(r, MPROF_BUCKET_MEM, 0, heap_values, NULL);
}

static void make_waits(struct reader *r, const char *name,
                       enum mprof_bucket_type type, const char *rate_name,
                       uint64_t rate) {
  if (r->head.roots[MPROF_PERSIST_BUCKETS + type] == 0)
    return;
  struct profile *p = begin(r, name, new_profile(r, rate_name, rate));
  add_type(p, "contentions", "count");
  add_type(p, "delay", "nanoseconds");
  set_period(p, "contentions", "count", 1);
  add_buckets(r, type, 0, wait_values, NULL);
}

static void make_counts(struct reader *r, const char *name,
                        enum mprof_bucket_type type, uint64_t size,
                        values_of *find, const char *empty) {
  struct profile *p = begin(r, name, new_profile(r, NULL, 0));
  add_type(p, name, "count");
  set_period(p, name, "count", 1);
  add_buckets(r, type, size, find, empty);
}

// Returns whether a profile of the program may have this name, which becomes a
// part of a path.
static bool is_profile_name(const char *name) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  static const char *const others[] = {"heap", "block", "mutex",
                                       "threadcreate"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(name, others[i]) == 0)
      return false;
  const size_t length = strlen(name);
  return length > 0 && length < sizeof((struct recovered *)0)->name &&
         name[0] != '.' && strspn(name, letters) == length;
}

static void make_custom(struct reader *r) {
  for (size_t i = 0; i < r->names.count; i++) {
    const struct note *n = &r->names.v[i];
    if (!is_profile_name((const char *)n->data)) {
      r->out->is_damaged = true;
      continue;
    }
    if (find_note(&r->names, n->key) == n) // a profile may have several notes
      make_counts(r, (const char *)n->data, MPROF_BUCKET_CUSTOM, n->key,
                  custom_values, "[unknown]");
  }
}

const char *persist_read(const struct bytes *bytes, struct persist *out) {
  *out = (struct persist){0};
  struct reader r = {.bytes = bytes, .out = out};
  const char *error = read_head(&r);
  if (error)
    return error;
  out->pid = r.head.pid;
  out->is_cut = r.head.state & MPROF_PERSIST_IS_CUT;
  out->has_ended = r.head.state & MPROF_PERSIST_ENDED;
  read_notes(&r);
  make_heap(&r);
  make_waits(&r, "block", MPROF_BUCKET_BLOCK, "block_rate", r.head.block_rate);
  make_waits(&r, "mutex", MPROF_BUCKET_MUTEX, "mutex_fraction",
             r.head.mutex_fraction);
  if (r.head.roots[MPROF_PERSIST_BUCKETS + MPROF_BUCKET_THREAD] != 0)
    make_counts(&r, "threadcreate", MPROF_BUCKET_THREAD, 0, thread_values,
                "[unknown creator]");
  make_custom(&r);
  free(r.label_sets);
  free(r.locks.v);
  free(r.names.v);
  free(r.modules);
  free(r.locations);
  return NULL;
}

void persist_free(struct persist *p) {
  for (size_t i = 0; i < p->count; i++)
    profile_free(p->profiles[i].profile);
  free(p->profiles);
}
