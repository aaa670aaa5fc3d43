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
  // The sample that is being made.
  int64_t values[VALUES_MAX];
  struct label labels[LABELS_MAX];
  uint32_t label_count;
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
    struct mprof_text t = MPROF_TEXT(text);
    mprof_text_str(&t, mprof_stat_infos[i].name);
    mprof_text_str(&t, ": ");
    mprof_text_dec(&t, n);
    mprof_text_str(&t, " ");
    mprof_stat_text(&t, i, n);
    profile_comment(p, profile_text(p, text));
  }
  return p;
}

// Returns a type with its unit. A type without a name has that of the profile.
static struct value_type type_of(struct profile *p, const char *const type[2],
                                 const char *name) {
  return (struct value_type){.type = profile_text(p, type[0] ? type[0] : name),
                             .unit = profile_text(p, type[1])};
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

// Adds a label to the sample. Later ones are dropped if there are too many.
static void add_label(struct reader *r, struct label label) {
  if (r->label_count < LABELS_MAX)
    r->labels[r->label_count++] = label;
}

static void add_text(struct reader *r, const char *key, const char *value) {
  add_label(r, (struct label){.key = profile_text(r->profile, key),
                              .str = profile_text(r->profile, value)});
}

// Adds the labels of a set.
static void add_set(struct reader *r, uint16_t set) {
  const struct persist_note *sets = r->file->label_sets;
  if (!sets || !sets[set].data)
    return;
  uint32_t count;
  const uint8_t *p = sets[set].data, *end = p + sets[set].length;
  memcpy(&count, p + 4, sizeof count);
  for (p += 8; count > 0 && r->label_count < LABELS_MAX; count--) {
    const char *key, *value;
    p = persist_next_label(p, end, &key, &value);
    if (!p) {
      r->file->is_damaged = true;
      break;
    }
    if (*key) // a label without a key is not valid
      add_text(r, key, value);
  }
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

static void add_wait_labels(struct reader *r, const struct mprof_bucket *b) {
  char text[32];
  const struct persist_note *name =
      persist_find_note(&r->file->locks, b->object);
  add_text(r, b->type == MPROF_BUCKET_WALL ? "state" : "kind",
           kind_name(b->kind));
  snprintf(text, sizeof text, "0x%" PRIxPTR, b->object);
  if (b->object != 0)
    add_text(r, "lock", name ? (const char *)name->data : text);
}

// --- buckets ---

// Rounds a value of a sample down. The counts of a damaged file may be too
// large.
static int64_t whole(double value) {
  return value >= 0x1p63 ? INT64_MAX : (int64_t)value;
}

// Adds the label with the size of a block.
static void add_size(struct reader *r, const struct mprof_bucket *b) {
  if (b->size)
    add_label(r, (struct label){.key = profile_text(r->profile, "bytes"),
                                .number = (int64_t)b->size});
}

static double scale_of(const struct mprof_bucket *b) {
  return (double)mprof_scale_factor(b->size, b->rate) / (double)MPROF_SCALE_ONE;
}

static bool counted_values(struct reader *r, const struct mprof_bucket *b,
                           const struct persist_heap_counts *c) {
  if (c->allocs == 0 && c->frees == 0)
    return false;
  const uint64_t inuse = c->allocs > c->frees ? c->allocs - c->frees : 0;
  const double scale = scale_of(b);
  r->values[0] = whole((double)c->allocs * scale + 0.5);
  r->values[1] = whole((double)(c->allocs * b->size) * scale);
  r->values[2] = whole((double)inuse * scale + 0.5);
  r->values[3] = whole((double)(inuse * b->size) * scale);
  add_size(r, b);
  return true;
}

static bool heap_values(struct reader *r, const struct mprof_bucket *b) {
  const struct persist_heap_counts c =
      persist_heap_counts(r->file, r->address, b);
  return counted_values(r, b, &c);
}

static bool peak_values(struct reader *r, const struct mprof_bucket *b) {
  const struct persist_heap_counts c = persist_peak_counts(r->file, r->address);
  return c.allocs != 0 && counted_values(r, b, &c);
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
static bool freed_values(struct reader *r, const struct mprof_bucket *b) {
  struct mprof_heapx_lives lives;
  double before = 0;
  if (!lives_of(r, b, &lives))
    return false;
  for (int i = 0; i < r->life; i++)
    before += (double)load(&lives.n[i]);
  const double scale = scale_of(b);
  r->values[7] = whole((before + (double)load(&lives.n[r->life])) * scale) -
                 whole(before * scale);
  add_size(r, b);
  add_label(r, (struct label){.key = profile_text(r->profile, "lifetime"),
                              .unit = profile_text(r->profile, "nanoseconds"),
                              .number = INT64_C(2) << r->life});
  return r->values[7] != 0;
}

// The columns are those of the profile heapx (rt/write/kind_heapx.c).
static bool heapx_values(struct reader *r, const struct mprof_bucket *b) {
  if (r->life >= 0)
    return freed_values(r, b);
  const struct persist_heap_counts c =
      persist_heap_counts(r->file, r->address, b);
  const uint64_t *n = c.heapx;
  struct mprof_heapx_lives lives;
  const double scale = scale_of(b);
  const double slack = (double)n[MPROF_HEAPX_SLACK];
  const double freed = (double)n[MPROF_HEAPX_SLACK_FREED];
  const double temporary = (double)n[MPROF_HEAPX_TEMPORARY];
  r->values[0] = whole(temporary * scale + 0.5);
  r->values[1] = whole(temporary * (double)b->size * scale);
  r->values[2] = whole((double)n[MPROF_HEAPX_IN_PLACE] * scale + 0.5);
  r->values[3] = whole((double)n[MPROF_HEAPX_MOVED] * scale + 0.5);
  r->values[4] = whole((double)n[MPROF_HEAPX_COPIED] * scale);
  r->values[5] = whole(slack * scale);
  if (c.allocs > c.frees && slack > freed)
    r->values[6] = whole((slack - freed) * scale);
  if (lives_of(r, b, &lives))
    r->values[8] = whole((double)load(&lives.ns) * scale);
  add_size(r, b);
  for (int i = 0; i < HEAPX_VALUES; i++)
    if (r->values[i] != 0)
      return true;
  return false;
}

static bool wait_values(struct reader *r, const struct mprof_bucket *b) {
  const uint64_t count = load(&b->wait.count), cycles = load(&b->wait.cycles);
  if (count == 0 && cycles == 0)
    return false;
  const double ticks = (double)r->file->head.ticks_per_second;
  r->values[0] = (int64_t)((count + MPROF_COUNT_ONE / 2) / MPROF_COUNT_ONE);
  if (r->values[0] == 0 && b->type == MPROF_BUCKET_BLOCK)
    r->values[0] = 1;
  r->values[1] = ticks > 0 ? whole((double)cycles / (ticks / 1e9)) : 0;
  if (b->type == MPROF_BUCKET_WALL)
    r->values[2] = (int64_t)load(&b->wait.cpu_ns);
  add_wait_labels(r, b);
  return true;
}

static bool thread_values(struct reader *r, const struct mprof_bucket *b) {
  r->values[0] = (int64_t)load(&b->thread.created);
  return r->values[0] != 0;
}

static bool custom_values(struct reader *r, const struct mprof_bucket *b) {
  r->values[0] = (int64_t)b->custom.values;
  return r->values[0] != 0;
}

static bool map_values(struct reader *r, const struct mprof_bucket *b) {
  r->values[0] = (int64_t)b->map.alloc_objects;
  r->values[1] = (int64_t)b->map.alloc_bytes;
  r->values[2] = (int64_t)b->map.inuse_objects;
  r->values[3] = (int64_t)b->map.inuse_bytes;
  return r->values[0] != 0 || r->values[2] != 0;
}

static bool cpu_values(struct reader *r, const struct mprof_bucket *b) {
  r->values[0] = (int64_t)load(&b->cpu.samples);
  r->values[1] = (int64_t)load(&b->cpu.ns);
  return r->values[0] != 0;
}

// --- kinds of profiles ---

// A kind of profile, which has a sample for each bucket of a type.
struct kind {
  const char *name;
  enum mprof_bucket_type type;
  // Finds the values of a sample of the bucket, and its own labels. Returns
  // false if the bucket has counted nothing.
  bool (*find)(struct reader *r, const struct mprof_bucket *b);
  const char *empty; // the frame of a stack without frames, or NULL
  const char *period[2], *default_type;
  const char *types[VALUES_MAX][2]; // the values, and their units
};

enum { HEAP, HEAPX, PEAK, CUSTOM = 9 };
#define HEAP_TYPES                                                             \
  {{"alloc_objects", "count"},                                                 \
   {"alloc_space", "bytes"},                                                   \
   {"inuse_objects", "count"},                                                 \
   {"inuse_space", "bytes"}}
#define WAIT_TYPES {{"contentions", "count"}, {"delay", "nanoseconds"}}
#define OF(Name) MPROF_BUCKET_##Name
static const struct kind kinds[] = {
    // clang-format off
    {"heap", OF(MEM), heap_values, NULL, {"space", "bytes"}, NULL, HEAP_TYPES},
    {"heapx", OF(MEM), heapx_values, NULL, {"space", "bytes"},
     "temporary_objects",
     {{"temporary_objects", "count"}, {"temporary_space", "bytes"},
      {"in_place", "count"}, {"moved", "count"}, {"copied_space", "bytes"},
      {"alloc_slack_space", "bytes"}, {"slack_space", "bytes"},
      {"freed_objects", "count"}, {"lifetime", "nanoseconds"}}},
    {"peak", OF(MEM), peak_values, NULL, {"space", "bytes"}, NULL, HEAP_TYPES},
    {"mmap", OF(MAP), map_values, NULL, {"mmap", "bytes"}, NULL, HEAP_TYPES},
    {"cpu", OF(CPU), cpu_values, "[signal blocked]", {"cpu", "nanoseconds"},
     NULL, {{"samples", "count"}, {"cpu", "nanoseconds"}}},
    {"block", OF(BLOCK), wait_values, NULL, {"contentions", "count"}, NULL,
     WAIT_TYPES},
    {"mutex", OF(MUTEX), wait_values, NULL, {"contentions", "count"}, NULL,
     WAIT_TYPES},
    {"wall", OF(WALL), wait_values, "[unknown]", {"wall", "nanoseconds"},
     "wall",
     {{"samples", "count"}, {"wall", "nanoseconds"}, {"cpu", "nanoseconds"}}},
    {"threadcreate", OF(THREAD), thread_values, "[unknown creator]",
     {"threadcreate", "count"}, NULL, {{"threadcreate", "count"}}},
    // The program gives the name and the value of a profile of its own.
    {NULL, OF(CUSTOM), custom_values, "[unknown]", {NULL, "count"}, NULL,
     {{NULL, "count"}}},
    // clang-format on
};

static void add_sample(struct reader *r, uint64_t address,
                       const struct mprof_bucket *b, const struct kind *k) {
  memset(r->values, 0, sizeof r->values);
  r->label_count = 0;
  r->address = address;
  if (!k->find(r, b))
    return;
  const long locations = add_stack(r, address, b, k->empty);
  if (locations < 0) {
    r->file->is_damaged = true;
    return;
  }
  add_set(r, b->labels);
  qsort_r(r->labels, r->label_count, sizeof *r->labels, compare_labels,
          r->profile);
  const int64_t period =
      b->type == MPROF_BUCKET_MEM ? (int64_t)b->rate : r->profile->period;
  profile_sample(r->profile, r->locations, (uint32_t)locations, r->labels,
                 r->label_count, period, r->values);
}

// Adds a sample for each bucket. size: only for buckets with this size, if it
// is not 0.
static void add_buckets(struct reader *r, const struct kind *k, uint64_t size) {
  uint64_t next = r->file->head.roots[MPROF_PERSIST_BUCKETS + k->type];
  add_program(r);
  for (size_t left = persist_longest_list(r->file); next && left > 0; left--) {
    struct mprof_bucket b;
    if (!persist_copy(r->file, next, &b, sizeof b))
      return;
    if (b.type != k->type)
      r->file->is_damaged = true;
    else if (size == 0 || b.size == size)
      add_sample(r, next, &b, k);
    next = (uintptr_t)b.allnext;
  }
}

// Returns when the process had most memory in use.
static int64_t time_of_peak(const struct mprof_persist_head *h) {
  if (h->ticks_per_second == 0 || h->peak_ticks <= h->begin_ticks)
    return h->begin_ns;
  return (int64_t)((uint64_t)h->begin_ns +
                   (uint64_t)whole((double)(h->peak_ticks - h->begin_ticks) *
                                   1e9 / (double)h->ticks_per_second));
}

static struct profile *begin(struct reader *r, const struct kind *k,
                             const char *name) {
  const struct mprof_persist_head *h = &r->file->head;
  const bool is_heap = k->type == MPROF_BUCKET_MEM;
  const char *moment =
      k == &kinds[PEAK] ? "the peak of the memory in use" : END;
  struct profile *p =
      is_heap ? new_profile(r, "heap_rate", h->heap_rate, moment)
      : k->type == MPROF_BUCKET_BLOCK
          ? new_profile(r, "block_rate", h->block_rate, END)
      : k->type == MPROF_BUCKET_MUTEX
          ? new_profile(r, "mutex_fraction", h->mutex_fraction, END)
          : new_profile(r, NULL, 0, END);
  for (int i = 0; i < VALUES_MAX && k->types[i][1]; i++)
    p->types[p->type_count++] = type_of(p, k->types[i], name);
  p->period_type = type_of(p, k->period, name);
  p->period = is_heap ? (int64_t)h->heap_rate : 1;
  if (k->default_type)
    p->default_type = profile_text(p, k->default_type);
  if (k == &kinds[PEAK])
    p->time_ns = time_of_peak(h);
  struct recovered *v =
      APPEND(r->out->profiles, r->out->count, r->out->capacity);
  snprintf(v->name, sizeof v->name, "%s", name);
  v->profile = p;
  return p;
}

static void make(struct reader *r, const struct kind *k, const char *name,
                 uint64_t size) {
  r->profile = begin(r, k, name);
  if (k != &kinds[HEAPX])
    add_buckets(r, k, size);
  else
    for (r->life = -1; r->life < MPROF_HEAPX_LIVES; r->life++)
      add_buckets(r, k, size);
}

// Returns whether a profile of the program may have this name, which becomes a
// part of a path.
static bool is_profile_name(const char *name) {
  static const char letters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.";
  for (int i = 0; i < CUSTOM; i++)
    if (strcmp(name, kinds[i].name) == 0)
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
      make(r, &kinds[CUSTOM], (const char *)n->data, n->key);
  }
}

// Returns whether the process has counted for this kind of profile.
static bool has_kind(const struct mprof_persist_head *h, int kind) {
  switch (kind) {
  case HEAP:
    return true;
  case HEAPX:
    return h->has_heapx;
  case PEAK:
    return h->has_peak && h->peak_number != 0;
  default:
    return h->roots[MPROF_PERSIST_BUCKETS + kinds[kind].type] != 0;
  }
}

void persist_profiles(struct persist_file *file, struct persist *out) {
  *out = (struct persist){0};
  struct reader r = {.file = file, .out = out};
  for (int i = 0; i < CUSTOM; i++)
    if (has_kind(&file->head, i))
      make(&r, &kinds[i], kinds[i].name, 0);
  make_custom(&r);
  free(r.locations);
}

void persist_free(struct persist *p) {
  for (size_t i = 0; i < p->count; i++)
    profile_free(p->profiles[i].profile);
  free(p->profiles);
}
