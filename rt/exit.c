// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output at the end of the process: a profile of each kind that has
// something to show, the report, and one line on stderr that names the files.

#include "exit.h"

#include "file/outfile.h"
#include "file/path.h"
#include "file/writer_lock.h"
#include "heap/alloc_log.h"
#include "heap/event.h"
#include "snapshot/group_by_stack.h"
#include "snapshot/snapshot_custom.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/symbolize.h"
#include "sys/caller.h"
#include "sys/flags.h"
#include "sys/free_number.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "trace/trace.h"
#include "trace/trace_rows.h"
#include "trace/trace_types.h"
#include "write/summary.h"
#include "write/write_custom.h"
#include "write/write_pprof.h"
#include "write/write_report.h"
#include "write/write_text.h"
#include "write/write_text_heapx.h"
#include "write/write_text_wait.h"

#include <errno.h>
#include <string.h>

enum { FILES_MAX = 10 + MPROF_CUSTOM_PROFILES };
enum { LINE_SIZE = (FILES_MAX + 1) * (MPROF_PATH_MAX + 128) };

// State of the output at the end of a process. Too large for a stack.
struct last_words {
  struct mprof_summary sum;
  char base[MPROF_PATH_MAX]; // log_path expanded
  size_t base_len;           // without the number
  unsigned number;           // follows the name if above 1
  char path[MPROF_PATH_MAX];
  struct mprof_text line;
  size_t files;     // files written
  size_t last_file; // offset in line of the last file's path
  char line_buf[LINE_SIZE];
};

// --- the line on stderr ---

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

// Appends "1,234 waits".
static void put_number(struct mprof_text *t, uint64_t n, const char *what) {
  mprof_text_grouped(t, n);
  mprof_text_str(t, " ");
  mprof_text_str(t, what);
  if (n != 1)
    mprof_text_str(t, "s");
}

// Appends "1,234 samples, 56 stacks".
static void put_numbers(struct mprof_text *t, uint64_t n, const char *what,
                        uint64_t stacks) {
  put_number(t, n, what);
  mprof_text_str(t, ", ");
  put_number(t, stacks, "stack");
}

// Appends the numbers of one kind of profile.
typedef void put_fn(struct mprof_text *t, const struct mprof_summary *s);

// Appends the numbers of samples and stacks, or the reason why there are no
// stacks.
static void put_heap(struct mprof_text *t, const struct mprof_summary *s) {
  const char *why = mprof_stacks_why_none(&s->heap_stacks, s->heap.rate);
  if (why == NULL) {
    put_numbers(t, s->heap_stacks.samples, "sample", s->heap_stacks.len);
    return;
  }
  put_number(t, s->heap_stacks.samples, "sample");
  mprof_text_str(t, ": ");
  mprof_text_str(t, why);
}

static void put_heapx(struct mprof_text *t, const struct mprof_summary *s) {
  put_numbers(t, (uint64_t)s->heapx_stacks.total.temporary_objects,
              "temporary block", s->heapx_stacks.len);
}

static void put_block(struct mprof_text *t, const struct mprof_summary *s) {
  put_numbers(t, (uint64_t)s->block_stacks.count, "wait", s->block_stacks.len);
}

static void put_mutex(struct mprof_text *t, const struct mprof_summary *s) {
  put_numbers(t, (uint64_t)s->mutex_stacks.count, "contention",
              s->mutex_stacks.len);
}

static void put_threads(struct mprof_text *t, const struct mprof_summary *s) {
  put_numbers(t, s->threads.threads, "thread", s->thread_stacks);
}

// Appends the numbers of all kinds. Only used for the report, if no profile was
// written that shows them.
static void put_all(struct mprof_text *t, const struct mprof_summary *s) {
  const struct {
    bool is_there;
    put_fn *put;
  } parts[] = {{s->has_heap, put_heap},
               {s->has_heapx, put_heapx},
               {s->has_block, put_block},
               {s->has_mutex, put_mutex},
               {s->has_threads, put_threads}};
  const char *separator = "";
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
    if (!parts[i].is_there)
      continue;
    mprof_text_str(t, separator);
    parts[i].put(t, s);
    separator = "; ";
  }
}

// Appends the losses, by the names that the counters have in stats.def and in
// the files.
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

// Adds a file to the line, or reports its error. numbers may be NULL.
static void note_file(struct last_words *w, int error, put_fn *numbers) {
  static const char and[] = " and ";
  if (error != 0) {
    say_error(w->path, error);
    return;
  }
  // "wrote A", "wrote A and B", "wrote A, B and C"
  if (w->files > 1) {
    char *end = w->line_buf + w->last_file;
    size_t cut = sizeof(and) - 1;
    memmove(end - cut + 2, end, w->line.len - w->last_file + 1);
    end[-(ptrdiff_t)cut] = ',';
    end[1 - (ptrdiff_t)cut] = ' ';
    w->line.len -= cut - 2;
  }
  mprof_text_str(&w->line, w->files++ == 0 ? "wrote " : and);
  w->last_file = w->line.len;
  mprof_text_str(&w->line, w->path);
  if (numbers != NULL) {
    mprof_text_str(&w->line, " (");
    numbers(&w->line, &w->sum);
    mprof_text_str(&w->line, ")");
  }
}

// --- files ---

static int make_path(struct last_words *w, const char *kind,
                     const char *suffix) {
  struct mprof_text t = MPROF_TEXT(w->path);
  mprof_text_str(&t, w->base);
  mprof_text_str(&t, kind);
  mprof_text_str(&t, suffix);
  return t.len + 1 < sizeof(w->path) ? 0 : ENAMETOOLONG;
}

enum { CUSTOM_KIND = MPROF_CUSTOM_NAME + 1 };

static void make_custom_kind(char kind[CUSTOM_KIND],
                             const struct mprof_custom_snapshot *s) {
  struct mprof_text t = {.buf = kind, .cap = CUSTOM_KIND};
  mprof_text_str(&t, ".");
  mprof_text_str(&t, s->name);
}

// --- file names that are not taken ---
//
// A process id is not unique: exec keeps it, the kernel reuses it, and each
// container has its own ids. Files of an earlier process must not be replaced.
// So a number follows a name that is taken: PATTERN.2.heap.pb.gz.

enum { NUMBERS_MAX = 1000000 };

static void set_number(struct last_words *w, unsigned number) {
  struct mprof_text t = {
      .buf = w->base, .cap = sizeof(w->base), .len = w->base_len};
  w->number = number;
  w->base[w->base_len] = '\0';
  if (number > 1) {
    mprof_text_str(&t, ".");
    mprof_text_dec(&t, number);
  }
}

static bool has_file(struct last_words *w, const char *kind,
                     const char *suffix) {
  return make_path(w, kind, suffix) == 0 && mprof_sys_exists(w->path);
}

static bool is_taken(void *arg, unsigned number) {
  struct last_words *w = arg;
  static const char *const kinds[] = {".heap",      ".heapx",        ".block",
                                      ".mutex",     ".threadcreate", ".threads",
                                      ".threadleak"};
  set_number(w, number);
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
    if (has_file(w, kinds[i], ".pb.gz") || has_file(w, kinds[i], ".txt"))
      return true;
  for (size_t i = 0; i < w->sum.custom_len; i++) {
    char kind[CUSTOM_KIND];
    make_custom_kind(kind, &w->sum.custom[i]);
    if (has_file(w, kind, ".pb.gz") || has_file(w, kind, ".txt"))
      return true;
  }
  return has_file(w, "", ".trace") || has_file(w, "", ".txt");
}

static void choose_number(struct last_words *w, unsigned first) {
  set_number(w, mprof_free_number(first, NUMBERS_MAX, is_taken, w));
}

// Returns whether another process took the name meanwhile. Then w has a new
// name.
static bool lost_name(struct last_words *w, int error) {
  if (error != EEXIST || w->number >= NUMBERS_MAX)
    return false;
  choose_number(w, w->number + 1);
  return true;
}

// --- one file for each profile ---

// Writes `of`, which is a part of the summary, to path.
typedef int write_fn(const void *of, const char *path, bool is_text);

static int write_heap(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_heap_text(of, path)
                 : mprof_write_heap_pprof(of, path, false);
}

static int write_heapx(const void *of, const char *path, bool is_text) {
  const struct mprof_summary *s = of;
  return is_text ? mprof_write_heapx_text(&s->heapx_stacks, path)
                 : mprof_write_heapx_pprof(&s->heap, path);
}

static int write_waits(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_wait_text(of, path)
                 : mprof_write_wait_pprof(of, path);
}

static int write_threads(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_thread_text(of, path)
                 : mprof_write_thread_pprof(of, path);
}

static int write_custom(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_custom_text(of, path)
                 : mprof_write_custom_pprof(of, path);
}

static int write_stacks(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_stacks_text(of, "threads", path)
                 : mprof_write_stacks_pprof(of, "threads", path);
}

static int write_stuck(const void *of, const char *path, bool is_text) {
  return is_text ? mprof_write_stacks_text(of, "threadleak", path)
                 : mprof_write_stacks_pprof(of, "threadleak", path);
}

static void put_stacks(struct mprof_text *t, const struct mprof_summary *s) {
  put_numbers(t, s->stacks.threads, "thread", s->stacks.len);
}

static void put_stuck(struct mprof_text *t, const struct mprof_summary *s) {
  put_number(t, s->stuck.stuck, "stuck thread");
  if (s->stuck.stuck == 0)
    return;
  mprof_text_str(t, ": ");
  mprof_text_grouped(t, s->stuck.certain);
  mprof_text_str(t, " certain, ");
  mprof_text_grouped(t, s->stuck.likely);
  mprof_text_str(t, " likely");
}

static int write_profile(struct last_words *w, const char *kind,
                         write_fn *write, const void *of, put_fn *numbers) {
  const bool is_text = mprof_flags.debug == 1;
  int error;
  do {
    error = make_path(w, kind, is_text ? ".txt" : ".pb.gz");
    if (error == 0)
      error = write(of, w->path, is_text);
  } while (lost_name(w, error));
  note_file(w, error, numbers);
  return error;
}

static void write_custom_profile(struct last_words *w,
                                 const struct mprof_custom_snapshot *s) {
  char kind[CUSTOM_KIND];
  make_custom_kind(kind, s);
  if (write_profile(w, kind, write_custom, s, NULL) != 0)
    return;
  mprof_text_str(&w->line, " (");
  put_numbers(&w->line, s->values, "value", s->len);
  mprof_text_str(&w->line, ")");
}

// Writes the profiles that the report has a section for.
static void write_reported(struct last_words *w) {
  const struct mprof_summary *s = &w->sum;
  if (s->has_heap)
    write_profile(w, ".heap", write_heap, &s->heap, put_heap);
  if (s->has_heapx)
    write_profile(w, ".heapx", write_heapx, s, put_heapx);
  if (s->has_block)
    write_profile(w, ".block", write_waits, &s->block, put_block);
  if (s->has_mutex)
    write_profile(w, ".mutex", write_waits, &s->mutex, put_mutex);
  if (s->has_threads)
    write_profile(w, ".threadcreate", write_threads, &s->threads, put_threads);
  for (size_t i = 0; i < s->custom_len; i++)
    write_custom_profile(w, &s->custom[i]);
  if (mprof_flags.threadleak)
    write_profile(w, ".threadleak", write_stuck, &s->stuck.stacks, put_stuck);
}

static void write_profiles(struct last_words *w) {
  if (!mprof_path_is_stderr())
    write_reported(w);
  if (mprof_flags.threads)
    write_profile(w, ".threads", write_stacks, &w->sum.stacks, put_stacks);
}

// Writes the trace. A trace that the program has started has its own path.
static void write_trace(struct last_words *w) {
  const char *own_path;
  if (!mprof_trace_is_open(&own_path))
    return;
  int error = make_path(w, "", ".trace");
  if (own_path != NULL) {
    mprof_outfile_keep_others(false);
    strcpy(w->path, own_path);
    error = 0;
  }
  struct mprof_trace_result result = {0};
  if (error == 0)
    error = mprof_trace_finish_session(w->path, &result);
  note_file(w, error, NULL);
  if (error == 0) {
    mprof_text_str(&w->line, " (");
    put_number(&w->line, result.events, "event");
    if (result.cut != 0) {
      mprof_text_str(&w->line, "; the oldest part is missing: ");
      mprof_text_errno(&w->line, result.cut);
    }
    mprof_text_str(&w->line, ")");
  }
  mprof_outfile_keep_others(true);
}

// Names the allocation log in the line. The log was written during the whole
// run.
static void name_alloc_log(struct last_words *w) {
  uint64_t records;
  const char *path = mprof_alloc_log_path(&records);
  if (path == NULL)
    return;
  strcpy(w->path, path);
  note_file(w, 0, NULL);
  mprof_text_str(&w->line, " (");
  put_number(&w->line, records, "record");
  mprof_text_str(&w->line, ")");
}

static void write_report(struct last_words *w) {
  int error;
  do {
    error = make_path(w, "", ".txt");
    if (error == 0)
      error = mprof_write_report(&w->sum, w->path);
  } while (lost_name(w, error));
  note_file(w, error, w->files == 0 ? put_all : NULL);
}

// With log_path=stderr the user reads the report on the terminal, so no file
// repeats what it shows.
static void write_report_to_stderr(struct last_words *w) {
  int error = mprof_write_report(&w->sum, NULL);
  if (error != 0)
    say_error("the report to stderr", error);
}

static void write_files(struct last_words *w) {
  int error = mprof_path_base(w->base, sizeof(w->base));
  if (error != 0) {
    say_error(mprof_flags.log_path, error);
    return;
  }
  // Symbolizes for all files together, because they name the same addresses.
  bool has_names = mprof_flags.symbolize && mprof_summary_has_stacks(&w->sum) &&
                   mprof_symbolize_begin(true) == 0;
  mprof_message_begin(&w->line);
  w->base_len = strlen(w->base);
  choose_number(w, 1);
  mprof_outfile_keep_others(true);
  if (mprof_flags.profile)
    write_profiles(w);
  write_trace(w);
  name_alloc_log(w);
  if (mprof_flags.report && mprof_path_is_stderr())
    write_report_to_stderr(w);
  else if (mprof_flags.report)
    write_report(w);
  mprof_outfile_keep_others(false);
  if (has_names)
    mprof_symbolize_end();
  if (w->files == 0 && mprof_path_is_stderr() && !mprof_flags.report)
    mprof_message_always("wrote nothing: log_path=stderr and report=0");
  if (w->files == 0) // the errors have been reported
    return;
  put_losses(w);
  mprof_message_end(&w->line);
}

static void say_nothing_written(const char *why, int error) {
  char text[128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "wrote nothing: ");
  mprof_text_str(&t, why);
  mprof_text_errno(&t, error);
  mprof_message_always(text);
}

// Checks that the maps can be read. Without them no address has a meaning.
// Checked here, so that this error is not reported as an error of an output
// file.
static int check_maps(void) {
  struct mprof_maps maps;
  int error = mprof_epochs_read(&maps);
  mprof_maps_free(&maps);
  return error;
}

static void write_last_words(struct last_words *w) {
  w->line = (struct mprof_text)MPROF_TEXT(w->line_buf);
  int error = mprof_summary_take(&w->sum);
  int maps_error = check_maps();
  if (error != 0)
    say_nothing_written("", error);
  else if (maps_error != 0)
    say_nothing_written("cannot read /proc/self/maps: ", maps_error);
  else
    write_files(w);
  mprof_summary_free(&w->sum);
}

void mprof_write_last_locked(void) {
  struct last_words *w = mprof_os_map(sizeof(*w));
  if (w == NULL) {
    say_nothing_written("", ENOMEM);
    return;
  }
  write_last_words(w);
  mprof_os_unmap(w, sizeof(*w));
}

bool mprof_wants_files(void) {
  if (mprof_flags.profile || mprof_flags.report || mprof_flags.trace ||
      mprof_trace_is_recorder() || mprof_trace_has_session() ||
      mprof_events_log())
    return true;
  mprof_message_always("wrote nothing: profile=0 and report=0");
  return false;
}

void mprof_write_at_exit(void) {
  if (!mprof_wants_files())
    return;
  if (!mprof_guard_enter()) {
    // A signal handler that interrupted the profiler ends the process. The
    // interrupted code may hold any lock.
    mprof_message_always("wrote nothing: a signal handler ended the process "
                         "inside the profiler");
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  MPROF_CALLER(&mprof_writer_caller);
  mprof_write_last_locked();
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
}
