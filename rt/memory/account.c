// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assigns the memory of a process to parts; see account.h.
//
// Most mappings belong to one part as a whole. A private mapping without a file
// may have several: the kernel merges adjacent mappings, whoever has made them.
// Claims tell which ranges of these mappings belong to what. A mapping is cut
// into segments along the claims, and the segments share the bytes that smaps
// has counted for the mapping in proportion to their resident pages.

#include "memory/account.h"

#include "memory/owners.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "sys/sort.h"

#include <elf.h>
#include <errno.h>
#include <link.h>
#include <string.h>

static const struct {
  const char *name, *text;
} part_rows[] = {
#define PART(Id, Name, Text) {Name, Text},
    MPROF_MEMORY_PARTS(PART)
#undef PART
};

const char *mprof_memory_part_name(enum mprof_memory_part part) {
  return part_rows[part].name;
}

const char *mprof_memory_part_text(enum mprof_memory_part part) {
  return part_rows[part].text;
}

// A range of addresses that belongs to a part.
struct claim {
  uintptr_t start, limit;
  enum mprof_memory_part part;
  uint32_t detail; // in the names of the process; NO_DETAIL: none
  const struct mprof_bucket *stack;
  const struct mprof_glibc_heap *heap; // has the parts of the range; or NULL
};
#define NO_DETAIL UINT32_MAX

// A part of a mapping, with its resident and swapped pages.
struct segment {
  struct claim of;
  struct mprof_usage usage;
};

struct list {
  void *v;
  size_t len, bytes; // len: number of entries
};

struct work {
  struct mprof_account *account;
  struct mprof_process *process;
  struct list claims;   // struct claim; sorted by address when all are known
  struct list segments; // struct segment, of the present mapping
  size_t next_claim;
  const struct mprof_mapped_range *ranges, *ranges_end; // not used so far
  // The allocator to which anonymous memory belongs, if it is not glibc's.
  uint32_t other;                 // its name; NO_DETAIL: none
  struct mprof_usage others;      // its memory
  mprof_block_stack_fn *stack_of; // or NULL
  bool splits_free;               // whether *holes is used
  struct mprof_holes holes;
  struct list listed; // struct segment: the free memory between the blocks
  int error;
};

static void *append(struct work *w, struct list *l, size_t size) {
  if (!mprof_process_grow(&l->v, &l->bytes, l->len * size, size)) {
    w->error = -ENOMEM;
    return NULL;
  }
  return (char *)l->v + l->len++ * size;
}

static void free_list(struct list *l) {
  if (l->bytes > 0)
    mprof_os_unmap(l->v, l->bytes);
}

// Sorts n elements of `size` bytes each. Returns 0 or -ENOMEM.
static int sort_array(void *v, size_t n, size_t size,
                      bool (*comes_before)(const void *, const void *)) {
  if (n == 0)
    return 0;
  void **sorted = mprof_os_map(n * sizeof(*sorted));
  char *copy = mprof_os_map(n * size);
  const bool has_room = sorted && copy;
  if (has_room) {
    memcpy(copy, v, n * size);
    for (size_t i = 0; i < n; i++)
      sorted[i] = copy + i * size;
    mprof_sort(sorted, n, comes_before);
    for (size_t i = 0; i < n; i++)
      memcpy((char *)v + i * size, sorted[i], size);
  }
  if (sorted)
    mprof_os_unmap(sorted, n * sizeof(*sorted));
  if (copy)
    mprof_os_unmap(copy, n * size);
  return has_room ? 0 : -ENOMEM;
}

// Appends a text to the names of the process. Returns its offset.
static uint32_t keep_name(struct work *w, const char *text) {
  struct mprof_process *p = w->process;
  const size_t len = strlen(text) + 1;
  if (!mprof_process_grow((void **)&p->names, &p->names_bytes, p->names_len,
                          len)) {
    w->error = -ENOMEM;
    return NO_DETAIL;
  }
  memcpy(p->names + p->names_len, text, len);
  p->names_len += len;
  return (uint32_t)(p->names_len - len);
}

// Returns the name of a mapping's file without its directory.
static uint32_t base_name(const struct work *w, const struct mprof_mapped *m) {
  const char *name = mprof_process_name(w->process, m);
  return m->name + (uint32_t)(mprof_text_base_name(name) - name);
}

// --- rows ---

// Adds a row. Its detail is an offset in the names until the last row has been
// added, because the names may move. Returns NULL if there is no memory.
static struct mprof_account_row *add_row(struct work *w, const struct claim *of,
                                         const struct mprof_usage *usage) {
  struct mprof_account *a = w->account;
  const uintptr_t detail = of->detail == NO_DETAIL ? 0 : of->detail + 1;
  if (!mprof_process_grow((void **)&a->rows, &a->rows_bytes,
                          a->rows_len * sizeof(a->rows[0]),
                          sizeof(a->rows[0]))) {
    w->error = -ENOMEM;
    return NULL;
  }
  struct mprof_account_row *r = &a->rows[a->rows_len++];
  *r = (struct mprof_account_row){of->part, (const char *)detail, of->stack, 0,
                                  *usage};
  return r;
}

static int compare(const struct mprof_account_row *x,
                   const struct mprof_account_row *y) {
  if (x->part != y->part)
    return x->part < y->part ? -1 : 1;
  if (x->stack != y->stack)
    return x->stack < y->stack ? -1 : 1;
  if (x->detail == y->detail || !x->detail || !y->detail)
    return x->detail == y->detail ? 0 : x->detail ? 1 : -1;
  return strcmp(x->detail, y->detail);
}

static bool comes_before(const void *a, const void *b) {
  return compare(a, b) < 0;
}

// Sorts the rows, and makes one row of equal ones.
static int merge_rows(struct mprof_account *a) {
  size_t len = 0;
  for (size_t i = 0; i < a->rows_len; i++) {
    struct mprof_account_row *r = &a->rows[i];
    r->detail = r->detail ? a->process.names + (uintptr_t)r->detail - 1 : NULL;
  }
  const int error =
      sort_array(a->rows, a->rows_len, sizeof(a->rows[0]), comes_before);
  if (error != 0)
    return error;
  for (size_t i = 0; i < a->rows_len; i++) {
    const struct mprof_account_row *r = &a->rows[i];
    if (len > 0 && compare(&a->rows[len - 1], r) == 0) {
      mprof_usage_add(&a->rows[len - 1].usage, &r->usage);
      a->rows[len - 1].used_beside += r->used_beside;
    } else {
      a->rows[len++] = *r;
    }
  }
  a->rows_len = len;
  return 0;
}

// --- claims ---

static struct claim *claim(struct work *w, uintptr_t start, uintptr_t limit,
                           enum mprof_memory_part part, uint32_t detail) {
  struct claim *c =
      start < limit ? append(w, &w->claims, sizeof(struct claim)) : NULL;
  if (c)
    *c = (struct claim){start, limit, part, detail, NULL, NULL};
  return c;
}

// The runtime's own mappings.
static void claim_own(struct work *w) {
  uintptr_t start;
  size_t len;
  for (size_t i = 0; mprof_os_own_map(i, &start, &len); i++)
    if (len != 0)
      claim(w, start, start + len, MPROF_MEMORY_MPROF, NO_DETAIL);
}

static bool is_anonymous(const struct work *w, const struct mprof_mapped *m) {
  const char *name = mprof_process_name(w->process, m);
  return m->inode == 0 && !m->is_shared &&
         (*name == '\0' || strncmp(name, "[anon:", 6) == 0 ||
          strcmp(name, "[heap]") == 0);
}

// Returns the name of a thread for the detail of its stack. Threads of a pool
// have names such as worker-1 and worker-2, which become one name.
static uint32_t thread_name(struct work *w, int tid) {
  char path[64], name[32];
  struct mprof_text t = MPROF_TEXT(path);
  if (tid <= 0)
    return keep_name(w, "ended threads");
  mprof_text_str(&t, "/proc/");
  if (w->process->pid == 0)
    mprof_text_str(&t, "self");
  else
    mprof_text_dec(&t, (uint64_t)w->process->pid);
  mprof_text_str(&t, "/task/");
  mprof_text_dec(&t, (uint64_t)tid);
  mprof_text_str(&t, "/comm");
  const long n = mprof_procfile_begin(path, name, sizeof(name));
  if (n <= 1)
    return keep_name(w, "ended threads");
  name[n - 1] = '\0'; // the end of the line
  return keep_name(w, name);
}

static void claim_stacks(struct work *w) {
  const struct mprof_process *p = w->process;
  size_t pages = 65536;
  for (size_t i = 1; i < p->mappings_len; i++) {
    const struct mprof_mapped *m = &p->mappings[i], *guard = m - 1;
    struct mprof_stack_found s;
    if (is_anonymous(w, m) && m->is_writable && guard->limit == m->start &&
        !guard->is_readable && !guard->is_writable && guard->inode == 0 &&
        mprof_libc_stack_find(w->process, m, &pages, &s))
      claim(w, s.start, s.limit, MPROF_MEMORY_STACKS, thread_name(w, s.tid));
  }
}

// Adds the resident bytes of a large block to those of its stack, if the block
// was sampled.
static void add_touched(struct work *w, const struct mprof_glibc_block *b) {
  struct mprof_account *a = w->account;
  const struct mprof_bucket *stack =
      w->stack_of != NULL ? w->stack_of(b->block) : NULL;
  struct mprof_pc_slot *slot =
      stack != NULL
          ? mprof_pc_table_get(&a->touched_by_stack, (mprof_pc)(uintptr_t)stack)
          : NULL;
  if (slot == NULL)
    return;
  if (slot->value == 0) {
    if (!mprof_process_grow((void **)&a->touched, &a->touched_bytes,
                            a->touched_len * sizeof(a->touched[0]),
                            sizeof(a->touched[0])))
      return;
    a->touched[a->touched_len++] = (struct mprof_touched){.stack = stack};
    slot->value = a->touched_len;
  }
  struct mprof_touched *t = &a->touched[slot->value - 1];
  t->bytes += b->limit - b->block;
  t->resident += mprof_process_pages(w->process, b->block, b->limit).rss;
}

uint64_t mprof_account_touched(const struct mprof_account *a,
                               const struct mprof_bucket *stack,
                               uint64_t bytes) {
  const uint64_t i =
      mprof_pc_table_value(&a->touched_by_stack, (mprof_pc)(uintptr_t)stack);
  const struct mprof_touched *t = i > 0 ? &a->touched[i - 1] : NULL;
  return t && t->bytes > 0 ? mprof_mul_div(bytes, t->resident, t->bytes, 0)
                           : bytes;
}

// Adds the claims of malloc's heaps. *g stays until the rows are made.
static void claim_heaps(struct work *w, struct mprof_glibc *g) {
  w->error =
      mprof_glibc_find(g, w->process, w->splits_free ? &w->holes.cached : NULL);
  for (size_t i = 0; i < g->large_len; i++)
    add_touched(w, &g->large[i]);
  for (size_t i = 0; i < g->blocks_len; i++)
    add_touched(w, &g->blocks[i]);
  for (size_t i = 0; i < g->heaps_len; i++) {
    const struct mprof_glibc_heap *h = &g->heaps[i];
    char name[32];
    struct mprof_text t = MPROF_TEXT(name);
    mprof_text_str(&t, h->arena == 0 ? "main arena" : "arena ");
    if (h->arena != 0)
      mprof_text_dec(&t, h->arena);
    struct claim *c =
        claim(w, h->start, h->limit, MPROF_MEMORY_USED, keep_name(w, name));
    if (c)
      c->heap = h;
    w->account->heaps_unwalked += !h->is_walked;
    w->account->free_bytes += h->resident[MPROF_HEAP_LISTED];
    w->account->free_pages += h->free_pages;
    for (int k = 0; h->is_walked && k < MPROF_HEAP_SORTS; k++)
      w->account->releasable += h->resident[k];
    if (h->is_walked)
      w->account->releasable -= mprof_glibc_kept(h);
    if (w->splits_free)
      mprof_glibc_add_holes(h, &w->holes);
  }
  const uint32_t large =
      g->blocks_len > 0 ? keep_name(w, "large blocks") : NO_DETAIL;
  for (size_t i = 0; i < g->blocks_len; i++)
    claim(w, g->blocks[i].start, g->blocks[i].limit, MPROF_MEMORY_USED, large);
}

// --- modules ---

// The program or a library: consecutive mappings of one file.
struct module {
  uint64_t inode;
  uintptr_t start, limit; // limit: end of its variables
  uint32_t name;
  bool is_elf;
};

// Reads where the module ends that is mapped from address `start` on. Its last
// variables have no place in the file, and so lie in a mapping without a file.
static void read_module(struct work *w, struct module *o) {
  ElfW(Ehdr) head;
  ElfW(Phdr) segments[32];
  o->is_elf = mprof_process_copy(w->process, &head, o->start, sizeof(head)) &&
              memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
  if (!o->is_elf || head.e_phentsize != sizeof(segments[0]) ||
      head.e_phnum == 0 ||
      head.e_phnum > sizeof(segments) / sizeof(segments[0]) ||
      !mprof_process_copy(w->process, segments, o->start + head.e_phoff,
                          head.e_phnum * sizeof(segments[0])))
    return;
  uintptr_t first = UINTPTR_MAX, last = 0;
  for (size_t i = 0; i < head.e_phnum; i++)
    if (segments[i].p_type == PT_LOAD) {
      const uintptr_t at = segments[i].p_vaddr, end = at + segments[i].p_memsz;
      first = at < first ? at & -(uintptr_t)MPROF_PAGE : first;
      last = end > last ? end : last;
    }
  if (first < last)
    o->limit =
        o->start + (last - first + MPROF_PAGE - 1) / MPROF_PAGE * MPROF_PAGE;
}

// Makes *o the module of m, if m belongs to another one.
static void enter_module(struct work *w, struct module *o,
                         const struct mprof_mapped *m) {
  if (m->inode == o->inode && m->start < o->limit)
    return;
  *o = (struct module){m->inode, m->start, m->limit, base_name(w, m), false};
  if (m->offset == 0 && m->is_readable)
    read_module(w, o);
  else
    o->is_elf = m->is_executable;
}

// --- whole mappings ---

static bool is_of_mprof(const char *name) {
  return strncmp(name, "libmprof_", 9) == 0;
}

static bool begins(const char *s, const char *prefix) {
  return strncmp(s, prefix, strlen(prefix)) == 0;
}

static bool is_shared_memory(const struct mprof_mapped *m, const char *name) {
  return m->is_shared &&
         (begins(name, "/dev/shm/") || begins(name, "/dev/zero") ||
          begins(name, "/memfd:") || begins(name, "/SYSV") ||
          begins(name, "[anon_shmem:"));
}

// Returns the part of a mapping that has a file or a name of the kernel.
static struct claim part_of(struct work *w, struct module *o,
                            const struct mprof_mapped *m) {
  const char *name = mprof_process_name(w->process, m);
  struct claim c = {.part = MPROF_MEMORY_FILES, .detail = m->name};
  if (strcmp(name, "[stack]") == 0) {
    c.part = MPROF_MEMORY_STACKS;
    c.detail = keep_name(w, "main thread");
  } else if (is_shared_memory(m, name)) {
    c.part = MPROF_MEMORY_SHARED;
  } else if (*name != '/' || begins(name, "/dev/")) {
    c.part = MPROF_MEMORY_DEVICES;
  } else {
    enter_module(w, o, m);
    if (o->is_elf) {
      c.part = is_of_mprof(w->process->names + o->name) ? MPROF_MEMORY_MPROF
               : m->is_writable                         ? MPROF_MEMORY_DATA
                                                        : MPROF_MEMORY_CODE;
      c.detail = o->name;
    }
  }
  return c;
}

// --- segments of a mapping without a file ---

static void add_segment(struct work *w, const struct claim *of, uintptr_t start,
                        uintptr_t limit) {
  struct segment *s =
      start < limit ? append(w, &w->segments, sizeof(*s)) : NULL;
  if (!s)
    return;
  *s = (struct segment){*of, {0}};
  s->of.start = start;
  s->of.limit = limit;
}

// Returns whether another allocator has mapped the range. Its memory is split
// by what it says itself.
static bool is_of_other(const struct work *w,
                        const struct mprof_mapped_range *r) {
  const struct mprof_mapped *m =
      w->other == NO_DETAIL ? NULL : mprof_process_at(w->process, r->caller);
  return m && mprof_other_malloc_is(w->process->names + base_name(w, m));
}

// Adds the segments of a range that nothing but a stack may claim.
static void add_mapped(struct work *w, const struct claim *rest,
                       uintptr_t start, uintptr_t limit) {
  for (; w->ranges < w->ranges_end && w->ranges->start < limit; w->ranges++) {
    const struct mprof_mapped_range *r = w->ranges;
    struct claim c = {
        .part = MPROF_MEMORY_MAPPED, .detail = NO_DETAIL, .stack = r->stack};
    if (r->limit <= start || is_of_other(w, r))
      continue;
    if (r->start > start) {
      add_segment(w, rest, start, r->start);
      start = r->start;
    }
    if (r->limit > limit) { // the range has more behind a claim
      add_segment(w, &c, start, limit);
      return;
    }
    add_segment(w, &c, start, r->limit);
    start = r->limit;
  }
  add_segment(w, rest, start, limit);
}

static void cut(struct work *w, const struct mprof_mapped *m,
                const struct claim *rest) {
  const struct claim *c = w->claims.v;
  uintptr_t at = m->start;
  w->segments.len = 0;
  while (w->next_claim < w->claims.len && c[w->next_claim].limit <= at)
    w->next_claim++;
  for (size_t i = w->next_claim; i < w->claims.len && c[i].start < m->limit;
       i++) {
    const uintptr_t start = c[i].start > at ? c[i].start : at,
                    limit = c[i].limit < m->limit ? c[i].limit : m->limit;
    if (limit <= at)
      continue;
    add_mapped(w, rest, at, start);
    add_segment(w, &c[i], start, limit);
    at = limit;
  }
  add_mapped(w, rest, at, m->limit);
}

// Gives a segment its share of the bytes of its mapping.
static struct mprof_usage share(const struct mprof_usage *whole,
                                const struct mprof_usage *segment,
                                const struct mprof_usage *sum) {
  struct mprof_usage u = mprof_usage_part(whole, segment->rss, sum->rss);
  u.mapped = segment->mapped;
  u.swap = mprof_usage_part(whole, segment->swap, sum->swap).swap;
  return u;
}

static const enum mprof_memory_part part_of_sort[] = {
    [MPROF_HEAP_USED] = MPROF_MEMORY_USED,
    [MPROF_HEAP_LISTED] = MPROF_MEMORY_LISTED,
    [MPROF_HEAP_CACHED] = MPROF_MEMORY_CACHED,
    [MPROF_HEAP_TOP] = MPROF_MEMORY_TOP,
    [MPROF_HEAP_OWN] = MPROF_MEMORY_OWN,
};

// --- free memory that blocks keep ---

static void add_listed(struct work *w, const struct claim *of,
                       const struct mprof_usage *u) {
  struct segment *s = append(w, &w->listed, sizeof(*s));
  if (s)
    *s = (struct segment){*of, *u};
}

// Divides the free memory of all arenas: adds the rows of the stacks that keep
// it, and rows of the arenas for the rest. If the estimates add up to more than
// there is, they are made smaller by one factor.
static void add_keepers(struct work *w) {
  const struct segment *v = w->listed.v;
  const struct mprof_holes *h = &w->holes;
  struct mprof_usage all = {0}, left;
  uint64_t estimated = 0;
  for (size_t i = 0; i < w->listed.len; i++)
    mprof_usage_add(&all, &v[i].usage);
  for (size_t i = 0; i < h->len; i++)
    estimated += h->keepers[i].kept >> MPROF_KEEPER_SHIFT;
  const struct mprof_usage sum = {.rss = estimated > all.rss ? estimated
                                                             : all.rss};
  left = all;
  for (size_t i = 0; i < h->len; i++) {
    const struct mprof_keeper *k = &h->keepers[i];
    const struct mprof_usage part = {.rss = k->kept >> MPROF_KEEPER_SHIFT},
                             u = share(&all, &part, &sum);
    const struct claim of = {
        .part = MPROF_MEMORY_LISTED, .detail = NO_DETAIL, .stack = k->stack};
    struct mprof_account_row *r = u.rss > 0 ? add_row(w, &of, &u) : NULL;
    if (r == NULL)
      continue;
    r->used_beside =
        mprof_mul_div(k->used >> MPROF_KEEPER_SHIFT, all.rss, sum.rss, 0);
    mprof_usage_subtract(&left, &u);
  }
  for (size_t i = 0; i < w->listed.len; i++) {
    const struct mprof_usage u =
        i + 1 < w->listed.len ? share(&left, &v[i].usage, &all) : left;
    add_row(w, &v[i].of, &u);
    mprof_usage_subtract(&left, &u);
    mprof_usage_subtract(&all, &v[i].usage);
  }
}

// Adds the rows of a segment. A heap has several.
static void add_rows(struct work *w, const struct segment *s) {
  const struct mprof_glibc_heap *h = s->of.heap;
  struct mprof_usage left = s->usage, sum = {0};
  struct claim c = s->of;
  for (int i = 0; h && i < MPROF_HEAP_SORTS; i++)
    sum.rss += h->resident[i];
  for (int i = MPROF_HEAP_SORTS - 1; h && i > MPROF_HEAP_USED; i--) {
    const struct mprof_usage part = {.rss = h->resident[i]};
    const struct mprof_usage u = share(&s->usage, &part, &sum);
    c.part = part_of_sort[i];
    mprof_usage_subtract(&left, &u);
    if (u.rss > 0 && i == MPROF_HEAP_LISTED && w->splits_free)
      add_listed(w, &c, &u);
    else if (u.rss > 0)
      add_row(w, &c, &u);
  }
  c.part = s->of.part;
  if (c.part == MPROF_MEMORY_UNSPLIT)
    mprof_usage_add(&w->others, &left);
  else
    add_row(w, &c, &left);
}

// Removes from the runtime's segments what the account itself has touched since
// smaps was read. sum: of all segments.
static void remove_new_pages(struct segment *v, size_t n,
                             struct mprof_usage *sum,
                             const struct mprof_usage *whole) {
  for (size_t i = 0; i < n && sum->rss > whole->rss; i++)
    if (v[i].of.part == MPROF_MEMORY_MPROF) {
      const uint64_t excess = sum->rss - whole->rss;
      const struct mprof_usage new = {
          .rss = excess < v[i].usage.rss ? excess : v[i].usage.rss};
      mprof_usage_subtract(&v[i].usage, &new);
      mprof_usage_subtract(sum, &new);
    }
}

// The kernel does not count a page that was only read, and that is the page of
// zeros, as resident. Counts the pages instead that only this mapping has, if
// there are such pages of zeros among the pages of the segments.
static void remove_zero_pages(struct segment *v, size_t n,
                              struct mprof_usage *sum,
                              const struct mprof_usage *whole) {
  if (sum->rss <= whole->rss || sum->private_dirty == 0 ||
      sum->private_dirty > whole->rss)
    return;
  sum->rss = sum->private_dirty;
  for (size_t i = 0; i < n; i++)
    v[i].usage.rss = v[i].usage.private_dirty;
}

// Divides the bytes of m among its segments. Rounding gives the last one less
// or more.
static void add_segments(struct work *w, const struct mprof_mapped *m) {
  struct segment *v = w->segments.v;
  const size_t n = w->segments.len;
  struct mprof_usage sum = {0}, left = m->usage;
  if (n > 1 && m->usage.rss + m->usage.swap > 0)
    for (size_t i = 0; i < n; i++) {
      v[i].usage =
          mprof_process_pages(w->process, v[i].of.start, v[i].of.limit);
      mprof_usage_add(&sum, &v[i].usage);
    }
  remove_new_pages(v, n, &sum, &m->usage);
  remove_zero_pages(v, n, &sum, &m->usage);
  for (size_t i = 0; i < n; i++) {
    v[i].usage.mapped = v[i].of.limit - v[i].of.start;
    if (i + 1 < n)
      v[i].usage = share(&m->usage, &v[i].usage, &sum);
    else
      v[i].usage = left;
    mprof_usage_subtract(&left, &v[i].usage);
    add_rows(w, &v[i]);
  }
}

// --- another allocator ---

// Looks for an allocator among the modules, and in this process also among the
// program's functions.
static void find_other(struct work *w, const struct mprof_other_malloc *said) {
  const struct mprof_process *p = w->process;
  w->other = NO_DETAIL;
  for (size_t i = 0; i < p->mappings_len; i++) {
    const struct mprof_mapped *m = &p->mappings[i];
    const uint32_t name = m->is_executable ? base_name(w, m) : NO_DETAIL;
    if (name != NO_DETAIL && mprof_other_malloc_is(p->names + name)) {
      w->other = name;
      return;
    }
  }
  if (said->name)
    w->other = keep_name(w, said->name);
}

// Adds the rows of the other allocator. Its free memory is resident. Of the
// blocks in use, pages may never have been touched.
static void add_others(struct work *w, const struct mprof_other_malloc *said) {
  static const enum mprof_heap_sort order[] = {
      MPROF_HEAP_OWN, MPROF_HEAP_CACHED, MPROF_HEAP_LISTED, MPROF_HEAP_USED};
  const struct mprof_usage all = w->others,
                           sum = {.rss = all.rss, .swap = all.swap};
  struct mprof_usage left = all;
  struct claim c = {.part = MPROF_MEMORY_UNSPLIT, .detail = w->other};
  if (all.mapped == 0)
    return;
  for (size_t i = 0; i < sizeof(order) / sizeof(order[0]) && said->name; i++) {
    const uint64_t n = said->bytes[order[i]];
    const struct mprof_usage part = {.rss = n < left.rss ? n : left.rss};
    if (n == MPROF_OTHER_MALLOC_REST) {
      c.part = part_of_sort[order[i]];
      continue;
    }
    const struct mprof_usage u = share(&all, &part, &sum);
    const struct claim of = {.part = part_of_sort[order[i]],
                             .detail = w->other};
    add_row(w, &of, &u);
    if (order[i] == MPROF_HEAP_CACHED || order[i] == MPROF_HEAP_LISTED)
      w->account->releasable += u.rss;
    mprof_usage_subtract(&left, &u);
  }
  add_row(w, &c, &left);
}

// --- all mappings ---

static bool claim_comes_before(const void *a, const void *b) {
  const struct claim *x = a, *y = b;
  return x->start < y->start;
}

// Adds the claims of the modules' variables that have no file.
static void claim_variables(struct work *w) {
  const struct mprof_process *p = w->process;
  struct module o = {0};
  for (size_t i = 0; i < p->mappings_len && w->error == 0; i++) {
    const struct mprof_mapped *m = &p->mappings[i];
    if (m->inode != 0 && *mprof_process_name(p, m) == '/')
      enter_module(w, &o, m);
    else if (is_anonymous(w, m) && o.is_elf && m->start < o.limit)
      claim(w, m->start, m->limit < o.limit ? m->limit : o.limit,
            is_of_mprof(p->names + o.name) ? MPROF_MEMORY_MPROF
                                           : MPROF_MEMORY_DATA,
            o.name);
  }
}

static void add_mappings(struct work *w) {
  const struct mprof_process *p = w->process;
  struct module o = {0};
  for (size_t i = 0; i < p->mappings_len && w->error == 0; i++) {
    const struct mprof_mapped *m = &p->mappings[i];
    mprof_usage_add(&w->account->total, &m->usage);
    if (is_anonymous(w, m)) {
      const char *name = mprof_process_name(p, m);
      struct claim rest = {.part = MPROF_MEMORY_UNKNOWN,
                           .detail = *name ? m->name : NO_DETAIL};
      if (w->other != NO_DETAIL && !begins(name, "[anon:")) {
        rest.part = MPROF_MEMORY_UNSPLIT;
        rest.detail = w->other;
      }
      cut(w, m, &rest);
      add_segments(w, m);
    } else {
      const struct claim c = part_of(w, &o, m);
      add_row(w, &c, &m->usage);
    }
  }
}

int mprof_account_take(struct mprof_account *a, int pid,
                       const struct mprof_mapped_range *ranges, size_t n,
                       mprof_block_stack_fn *stack_of, bool splits_free) {
  struct mprof_glibc glibc = {.ranges = ranges, .ranges_end = ranges + n};
  struct mprof_other_malloc said = {0};
  *a = (struct mprof_account){0};
  struct work w = {.account = a,
                   .process = &a->process,
                   .ranges = ranges,
                   .ranges_end = ranges + n,
                   .stack_of = stack_of,
                   .splits_free = splits_free,
                   .holes = {.process = &a->process, .stack_of = stack_of},
                   .error = mprof_process_open(&a->process, pid)};
  if (w.error == 0 && pid == 0) {
    said = mprof_other_malloc_said();
    claim_own(&w);
  }
  if (w.error == 0) {
    find_other(&w, &said);
    claim_variables(&w);
    claim_stacks(&w);
    claim_heaps(&w, &glibc);
  }
  if (w.error == 0)
    w.error = sort_array(w.claims.v, w.claims.len, sizeof(struct claim),
                         claim_comes_before);
  if (w.error == 0)
    add_mappings(&w);
  if (w.error == 0)
    add_others(&w, &said);
  if (w.error == 0)
    add_keepers(&w);
  if (w.error == 0)
    w.error = merge_rows(a);
  mprof_process_end_reading(&a->process);
  mprof_glibc_free(&glibc);
  free_list(&w.claims);
  free_list(&w.segments);
  free_list(&w.listed);
  mprof_holes_free(&w.holes);
  return w.error;
}

void mprof_account_free(struct mprof_account *a) {
  if (a->rows_bytes > 0)
    mprof_os_unmap(a->rows, a->rows_bytes);
  if (a->touched_bytes > 0)
    mprof_os_unmap(a->touched, a->touched_bytes);
  mprof_pc_table_free(&a->touched_by_stack);
  mprof_process_close(&a->process);
  *a = (struct mprof_account){0};
}

static void begin_note(struct mprof_text *t) {
  mprof_text_str(t, t->len == 0 ? "note: " : "; ");
}

void mprof_account_put_note(struct mprof_text *t, const char *before,
                            uint64_t bytes, const char *after) {
  if (bytes == 0)
    return;
  begin_note(t);
  mprof_text_str(t, before);
  mprof_text_size(t, bytes, true);
  mprof_text_str(t, after);
}

void mprof_account_put_notes(struct mprof_text *t,
                             const struct mprof_account *a) {
  if (a->free_bytes > a->total.rss / 10) {
    begin_note(t);
    mprof_text_str(t, "malloc_trim(0) would give back ");
    mprof_text_size(t, a->free_pages, true);
    mprof_text_str(t, ", the whole pages of the free memory between blocks");
  }
  mprof_account_put_note(
      t, "", a->process.lazy_free,
      " of the resident memory were given back (MADV_FREE), and the kernel "
      "takes them when it needs memory");
  mprof_account_put_note(
      t, "", a->process.hugetlb,
      " of hugetlbfs are used beside, which the kernel does not count as "
      "resident");
  if (a->heaps_unwalked == 0)
    return;
  begin_note(t);
  mprof_text_grouped(t, a->heaps_unwalked);
  mprof_text_str(
      t, a->heaps_unwalked == 1
             ? " heap of malloc could not be read, so that its free memory "
               "counts as in use"
             : " heaps of malloc could not be read, so that their free memory "
               "counts as in use");
}
