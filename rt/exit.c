// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When profiles are written: at the end of the process, and when the program
// asks.

#include "flags.h"
#include "init.h"
#include "mprof/mprof.h"
#include "threads.h"
#include "writer.h"

#include <errno.h>
#include <string.h>

struct mprof_lock mprof_writer_lock = MPROF_LOCK_INIT(MPROF_RANK_WRITE);

enum { LINE_SIZE = 2 * MPROF_PATH_MAX + 512 };

// One end of the process. Too large for a stack.
struct last_words {
  struct mprof_mem_snapshot snapshot;
  struct mprof_stacks stacks;
  char base[MPROF_PATH_MAX]; // log_path expanded
  char path[MPROF_PATH_MAX];
  struct mprof_text line;
  size_t files; // named in line
  char line_buf[LINE_SIZE];
};

// --- the line ---

static void say_error(const char *path, int error) {
  char text[MPROF_PATH_MAX + 128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "cannot write ");
  mprof_text_str(&t, path);
  mprof_text_str(&t, ": ");
  mprof_text_errno(&t, error);
  if (error == ENOENT)
    mprof_text_str(&t, " (is its directory missing?)");
  mprof_message_always(text);
}

// "(1,234 samples, 56 stacks)", or why there are none.
static void put_counts(struct last_words *w) {
  const char *why = mprof_stacks_why_none(&w->stacks, w->snapshot.rate);
  mprof_text_str(&w->line, " (");
  mprof_text_grouped(&w->line, w->stacks.samples);
  mprof_text_str(&w->line, w->stacks.samples == 1 ? " sample" : " samples");
  if (why != NULL) {
    mprof_text_str(&w->line, ": ");
    mprof_text_str(&w->line, why);
  } else {
    mprof_text_str(&w->line, ", ");
    mprof_text_grouped(&w->line, w->stacks.len);
    mprof_text_str(&w->line, w->stacks.len == 1 ? " stack" : " stacks");
  }
  mprof_text_str(&w->line, ")");
}

// Losses, by what they are called among the options and in the files.
static void put_losses(struct last_words *w) {
  bool has_any = false;
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    mprof_text_str(&w->line, has_any ? ", " : "; incomplete: ");
    has_any = true;
    mprof_text_str(&w->line, mprof_stat_infos[i].name);
    mprof_text_str(&w->line, " ");
    mprof_text_grouped(&w->line, n);
  }
}

static void note_file(struct last_words *w, int error) {
  if (error != 0) {
    say_error(w->path, error);
    return;
  }
  mprof_text_str(&w->line, w->files++ == 0 ? "wrote " : " and ");
  mprof_text_str(&w->line, w->path);
  if (w->files == 1)
    put_counts(w);
}

// --- files ---

static int make_path(struct last_words *w, const char *suffix) {
  struct mprof_text t = MPROF_TEXT(w->path);
  mprof_text_str(&t, w->base);
  mprof_text_str(&t, suffix);
  return t.len + 1 < sizeof(w->path) ? 0 : ENAMETOOLONG;
}

static void write_profile(struct last_words *w) {
  bool is_text = mprof_flags.debug == 1;
  int error = make_path(w, is_text ? ".heap.txt" : ".heap.pb.gz");
  if (error == 0)
    error = is_text ? mprof_write_heap_text(&w->snapshot, w->path)
                    : mprof_write_heap_pprof(&w->snapshot, w->path, false);
  note_file(w, error);
}

static void write_report(struct last_words *w) {
  int error = make_path(w, ".txt");
  if (error == 0)
    error = mprof_write_report(&w->snapshot, w->path);
  note_file(w, error);
}

// log_path=stderr: people look at the terminal, so no file is left either.
static void write_to_stderr(struct last_words *w) {
  if (!mprof_flags.report) {
    mprof_message_always("wrote nothing: log_path=stderr and report=0");
    return;
  }
  int error = mprof_write_report(&w->snapshot, NULL);
  if (error != 0)
    say_error("the report to stderr", error);
}

static void write_files(struct last_words *w) {
  int error = mprof_path_expand(w->base, sizeof(w->base), mprof_flags.log_path);
  if (error != 0) {
    say_error(mprof_flags.log_path, error);
    return;
  }
  // Both name the same addresses: ask once.
  bool has_names = mprof_flags.symbolize && w->snapshot.len > 0 &&
                   mprof_symbolize_begin(true) == 0;
  if (mprof_flags.profile)
    write_profile(w);
  if (mprof_flags.report)
    write_report(w);
  if (has_names)
    mprof_symbolize_end();
  if (w->files == 0) // the reasons were said
    return;
  put_losses(w);
  mprof_message_always(w->line_buf);
}

static void say_nothing_written(const char *why, int error) {
  char text[128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "wrote nothing: ");
  mprof_text_str(&t, why);
  mprof_text_errno(&t, error);
  mprof_message_always(text);
}

// Without it no address means anything. Asked here, so that the error is not
// taken for one of the file to be written.
static int check_maps(void) {
  struct mprof_maps maps;
  int error = mprof_maps_read(&maps);
  mprof_maps_free(&maps);
  return error;
}

static void write_last_words(struct last_words *w) {
  w->line = (struct mprof_text)MPROF_TEXT(w->line_buf);
  int error = mprof_mem_snapshot_take(&w->snapshot, !mprof_flags.strict_cycles);
  if (error == 0)
    error = mprof_stacks_group(&w->stacks, &w->snapshot);
  int maps_error = check_maps();
  if (error != 0)
    say_nothing_written("", error);
  else if (maps_error != 0)
    say_nothing_written("cannot read /proc/self/maps: ", maps_error);
  else if (strcmp(mprof_flags.log_path, "stderr") == 0)
    write_to_stderr(w);
  else
    write_files(w);
  mprof_stacks_free(&w->stacks);
  mprof_mem_snapshot_free(&w->snapshot);
}

void mprof_write_at_exit(void) {
  if (!mprof_flags.profile && !mprof_flags.report) {
    mprof_message_always("wrote nothing: profile=0 and report=0");
    return;
  }
  if (!mprof_guard_enter()) {
    // A signal handler that interrupted the profiler ends the process; the
    // interrupted code may hold any lock.
    mprof_message_always("wrote nothing: a signal handler ended the process "
                         "inside the profiler");
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  struct last_words *w = mprof_os_map(sizeof(*w));
  if (w == NULL) {
    say_nothing_written("", ENOMEM);
  } else {
    write_last_words(w);
    mprof_os_unmap(w, sizeof(*w));
  }
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
}

// --- on request ---

static int write_now(const char *path, int debug, bool allocs_first) {
  struct mprof_mem_snapshot s;
  int error = mprof_mem_snapshot_take(&s, !mprof_flags.strict_cycles);
  if (error == 0)
    error = debug == 1 ? mprof_write_heap_text(&s, path)
                       : mprof_write_heap_pprof(&s, path, allocs_first);
  mprof_mem_snapshot_free(&s);
  return error;
}

MPROF_PUBLIC int mprof_write_profile(const char *name, const char *path,
                                     int debug) {
  if (name == NULL || path == NULL || (debug != 0 && debug != 1))
    return EINVAL;
  bool is_allocs = strcmp(name, "allocs") == 0;
  if (!is_allocs && strcmp(name, "heap") != 0)
    return EINVAL;
  if (!mprof_init_ready())
    return ENOSYS;
  if (!mprof_guard_enter())
    return EBUSY;
  mprof_lock_acquire(&mprof_writer_lock);
  int error = write_now(path, debug, is_allocs);
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
  return error;
}
