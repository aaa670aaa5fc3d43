// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the profiles of the file of the option persist; see profiles.h.

#include "persist/profiles.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "bucket/heapx.h"
#include "bucket/peak.h"
#include "common/memory.h"
#include "lock_wait/hooked.h"
#include "persist/file.h"
#include "sys/persistent.h"
#include "sys/scale.h"
#include "sys/stats.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- counts of the heap ---
//
// Reads the counts of a MEM bucket: those of the heap profile, of heapx and of
// the peak.

struct persist_heap_counts {
  uint64_t allocs, frees;
  uint64_t heapx[MPROF_HEAPX_COUNTERS]; // 0 without the option heapx
};

static uint64_t load(const _Atomic uint64_t *n) {
  return atomic_load_explicit(n, memory_order_relaxed);
}

static void add_heapx(struct persist_heap_counts *c,
                      const struct mprof_heapx_cycle cycles[3]) {
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < MPROF_HEAPX_COUNTERS; i++)
      c->heapx[i] += load(&cycles[k].n[i]);
}

// Adds the counts of a cell.
static void add_cell(struct persist_file *f, uint64_t address,
                     struct persist_heap_counts *c) {
  struct mprof_cell cell;
  struct mprof_heapx_cell x;
  if (!persist_copy(f, address, &cell, sizeof cell))
    return;
  for (int k = 0; k < 3; k++) {
    c->allocs += load(&cell.cycles[k].allocs);
    c->frees += load(&cell.cycles[k].frees);
  }
  if (f->head.has_heapx && persist_copy(f, address + sizeof cell, &x, sizeof x))
    add_heapx(c, x.cycles);
}

// Adds the counts of all cells of a bucket.
static void add_cells(struct persist_file *f, const struct mprof_bucket *b,
                      struct persist_heap_counts *c) {
  uint32_t next = atomic_load_explicit(&b->cells, memory_order_relaxed);
  for (size_t left = persist_longest_list(f); next && left > 0; left--) {
    struct mprof_cell_line line;
    if (!persist_copy(f, persist_object(f, next), &line, sizeof line))
      return;
    for (unsigned i = 0; i < MPROF_CELLS_A_LINE; i++) {
      const uint32_t handle =
          atomic_load_explicit(&line.cells[i], memory_order_relaxed);
      if (handle)
        add_cell(f, persist_object(f, handle), c);
    }
    next = atomic_load_explicit(&line.next, memory_order_relaxed);
  }
}

// Returns the number of words that the bucket has after its stack; see
// mprof_bucket_words_after.
static size_t words_after(struct persist_file *f, uint64_t address,
                          const struct mprof_bucket *b) {
  uint16_t words = 0;
  if (!mprof_bucket_has_slots(b))
    return 0;
  const size_t before = b->stack_len + b->roots_plus_1 - 1u;
  persist_copy(f, address + sizeof *b + before * sizeof(mprof_pc), &words,
               sizeof words);
  return words;
}

// Read the counts of the bucket at an address, whose copy is b: those at the
// end of the process, and those at the peak. Set f->is_damaged if the file does
// not have them all.
static struct persist_heap_counts
persist_heap_counts(struct persist_file *f, uint64_t address,
                    const struct mprof_bucket *b) {
  struct persist_heap_counts c = {0};
  for (int k = 0; k < 3; k++) {
    c.allocs +=
        load(&b->mem.own.cycles[k].allocs) + load(&b->mem.shared[k].allocs);
    c.frees +=
        load(&b->mem.own.cycles[k].frees) + load(&b->mem.shared[k].frees);
  }
  add_cells(f, b, &c);
  struct mprof_heapx_counts x;
  const size_t words = b->stack_len + words_after(f, address, b);
  if (f->head.has_heapx &&
      persist_copy(f, address + mprof_heapx_offset(words), &x, sizeof x)) {
    add_heapx(&c, x.own);
    add_heapx(&c, x.shared);
  }
  return c;
}

static struct persist_heap_counts persist_peak_counts(struct persist_file *f,
                                                      uint64_t address) {
  struct mprof_peak_counts x;
  if (!persist_copy(f, address - sizeof x, &x, sizeof x))
    return (struct persist_heap_counts){0};
  const struct mprof_peak_pair *n =
      x.peak == f->head.peak_number ? &x.at_peak : &x.now;
  return (struct persist_heap_counts){.allocs = n->allocs, .frees = n->frees};
}

// --- the profiles ---

enum { LABELS_MAX = 64, HEAPX_VALUES = 9, VALUES_MAX = 9 };

struct reader {
  struct persist_file *file;
  struct persist *out;
  // The profile that is being made.
  struct profile *profile;
  uint64_t address; // of the bucket that is being read
  int life; // that the sample of the heapx profile shows; -1: not one of them
  uint32_t *locations;
};

// --- profiles ---

#define END "the end"

// Returns what has become of the process.
static const char *fate_of(const struct persist_file *f) {
  if (f->is_in_use)
    return "still runs";
  return f->head.state & MPROF_PERSIST_ENDED ? "has ended" : "was killed";
}

static struct profile *new_profile(const struct reader *r, const char *rate,
                                   uint64_t value, const char *moment) {
  struct profile *p = profile_new();
  char text[sizeof r->file->head.program + 64];
  p->time_ns = r->file->head.begin_ns;
  snprintf(text, sizeof text, "MProf %s", r->file->head.version);
  profile_comment(p, profile_text(p, text));
  snprintf(text, sizeof text, "command: %s", r->file->head.program);
  profile_comment(p, profile_text(p, text));
  if (rate) {
    snprintf(text, sizeof text, "%s: %" PRIu64, rate, value);
    profile_comment(p, profile_text(p, text));
  }
  const bool is_end = strcmp(moment, END) == 0;
  if (r->file->has_exited)
    snprintf(text, sizeof text, is_end ? "written: at exit" : "moment: %s",
             moment);
  else
    snprintf(
        text, sizeof text, "moment: %s of a process that %s (mprof recover)",
        r->file->is_in_use && is_end ? "a moment" : moment, fate_of(r->file));
  profile_comment(p, profile_text(p, text));
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    const uint64_t n = r->file->head.stats[i];
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    snprintf(text, sizeof text, "%s: %" PRIu64 " %s", mprof_stat_infos[i].name,
             n, mprof_stat_text(i));
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

// Adds the mapping of the program first, as readers expect.
static void add_program(struct reader *r) {
  const struct persist_file *f = r->file;
  for (size_t i = f->module_count; i-- > 0;)
    if (strcmp(f->modules[i].note.file, f->head.program) == 0)
      persist_mapping(r->profile, &f->modules[i]);
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
  const uint8_t *stack = persist_at(r->file, address + sizeof *b,
                                    (size_t)b->stack_len * sizeof(mprof_pc));
  if (!stack || b->stack_len > MPROF_MAX_STACK_DEPTH)
    return -1;
  if (!r->locations)
    r->locations = zeroed(MPROF_MAX_STACK_DEPTH + 1u, sizeof *r->locations);
  for (uint32_t i = 0; i < b->stack_len; i++) {
    uint64_t pc;
    memcpy(&pc, stack + i * sizeof pc, sizeof pc);
    if (pc)
      r->locations[n++] = persist_location(
          r->file, r->profile,
          persist_shown(r->file, pc, mprof_bucket_gone(b)) - 1);
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

static struct label text_label(struct profile *p, const char *key,
                               const char *value) {
  return (struct label){.key = profile_text(p, key),
                        .str = profile_text(p, value)};
}

// Adds the labels of a set. Returns their number.
static uint32_t add_set(struct reader *r, uint16_t set, struct label *labels,
                        uint32_t room) {
  const struct persist_note *sets = r->file->label_sets;
  if (!sets || !sets[set].data)
    return 0;
  uint32_t count, n = 0;
  const uint8_t *p = sets[set].data, *end = p + sets[set].length;
  memcpy(&count, p + 4, sizeof count);
  for (p += 8; count > 0 && n < room; count--) {
    const char *key, *value;
    p = persist_next_label(p, end, &key, &value);
    if (!p) {
      r->file->is_damaged = true;
      break;
    }
    if (*key) // a label without a key is not valid
      labels[n++] = text_label(r->profile, key, value);
  }
  return n;
}

static const char *kind_name(unsigned kind) {
  static const char *const names[] = {
#define MPROF_KIND(Name, Group) #Name,
#include "mprof/hooks.def"
      "mprof",
#define MPROF_STATE(Name) #Name,
      MPROF_STATES
#undef MPROF_STATE
  };
  return kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

static uint32_t add_wait_labels(struct reader *r, const struct mprof_bucket *b,
                                struct label *labels) {
  struct profile *p = r->profile;
  const char *key = b->type == MPROF_BUCKET_WALL ? "state" : "kind";
  labels[0] = text_label(p, key, kind_name(b->kind));
  if (b->object == 0)
    return 1;
  char text[32];
  const struct persist_note *name =
      persist_find_note(&r->file->locks, b->object);
  snprintf(text, sizeof text, "0x%" PRIxPTR, b->object);
  labels[1] = text_label(p, "lock", name ? (const char *)name->data : text);
  return 2;
}

// --- buckets ---

// Rounds a value of a sample down. The counts of a damaged file may be too
// large.
static int64_t whole(double value) {
  return value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

// Adds the label with the size of a block.
static void add_size(struct reader *r, const struct mprof_bucket *b,
                     struct label *labels, uint32_t *label_count) {
  if (b->size == 0)
    return;
  labels[0] = (struct label){.key = profile_text(r->profile, "bytes"),
                             .number = (int64_t)b->size};
  *label_count = 1;
}

static double scale_of(const struct mprof_bucket *b) {
  return (double)mprof_scale_factor(b->size, b->rate) / (double)MPROF_SCALE_ONE;
}

static bool counted_values(struct reader *r, const struct mprof_bucket *b,
                           const struct persist_heap_counts *c, int64_t *values,
                           struct label *labels, uint32_t *label_count) {
  if (c->allocs == 0 && c->frees == 0)
    return false;
  const uint64_t inuse = c->allocs > c->frees ? c->allocs - c->frees : 0;
  const double scale = scale_of(b);
  values[0] = whole((double)c->allocs * scale + 0.5);
  values[1] = whole((double)(c->allocs * b->size) * scale);
  values[2] = whole((double)inuse * scale + 0.5);
  values[3] = whole((double)(inuse * b->size) * scale);
  add_size(r, b, labels, label_count);
  return true;
}

static bool heap_values(struct reader *r, const struct mprof_bucket *b,
                        int64_t *values, struct label *labels,
                        uint32_t *label_count) {
  const struct persist_heap_counts c =
      persist_heap_counts(r->file, r->address, b);
  return counted_values(r, b, &c, values, labels, label_count);
}

static bool peak_values(struct reader *r, const struct mprof_bucket *b,
                        int64_t *values, struct label *labels,
                        uint32_t *label_count) {
  const struct persist_heap_counts c = persist_peak_counts(r->file, r->address);
  return c.allocs != 0 && counted_values(r, b, &c, values, labels, label_count);
}

// Reads the lifetimes of a bucket. Returns false if the file has none.
static bool lives_of(struct reader *r, const struct mprof_bucket *b,
                     struct mprof_heapx_lives *lives) {
  const size_t words = b->stack_len + words_after(r->file, r->address, b);
  return r->file->head.has_heapx &&
         persist_copy(r->file,
                      r->address + mprof_heapx_offset(words) +
                          offsetof(struct mprof_heapx_counts, lives),
                      lives, sizeof *lives);
}

// Finds the number of blocks with the lifetime r->life.
static bool freed_values(struct reader *r, const struct mprof_bucket *b,
                         int64_t *values, struct label *labels,
                         uint32_t *label_count) {
  struct mprof_heapx_lives lives;
  double before = 0;
  if (!lives_of(r, b, &lives))
    return false;
  for (int i = 0; i < r->life; i++)
    before += (double)load(&lives.n[i]);
  const double scale = scale_of(b);
  values[7] = whole((before + (double)load(&lives.n[r->life])) * scale) -
              whole(before * scale);
  add_size(r, b, labels, label_count);
  labels[(*label_count)++] =
      (struct label){.key = profile_text(r->profile, "lifetime"),
                     .unit = profile_text(r->profile, "nanoseconds"),
                     .number = INT64_C(2) << r->life};
  return values[7] != 0;
}

// The columns are those of the profile heapx (rt/write/kind_heapx.c).
static bool heapx_values(struct reader *r, const struct mprof_bucket *b,
                         int64_t *values, struct label *labels,
                         uint32_t *label_count) {
  if (r->life >= 0)
    return freed_values(r, b, values, labels, label_count);
  const struct persist_heap_counts c =
      persist_heap_counts(r->file, r->address, b);
  const uint64_t *n = c.heapx;
  struct mprof_heapx_lives lives;
  const double scale = scale_of(b);
  const double slack = (double)n[MPROF_HEAPX_SLACK];
  const double freed = (double)n[MPROF_HEAPX_SLACK_FREED];
  const double temporary = (double)n[MPROF_HEAPX_TEMPORARY];
  values[0] = whole(temporary * scale + 0.5);
  values[1] = whole(temporary * (double)b->size * scale);
  values[2] = whole((double)n[MPROF_HEAPX_IN_PLACE] * scale + 0.5);
  values[3] = whole((double)n[MPROF_HEAPX_MOVED] * scale + 0.5);
  values[4] = whole((double)n[MPROF_HEAPX_COPIED] * scale);
  values[5] = whole(slack * scale);
  if (c.allocs > c.frees && slack > freed)
    values[6] = whole((slack - freed) * scale);
  if (lives_of(r, b, &lives))
    values[8] = whole((double)load(&lives.ns) * scale);
  add_size(r, b, labels, label_count);
  for (int i = 0; i < HEAPX_VALUES; i++)
    if (values[i] != 0)
      return true;
  return false;
}

static bool wait_values(struct reader *r, const struct mprof_bucket *b,
                        int64_t *values, struct label *labels,
                        uint32_t *label_count) {
  const uint64_t count = load(&b->wait.count), cycles = load(&b->wait.cycles);
  if (count == 0 && cycles == 0)
    return false;
  const double ticks = (double)r->file->head.ticks_per_second;
  values[0] = (int64_t)((count + MPROF_COUNT_ONE / 2) / MPROF_COUNT_ONE);
  if (values[0] == 0 && b->type == MPROF_BUCKET_BLOCK)
    values[0] = 1;
  values[1] = ticks > 0 ? whole((double)cycles / (ticks / 1e9)) : 0;
  if (b->type == MPROF_BUCKET_WALL)
    values[2] = (int64_t)load(&b->wait.cpu_ns);
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

static bool map_values(struct reader *r, const struct mprof_bucket *b,
                       int64_t *values, struct label *labels,
                       uint32_t *label_count) {
  (void)r, (void)labels, (void)label_count;
  values[0] = (int64_t)b->map.alloc_objects;
  values[1] = (int64_t)b->map.alloc_bytes;
  values[2] = (int64_t)b->map.inuse_objects;
  values[3] = (int64_t)b->map.inuse_bytes;
  return values[0] != 0 || values[2] != 0;
}

static bool cpu_values(struct reader *r, const struct mprof_bucket *b,
                       int64_t *values, struct label *labels,
                       uint32_t *label_count) {
  (void)r, (void)labels, (void)label_count;
  values[0] = (int64_t)load(&b->cpu.samples);
  values[1] = (int64_t)load(&b->cpu.ns);
  return values[0] != 0;
}

// Finds the values of a sample of the bucket, and its own labels. Returns false
// if the bucket has counted nothing.
typedef bool values_of(struct reader *r, const struct mprof_bucket *b,
                       int64_t *values, struct label *labels,
                       uint32_t *label_count);

static void add_sample(struct reader *r, uint64_t address,
                       const struct mprof_bucket *b, values_of *find,
                       const char *empty) {
  int64_t values[VALUES_MAX] = {0};
  struct label labels[LABELS_MAX];
  uint32_t label_count = 0;
  r->address = address;
  if (!find(r, b, values, labels, &label_count))
    return;
  const long locations = add_stack(r, address, b, empty);
  if (locations < 0) {
    r->file->is_damaged = true;
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
  uint64_t next = r->file->head.roots[MPROF_PERSIST_BUCKETS + type];
  add_program(r);
  for (size_t left = persist_longest_list(r->file); next && left > 0; left--) {
    struct mprof_bucket b;
    if (!persist_copy(r->file, next, &b, sizeof b))
      return;
    if (b.type != type)
      r->file->is_damaged = true;
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

static void add_heap_types(struct profile *p) {
  add_type(p, "alloc_objects", "count");
  add_type(p, "alloc_space", "bytes");
  add_type(p, "inuse_objects", "count");
  add_type(p, "inuse_space", "bytes");
}

static struct profile *begin_heap(struct reader *r, const char *name,
                                  const char *moment) {
  const uint64_t rate = r->file->head.heap_rate;
  struct profile *p = begin(r, name, new_profile(r, "heap_rate", rate, moment));
  set_period(p, "space", "bytes", (int64_t)rate);
  return p;
}

static void make_heap(struct reader *r) {
  add_heap_types(begin_heap(r, "heap", END));
  add_buckets(r, MPROF_BUCKET_MEM, 0, heap_values, NULL);
}

static void make_heapx(struct reader *r) {
  static const char *const types[HEAPX_VALUES][2] = {
      {"temporary_objects", "count"}, {"temporary_space", "bytes"},
      {"in_place", "count"},          {"moved", "count"},
      {"copied_space", "bytes"},      {"alloc_slack_space", "bytes"},
      {"slack_space", "bytes"},       {"freed_objects", "count"},
      {"lifetime", "nanoseconds"}};
  struct profile *p = begin_heap(r, "heapx", END);
  for (int i = 0; i < HEAPX_VALUES; i++)
    add_type(p, types[i][0], types[i][1]);
  p->default_type = profile_text(p, types[0][0]);
  for (r->life = -1; r->life < MPROF_HEAPX_LIVES; r->life++)
    add_buckets(r, MPROF_BUCKET_MEM, 0, heapx_values, NULL);
}

static void make_peak(struct reader *r) {
  const struct mprof_persist_head *h = &r->file->head;
  struct profile *p = begin_heap(r, "peak", "the peak of the memory in use");
  add_heap_types(p);
  if (h->ticks_per_second != 0 && h->peak_ticks > h->begin_ticks)
    p->time_ns =
        (int64_t)((uint64_t)p->time_ns +
                  (uint64_t)whole((double)(h->peak_ticks - h->begin_ticks) *
                                  1e9 / (double)h->ticks_per_second));
  add_buckets(r, MPROF_BUCKET_MEM, 0, peak_values, NULL);
}

static void make_maps(struct reader *r) {
  if (r->file->head.roots[MPROF_PERSIST_BUCKETS + MPROF_BUCKET_MAP] == 0)
    return;
  struct profile *p = begin(r, "mmap", new_profile(r, NULL, 0, END));
  add_heap_types(p);
  set_period(p, "mmap", "bytes", 1);
  add_buckets(r, MPROF_BUCKET_MAP, 0, map_values, NULL);
}

static void make_cpu(struct reader *r) {
  if (r->file->head.roots[MPROF_PERSIST_BUCKETS + MPROF_BUCKET_CPU] == 0)
    return;
  struct profile *p = begin(r, "cpu", new_profile(r, NULL, 0, END));
  add_type(p, "samples", "count");
  add_type(p, "cpu", "nanoseconds");
  set_period(p, "cpu", "nanoseconds", 1);
  add_buckets(r, MPROF_BUCKET_CPU, 0, cpu_values, "[signal blocked]");
}

static void make_waits(struct reader *r, const char *name,
                       enum mprof_bucket_type type, const char *rate_name,
                       uint64_t rate) {
  if (r->file->head.roots[MPROF_PERSIST_BUCKETS + type] == 0)
    return;
  struct profile *p = begin(r, name, new_profile(r, rate_name, rate, END));
  add_type(p, "contentions", "count");
  add_type(p, "delay", "nanoseconds");
  set_period(p, "contentions", "count", 1);
  add_buckets(r, type, 0, wait_values, NULL);
}

static void make_wall(struct reader *r) {
  if (r->file->head.roots[MPROF_PERSIST_BUCKETS + MPROF_BUCKET_WALL] == 0)
    return;
  struct profile *p = begin(r, "wall", new_profile(r, NULL, 0, END));
  add_type(p, "samples", "count");
  add_type(p, "wall", "nanoseconds");
  add_type(p, "cpu", "nanoseconds");
  set_period(p, "wall", "nanoseconds", 1);
  p->default_type = profile_text(p, "wall");
  add_buckets(r, MPROF_BUCKET_WALL, 0, wait_values, "[unknown]");
}

static void make_counts(struct reader *r, const char *name,
                        enum mprof_bucket_type type, uint64_t size,
                        values_of *find, const char *empty) {
  struct profile *p = begin(r, name, new_profile(r, NULL, 0, END));
  add_type(p, name, "count");
  set_period(p, name, "count", 1);
  add_buckets(r, type, size, find, empty);
}

// Returns whether a profile of the program may have this name, which becomes a
// part of a path.
static bool is_profile_name(const char *name) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  static const char *const others[] = {"heap",  "heapx", "peak",
                                       "block", "mutex", "threadcreate",
                                       "mmap",  "cpu",   "wall"};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strcmp(name, others[i]) == 0)
      return false;
  const size_t length = strlen(name);
  return length > 0 && length < sizeof((struct recovered *)0)->name &&
         name[0] != '.' && strspn(name, letters) == length;
}

static void make_custom(struct reader *r) {
  for (size_t i = 0; i < r->file->names.count; i++) {
    const struct persist_note *n = &r->file->names.v[i];
    if (!is_profile_name((const char *)n->data)) {
      r->file->is_damaged = true;
      continue;
    }
    if (persist_find_note(&r->file->names, n->key) ==
        n) // a profile may have several notes
      make_counts(r, (const char *)n->data, MPROF_BUCKET_CUSTOM, n->key,
                  custom_values, "[unknown]");
  }
}

void persist_profiles(struct persist_file *file, struct persist *out) {
  *out = (struct persist){0};
  struct reader r = {.file = file, .out = out};
  make_heap(&r);
  if (file->head.has_heapx)
    make_heapx(&r);
  if (file->head.has_peak && file->head.peak_number != 0)
    make_peak(&r);
  make_maps(&r);
  make_cpu(&r);
  make_waits(&r, "block", MPROF_BUCKET_BLOCK, "block_rate",
             file->head.block_rate);
  make_waits(&r, "mutex", MPROF_BUCKET_MUTEX, "mutex_fraction",
             file->head.mutex_fraction);
  make_wall(&r);
  if (file->head.roots[MPROF_PERSIST_BUCKETS + MPROF_BUCKET_THREAD] != 0)
    make_counts(&r, "threadcreate", MPROF_BUCKET_THREAD, 0, thread_values,
                "[unknown creator]");
  make_custom(&r);
  free(r.locations);
}

void persist_free(struct persist *p) {
  for (size_t i = 0; i < p->count; i++)
    profile_free(p->profiles[i].profile);
  free(p->profiles);
}
