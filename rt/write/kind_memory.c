// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The profile memory: the account of the process's resident memory
// (memory/account.h). The outermost frame of a sample is the part to which the
// bytes belong. The inner frames are what is known of them: the name of a file,
// a thread or an arena, or the stack that has allocated or mapped the memory,
// or whose blocks keep it (memory/owners.h). The values add up to what the
// kernel counts. At exit, the profile shows the exit, or the moment at which
// the resident memory was highest if most of it has gone since.

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "file/outfile.h"
#include "heap/livemap.h"
#include "memory/account.h"
#include "memory/mapped_ranges.h"
#include "options/flags.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "write/kinds.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <string.h>

enum moment { PRESENT, EXIT, HIGHEST };
// By enum moment. As in "at exit".
static const char *const moments[] = {NULL, "exit",
                                      "the highest resident memory"};

struct memory_copy {
  struct mprof_account account;
  enum moment moment;
  // The blocks in use: the copy of the heap profile at exit, or own_heap.
  const struct mprof_mem_snapshot *heap;
  struct mprof_mem_snapshot own_heap;
  // Bytes of all blocks in use: as the heap profile estimates them, and what
  // malloc says.
  uint64_t estimated;
  struct mprof_usage in_use;
  // Memory of an allocator that does not say how much of it is in use, without
  // what in_use has of it.
  struct mprof_usage unsplit;
  // The highest resident memory, if it is clearly higher than that of the
  // account, and whether it is also higher than that of all others.
  uint64_t highest;
  bool was_missed;
  int64_t time_ns;
};

// --- the blocks in use ---
//
// The account tells how many bytes are in use, and the heap profile estimates
// for each stack how many of them it has allocated. Where the estimates add up
// to more than there is, they are made smaller by one factor. Where they add up
// to less, the rest stays a row of its own: size words, rounding, and blocks
// that the heap profile does not count. An allocator that does not tell how
// much of its memory is in use has as much in use as the estimates say.

#define REST "[outside of the heap profile]"

// Returns the resident bytes of the blocks in use that s counts. Of small
// blocks all bytes count as resident.
static uint64_t bytes_of(const struct mprof_account *a,
                         const struct mprof_mem_sample *s) {
  const struct mprof_mem_estimate e = mprof_mem_scale(s);
  return e.inuse_bytes <= 0
             ? 0
             : mprof_account_touched(a, s->bucket, (uint64_t)e.inuse_bytes);
}

static void sum_up_blocks(struct memory_copy *c) {
  for (size_t i = 0; i < c->heap->len; i++)
    c->estimated += bytes_of(&c->account, &c->heap->samples[i]);
  for (size_t i = 0; i < c->account.rows_len; i++)
    if (c->account.rows[i].part == MPROF_MEMORY_USED)
      mprof_usage_add(&c->in_use, &c->account.rows[i].usage);
    else if (c->account.rows[i].part == MPROF_MEMORY_UNSPLIT)
      mprof_usage_add(&c->unsplit, &c->account.rows[i].usage);
  if (c->estimated > c->in_use.rss && c->unsplit.rss > 0) {
    const uint64_t lacking = c->estimated - c->in_use.rss;
    const struct mprof_usage more = mprof_usage_part(
        &c->unsplit, lacking < c->unsplit.rss ? lacking : c->unsplit.rss,
        c->unsplit.rss);
    mprof_usage_add(&c->in_use, &more);
    mprof_usage_subtract(&c->unsplit, &more);
  }
}

// Whether the blocks in use are shown by stack.
static bool has_stacks_of_blocks(const struct memory_copy *c) {
  return c->estimated > 0 && c->in_use.rss > 0;
}

// Returns the part of all blocks in use for which `bytes` estimated bytes
// stand.
static struct mprof_usage part_in_use(const struct memory_copy *c,
                                      uint64_t bytes) {
  const uint64_t all = c->in_use.rss;
  return mprof_usage_part(&c->in_use, bytes,
                          c->estimated > all ? c->estimated : all);
}

// --- pprof ---

// The samples: the rows, the stacks of the blocks, and the rest of the blocks.

// used_beside: see struct mprof_account_row.
static void put(struct mprof_pprof *w, enum mprof_memory_part part,
                const char *detail, const struct mprof_bucket *b,
                const struct mprof_usage *u, uint64_t used_beside) {
  char clean[1024];
  struct mprof_text t = MPROF_TEXT(clean);
  const char *names[2] = {mprof_memory_part_name(part), clean};
  const int64_t values[] = {(int64_t)used_beside, (int64_t)u->private_dirty,
                            (int64_t)u->swap, (int64_t)u->pss, (int64_t)u->rss};
  if (u->rss == 0 && u->swap == 0)
    return;
  if (detail != NULL)
    mprof_text_clean(&t, detail, strlen(detail));
  mprof_pprof_sample_of(w, names, detail != NULL ? 2 : 1, b, values);
}

static void put_rest(struct mprof_pprof *w, const struct memory_copy *c) {
  struct mprof_usage rest = c->in_use;
  for (size_t i = 0; i < c->heap->len; i++) {
    const struct mprof_usage u =
        part_in_use(c, bytes_of(&c->account, &c->heap->samples[i]));
    mprof_usage_subtract(&rest, &u);
  }
  put(w, MPROF_MEMORY_USED, REST, NULL, &rest, 0);
}

static void put_sample(struct mprof_pprof *w, const void *copy, size_t i,
                       const uint64_t *keys) {
  const struct memory_copy *c = copy;
  const struct mprof_account *a = &c->account;
  (void)keys;
  if (i < a->rows_len) {
    const struct mprof_account_row *r = &a->rows[i];
    if (r->part == MPROF_MEMORY_UNSPLIT)
      put(w, r->part, r->detail, NULL, &c->unsplit, 0);
    else if (r->part != MPROF_MEMORY_USED || !has_stacks_of_blocks(c))
      put(w, r->part, r->detail, r->stack, &r->usage, r->used_beside);
  } else if (i - a->rows_len < c->heap->len) {
    const struct mprof_mem_sample *s = &c->heap->samples[i - a->rows_len];
    const struct mprof_usage u = part_in_use(c, bytes_of(&c->account, s));
    put(w, MPROF_MEMORY_USED, NULL, s->bucket, &u, 0);
  } else {
    put_rest(w, c);
  }
}

static void put_notes(struct mprof_text *t, const struct memory_copy *c) {
  struct mprof_mem_variance v = {0};
  mprof_account_put_notes(t, &c->account);
  for (size_t i = 0; i < c->heap->len; i++)
    mprof_mem_add_variance(&v, &c->heap->samples[i]);
  mprof_account_put_note(
      t, "the resident memory was ", c->highest,
      c->was_missed ? " at its highest, for a time too short to be seen"
                    : " at its highest");
  if (has_stacks_of_blocks(c))
    mprof_account_put_note(t,
                           "the bytes of blocks in use by stack are estimates, "
                           "whose sum has a standard error of ",
                           mprof_square_root(v.inuse_bytes), "");
}

static int write_pprof(struct mprof_outfile *f, const struct memory_copy *c) {
  const bool has_blocks = has_stacks_of_blocks(c);
  char note[1024];
  struct mprof_text t = MPROF_TEXT(note);
  put_notes(&t, c);
  const struct mprof_pprof_head head = {.types = {{"used_beside", "bytes"},
                                                  {"private_dirty", "bytes"},
                                                  {"swap", "bytes"},
                                                  {"pss", "bytes"},
                                                  {"rss", "bytes"}},
                                        .types_len = 5,
                                        .period_type = {"rss", "bytes"},
                                        .period = 1,
                                        .time_ns = c->time_ns,
                                        .moment = moments[c->moment],
                                        .note = t.len > 0 ? note : NULL,
                                        .drops_allocators = true};
  return mprof_pprof_write(
      f, &head,
      &(struct mprof_pprof_samples){c,
                                    c->account.rows_len +
                                        (has_blocks ? c->heap->len + 1 : 0),
                                    {NULL},
                                    put_sample});
}

// --- text ---

static void put_cells(struct mprof_outfile *f, const struct mprof_usage *u) {
  const uint64_t cells[] = {u->rss, u->pss, u->private_dirty, u->swap};
  for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
    mprof_outfile_dec(f, cells[i]);
    mprof_outfile_text(f, " ");
  }
}

// Writes a line for each row, and before them their sum.
static int write_text(struct mprof_outfile *f, const struct memory_copy *c) {
  const struct mprof_account *a = &c->account;
  mprof_outfile_text(f, "rss pss private_dirty swap part: detail\n");
  put_cells(f, &a->total);
  mprof_outfile_text(f, "total\n");
  for (size_t i = 0; i < a->rows_len; i++) {
    const struct mprof_account_row *r = &a->rows[i];
    char clean[1024];
    struct mprof_text t = MPROF_TEXT(clean);
    if (r->usage.rss == 0 && r->usage.swap == 0)
      continue;
    put_cells(f, &r->usage);
    mprof_outfile_text(f, mprof_memory_part_name(r->part));
    if (r->detail != NULL) {
      mprof_text_str(&t, ": ");
      mprof_text_clean(&t, r->detail, strlen(r->detail));
      mprof_outfile_text(f, clean);
    }
    mprof_outfile_text(f, "\n");
  }
  return f->error;
}

// --- the report ---

// Writes the parts, largest first. Small ones are left out.
static void put_parts(struct mprof_report *w, const struct mprof_account *a) {
  enum { LEAST = 50 }; // the smallest part shown is 1/LEAST of the total
  uint64_t sums[MPROF_MEMORY_PART_COUNT] = {0};
  for (size_t i = 0; i < a->rows_len; i++)
    sums[a->rows[i].part] += a->rows[i].usage.rss;
  for (;;) {
    int largest = 0;
    for (int i = 1; i < MPROF_MEMORY_PART_COUNT; i++)
      largest = sums[i] > sums[largest] ? i : largest;
    if (sums[largest] <= a->total.rss / LEAST)
      return;
    mprof_report_put(w, "    ");
    mprof_report_percent(w, (int64_t)sums[largest], (int64_t)a->total.rss);
    mprof_report_put(w, " ");
    mprof_report_bytes(w, (int64_t)sums[largest]);
    mprof_report_put(w, " ");
    mprof_report_put(w, mprof_memory_part_text(largest));
    mprof_report_put(w, "\n");
    sums[largest] = 0;
  }
}

static void report(struct mprof_report *w, const void *copy) {
  const struct memory_copy *c = copy;
  mprof_report_put(w, "\nWhere the memory was\n\nResident:  ");
  mprof_report_bytes(w, (int64_t)c->account.total.rss);
  if (c->moment != PRESENT) {
    mprof_report_put(w, ", at ");
    mprof_report_put(w, moments[c->moment]);
  }
  if (c->highest != 0) {
    mprof_report_put(w, ", while the highest, ");
    mprof_report_bytes(w, (int64_t)c->highest);
    mprof_report_put(w, c->was_missed ? ", was missed" : ", was before");
  }
  mprof_report_put(w, "; mprof memory shows more\n\n");
  put_parts(w, &c->account);
}

static void report_line(struct mprof_report *w, const void *copy) {
  const struct memory_copy *c = copy;
  mprof_report_put(w, "SUMMARY: MProf: memory: ");
  mprof_report_plain(w, (int64_t)c->account.total.rss, " bytes resident\n");
}

// --- the kind ---

static int write(struct mprof_outfile *f,
                 const struct mprof_profile_request *r) {
  return r->form == MPROF_FORM_PPROF ? write_pprof(f, r->copy)
                                     : write_text(f, r->copy);
}

static void release(void *copy) {
  struct memory_copy *c = copy;
  mprof_mem_snapshot_free(&c->own_heap);
  mprof_account_free(&c->account);
}

static const struct mprof_bucket *stack_of_block(uintptr_t addr) {
  return mprof_cell_handle_bucket(mprof_live_find(addr));
}

// Takes the account of the present. heap: the blocks in use; NULL: they are
// copied here.
static int take_present(struct memory_copy *c,
                        const struct mprof_mem_snapshot *heap) {
  int error = 0;
  c->heap = heap != NULL ? heap : &c->own_heap;
  if (heap == NULL)
    error =
        mprof_mem_snapshot_take(&c->own_heap, mprof_cycle_dump_ends_it(false));
  if (error != 0)
    return error;
  c->time_ns = mprof_sys_realtime_ns();
  struct mprof_mapped_range *ranges;
  size_t n, mapped_bytes;
  error = mprof_ranges_copy(&ranges, &n, &mapped_bytes);
  if (error != 0)
    return error;
  // A sampled block that was placed on a page boundary has the page for itself,
  // so it does not show what the blocks keep that it represents.
  error = mprof_account_take(&c->account, 0, ranges, n, stack_of_block,
                             __mprof_free_mask == 0);
  mprof_os_unmap(ranges, mapped_bytes);
  return error;
}

// The kept account, guarded by writer_lock.
static struct memory_copy highest;
static atomic_uint highest_of; // epoch of the process that has taken it, plus
                               // 1; 0: none. Changed with writer_lock held
static uint64_t most_resident; // of all accounts; guarded by writer_lock
static atomic_bool is_at_end;  // the process is about to end

// Returns whether this process keeps an account, and not only its parent.
static bool has_highest(void) {
  return atomic_load(&highest_of) == mprof_process_epoch() + 1;
}

// Returns the resident bytes without the free memory of malloc, which keeps
// memory resident that the program has freed since.
static uint64_t in_use(const struct memory_copy *c) {
  uint64_t sum = 0;
  for (size_t i = 0; i < c->account.rows_len; i++) {
    const struct mprof_account_row *r = &c->account.rows[i];
    if (r->part != MPROF_MEMORY_LISTED && r->part != MPROF_MEMORY_CACHED &&
        r->part != MPROF_MEMORY_TOP)
      sum += r->usage.rss;
  }
  return sum;
}

static bool is_clearly_higher(uint64_t a, uint64_t b) { return a > b + b / 20; }

void mprof_memory_keep(void) {
  static struct memory_copy present; // too large for a small stack
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  present = (struct memory_copy){0};
  if (take_present(&present, NULL) != 0 ||
      (has_highest() &&
       is_clearly_higher(most_resident, present.account.total.rss))) {
    release(&present);
    return;
  }
  const uint64_t rss = present.account.total.rss;
  most_resident = has_highest() && most_resident > rss ? most_resident : rss;
  if (atomic_exchange(&highest_of, 0) != 0)
    release(&highest);
  highest = present;
  highest.heap = &highest.own_heap;
  atomic_store(&highest_of, mprof_process_epoch() + 1);
}

void mprof_memory_end(void) { atomic_store(&is_at_end, true); }

// Returns the resident memory of the kept account, or 0.
static uint64_t kept_rss(void) {
  return has_highest() ? highest.account.total.rss : 0;
}

// Returns whether most of the memory that was in use at the highest has gone
// until the exit, of which c is the account. Free memory that blocks in use
// keep has not gone. If c is too small to be written, its memory counts as
// gone.
static bool has_gone(const struct memory_copy *c) {
  const uint64_t rss = c->account.total.rss, free = c->account.releasable;
  return rss < free + in_use(&highest) / 2 || rss < mprof_flags.memory << 20;
}

// Returns the highest resident memory as the kernel counts it, or 0.
static uint64_t highest_resident(void) {
  char text[4096];
  uint64_t kib = 0;
  if (mprof_procfile_begin("/proc/self/status", text, sizeof(text)) <= 0)
    return 0;
  const char *line = strstr(text, "\nVmHWM:");
  for (line = line ? line + 7 : ""; *line == ' ' || *line == '\t'; line++)
    ;
  for (; *line >= '0' && *line <= '9'; line++)
    kib = kib * 10 + (uint64_t)(*line - '0');
  return kib << 10;
}

// Makes *c the kept account.
static void choose_kept(struct memory_copy *c) {
  release(c);
  *c = highest;
  c->heap = &c->own_heap;
  c->moment = HIGHEST;
  atomic_store(&highest_of, 0);
}

static int take(const struct mprof_profile_request *r) {
  struct memory_copy *c = r->copy;
  const struct mprof_heap_copy *at_exit =
      r->copies != NULL ? r->copies[MPROF_PROFILE_heap] : NULL;
  const bool is_last = at_exit != NULL && atomic_load(&is_at_end);
  int error = take_present(c, at_exit != NULL ? &at_exit->snapshot : NULL);
  const uint64_t kept = kept_rss();
  c->moment = is_last ? EXIT : PRESENT;
  if (is_last && has_highest() && (error != 0 || has_gone(c))) {
    choose_kept(c);
    error = 0;
  }
  if (error != 0)
    return error;
  sum_up_blocks(c);
  const uint64_t rss = c->account.total.rss,
                 kernel = is_last ? highest_resident() : 0;
  c->highest = is_clearly_higher(kernel, rss) ? kernel : 0;
  c->was_missed = is_clearly_higher(kernel, kept);
  return 0;
}

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return mprof_flags.memory != 0 &&
         (has_highest() || mprof_sys_resident().all >= mprof_flags.memory
                                                           << 20);
}

static bool is_on(void) { return mprof_flags.memory != 0; }

static bool is_shown(const void *copy, void *const *copies) {
  const struct memory_copy *c = copy;
  (void)copies;
  return c->account.rows_len > 0 && c->account.total.rss >= mprof_flags.memory
                                                                << 20;
}

static bool has_stacks(const void *copy) { return has_stacks_of_blocks(copy); }

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct memory_copy *c = copy;
  (void)part;
  mprof_text_size(t, c->account.total.rss, true);
  mprof_text_str(t, " resident");
}

const struct mprof_profile_kind mprof_kind_memory = {
    .copy_bytes = sizeof(struct memory_copy),
    .last_form = MPROF_FORM_TEXT,
    .take = take,
    .free = release,
    .write = write,
    .has_data = has_data,
    .is_on = is_on,
    .is_shown = is_shown,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .report = report,
    .report_line = report_line,
};
