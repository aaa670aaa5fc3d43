// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The report that people read at exit: totals, the largest stacks with names,
// and what the profile lacks. Its last line is for scripts.

#include "flags.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

enum { COMMAND_SIZE = 4096, PAGE = 4096, NAME_MAX = 160 };

struct writer {
  struct mprof_outfile out;
  struct mprof_stacks stacks;
  const struct mprof_mem_snapshot *snapshot;
  // Of the stack that is being written:
  const struct mprof_bucket *bucket;
  uint32_t index;  // of its return address
  unsigned number; // of the next frame
  unsigned skip;   // frames left to skip
  bool is_main;    // main was met; what called it is no news
  char command[COMMAND_SIZE];
};

// --- numbers ---

static void put(struct writer *w, const char *s) {
  mprof_outfile_text(&w->out, s);
}

static void put_count(struct writer *w, int64_t n, const char *what) {
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_grouped(&t, n < 0 ? 0 : (uint64_t)n);
  put(w, text);
  put(w, what);
}

// "1.50 MiB (1,572,864 bytes)"
static void put_bytes(struct writer *w, int64_t bytes) {
  static const char *const units[] = {" KiB", " MiB", " GiB", " TiB", " PiB"};
  uint64_t n = bytes < 0 ? 0 : (uint64_t)bytes;
  if (n < 1024) {
    put_count(w, bytes, " bytes");
    return;
  }
  int unit = 0;
  for (; unit < 4 && n >= 1024u * 1024; unit++)
    n /= 1024;
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_fixed(&t, (uint64_t)((double)n * 100 / 1024 + 0.5), 2);
  put(w, text);
  put(w, units[unit]);
  put(w, " (");
  put_count(w, bytes, " bytes)");
}

// The bytes of blocks, and how many those are.
static void put_blocks(struct writer *w, int64_t bytes, int64_t blocks) {
  put_bytes(w, bytes);
  put(w, " in ");
  put_count(w, blocks, blocks == 1 ? " block" : " blocks");
}

static void put_percent(struct writer *w, int64_t part, int64_t whole) {
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  double share = whole > 0 && part > 0 ? (double)part / (double)whole : 0;
  mprof_text_fixed(&t, (uint64_t)(share * 1000 + 0.5), 1);
  put(w, text);
  put(w, "%");
}

// --- head ---

static void put_head(struct writer *w) {
  char text[256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "MProf " MPROF_VERSION " heap report\n\nProgram:   ");
  mprof_path_program(&t);
  mprof_text_str(&t, " (pid ");
  mprof_text_dec(&t, (unsigned)mprof_sys_getpid());
  mprof_text_str(&t, ")\nTime:      ");
  mprof_text_utc(&t, w->snapshot->time_ns, false);
  put(w, text);
  mprof_command_line(w->command, sizeof(w->command));
  put(w, "\nCommand:   ");
  put(w, w->command);
  put(w, "\nRate:      ");
  if (w->snapshot->rate == 0) {
    put(w, "0, nothing is sampled\n");
  } else if (w->snapshot->rate == 1) {
    put(w, "1, every block is counted\n");
  } else {
    put(w, "one sample every ");
    put_count(w, (int64_t)w->snapshot->rate,
              " bytes on average; the figures are estimates\n");
  }
}

static void put_totals(struct writer *w) {
  const struct mprof_stacks *g = &w->stacks;
  put(w, "\nIn use:    ");
  put_blocks(w, g->total.inuse_bytes, g->total.inuse_objects);
  put(w, "\nAllocated: ");
  put_blocks(w, g->total.alloc_bytes, g->total.alloc_objects);
  put(w, "\nSamples:   ");
  put_count(w, (int64_t)g->samples, " allocated, ");
  put_count(w, (int64_t)g->sample_frees, " freed, ");
  put_count(w, (int64_t)g->len, " stacks\n");
  const char *why = mprof_stacks_why_none(g, w->snapshot->rate);
  if (why != NULL) {
    put(w, "Nothing was sampled: ");
    put(w, why);
    put(w, "\n");
  }
}

// --- stacks ---

// Frames of libc from which threads start. The names are not reserved, so the
// last three hide only where a thread's root is.
static bool is_start(const struct writer *w, const char *function) {
  if (strncmp(function, "__libc_start_", 13) == 0 ||
      strcmp(function, "_start") == 0)
    return true;
  return w->bucket->stack_len - w->index <= 2 &&
         (strcmp(function, "start_thread") == 0 ||
          strncmp(function, "clone", 5) == 0 ||
          strncmp(function, "__clone", 7) == 0);
}

static void put_frame(const struct mprof_frame *f, void *arg) {
  struct writer *w = arg;
  if (w->skip > 0) {
    w->skip--;
    return;
  }
  if (w->is_main || is_start(w, f->function) ||
      (f->function[0] != '\0' && mprof_is_wrapper(f->function)))
    return;
  put(w, "    #");
  mprof_outfile_dec(&w->out, w->number++);
  put(w, " 0x");
  mprof_outfile_hex(&w->out, w->bucket->stack[w->index] - 1);
  if (f->function[0] != '\0') {
    size_t len = strlen(f->function);
    put(w, " in ");
    // The profile has the whole name; here a template's would fill the screen.
    mprof_outfile_put(&w->out, f->function, len < NAME_MAX ? len : NAME_MAX);
    if (len > NAME_MAX)
      put(w, "...");
  }
  put(w, " ");
  if (f->file[0] != '\0') {
    put(w, f->file);
    put(w, ":");
    mprof_outfile_dec(&w->out, f->line);
  } else {
    put(w, "(");
    put(w, f->module);
    put(w, "+0x");
    mprof_outfile_hex(&w->out, f->offset);
    put(w, ")");
  }
  put(w, "\n");
  w->is_main = strcmp(f->function, "main") == 0;
}

static void put_stack(struct writer *w, const struct mprof_bucket *b) {
  w->bucket = b;
  w->number = 0;
  w->skip = b->skip;
  w->is_main = false;
  for (w->index = 0; w->index < b->stack_len; w->index++)
    if (!mprof_symbolize(b->stack[w->index], put_frame, w)) {
      put(w, "    [truncated] at code that is no longer mapped: 0x");
      mprof_outfile_hex(&w->out, b->stack[w->index]);
      put(w, "\n");
      return;
    }
  if (w->is_main)
    return;
  if (b->end == MPROF_STACK_CUT_CHAIN)
    put(w, "    [truncated] at code without frame pointers\n");
  else if (b->end == MPROF_STACK_CUT_DEPTH)
    put(w, "    [truncated] at stack_depth frames\n");
}

static bool has_more_in_use(const void *a, const void *b) {
  const struct mprof_stack_sum *x = a, *y = b;
  return x->sum.inuse_bytes > y->sum.inuse_bytes;
}

static bool has_more_allocated(const void *a, const void *b) {
  const struct mprof_stack_sum *x = a, *y = b;
  return x->sum.alloc_bytes > y->sum.alloc_bytes;
}

static void put_top(struct writer *w, bool in_use) {
  struct mprof_stacks *g = &w->stacks;
  mprof_sort((void **)g->sorted, g->len,
             in_use ? has_more_in_use : has_more_allocated);
  size_t top = mprof_flags.top < g->len ? mprof_flags.top : g->len;
  if (top == 0)
    return;
  if ((in_use ? g->sorted[0]->sum.inuse_bytes
              : g->sorted[0]->sum.alloc_bytes) <= 0)
    return;
  put(w, in_use ? "\nStacks with the most bytes in use\n"
                : "\nStacks with the most bytes allocated\n");
  for (size_t i = 0; i < top; i++) {
    const struct mprof_mem_estimate *e = &g->sorted[i]->sum;
    int64_t bytes = in_use ? e->inuse_bytes : e->alloc_bytes;
    if (bytes <= 0)
      break;
    put(w, "\n");
    put_count(w, (int64_t)i + 1, ". ");
    put_blocks(w, bytes, in_use ? e->inuse_objects : e->alloc_objects);
    put(w, ", ");
    put_percent(w, bytes, in_use ? g->total.inuse_bytes : g->total.alloc_bytes);
    if (w->snapshot->rate > 1) { // how far to trust an estimate
      uint64_t n =
          in_use ? g->sorted[i]->inuse_samples : g->sorted[i]->alloc_samples;
      put(w, ", ");
      put_count(w, (int64_t)n, n == 1 ? " sample" : " samples");
    }
    put(w, "\n");
    put_stack(w, g->sorted[i]->bucket);
  }
}

// --- foot ---

static void put_losses(struct writer *w) {
  bool has_any = false;
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    if (!has_any)
      put(w, "\nWhat the profile lacks\n");
    has_any = true;
    put(w, "  ");
    put_count(w, (int64_t)n, " ");
    put(w, mprof_stat_infos[i].text);
    put(w, "\n");
  }
}

// The second number of statm, in pages; -1 if unknown.
static int64_t resident_bytes(void) {
  struct mprof_infile f;
  int64_t pages = 0;
  if (mprof_infile_read(&f, "/proc/self/statm") != 0)
    return -1;
  const char *p = strchr(f.data, ' ');
  for (p = p == NULL ? "" : p + 1; *p >= '0' && *p <= '9'; p++)
    pages = pages * 10 + (*p - '0');
  mprof_infile_free(&f);
  return pages * PAGE;
}

static void put_memory(struct writer *w) {
  int64_t resident = resident_bytes();
  put(w, "\nThe profiler's tables, not all of them touched: ");
  put_bytes(w, (int64_t)mprof_arena_used());
  if (resident >= 0) {
    put(w, "\nThe process's resident memory: ");
    put_bytes(w, resident);
  }
  put(w, "\n\n");
}

// Plain numbers, for scripts.
static void put_summary(struct writer *w) {
  const struct mprof_mem_estimate *e = &w->stacks.total;
  const struct {
    int64_t n;
    const char *what;
  } parts[] = {
      {e->inuse_bytes, " bytes in "},
      {e->inuse_objects, " blocks in use, "},
      {e->alloc_bytes, " bytes in "},
      {e->alloc_objects, " blocks allocated, "},
      {(int64_t)w->stacks.len, " stacks, "},
      {(int64_t)w->stacks.samples, " samples at rate "},
      {(int64_t)w->snapshot->rate, "\n"},
  };
  put(w, "SUMMARY: MProf: ");
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    mprof_outfile_dec(&w->out, parts[i].n < 0 ? 0 : (uint64_t)parts[i].n);
    put(w, parts[i].what);
  }
}

static void put_report(struct writer *w) {
  put_head(w);
  put_totals(w);
  put_top(w, true);
  put_top(w, false);
  put_losses(w);
  put_memory(w);
  put_summary(w);
}

static int write_named(struct writer *w, const char *path) {
  bool wants_names =
      mprof_flags.symbolize && mprof_flags.top > 0 && w->stacks.len > 0;
  int error = mprof_symbolize_begin(wants_names);
  if (error != 0)
    return error;
  error = path == NULL ? mprof_outfile_open_stderr(&w->out)
                       : mprof_outfile_open(&w->out, path, false);
  if (error == 0) {
    put_report(w);
    error = mprof_outfile_close(&w->out);
  }
  mprof_symbolize_end();
  return error;
}

int mprof_write_report(const struct mprof_mem_snapshot *s, const char *path) {
  struct writer *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return ENOMEM;
  w->snapshot = s;
  int error = mprof_stacks_group(&w->stacks, s);
  if (error == 0)
    error = write_named(w, path);
  mprof_stacks_free(&w->stacks);
  mprof_os_unmap(w, sizeof(*w));
  return error;
}
