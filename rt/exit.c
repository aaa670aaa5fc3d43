// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the output at the end of the process: a profile of each kind that has
// something to show, the report, and one line on stderr that names the files.

#include "exit.h"

#include "bucket/custom_profile.h"
#include "entry/entry.h"
#include "file/outfile.h"
#include "file/persist.h"
#include "heap/alloc_log.h"
#include "heap/event.h"
#include "heap/observers.h"
#include "memory/owners.h"
#include "options/flags.h"
#include "process/process.h"
#include "symbolize/maps.h"
#include "symbolize/module_unloads.h"
#include "symbolize/symbolize.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/sort.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "trace/trace.h"
#include "trace/trace_out.h"
#include "trace/trace_rows.h"
#include "write/kinds.h"
#include "write/pprof.h"
#include "write/profiles.h"
#include "write/report.h"

#include <errno.h>
#include <string.h>

// State of the output at the end of a process. The struct is too large for a
// stack.
struct last_words {
  struct mprof_summary sum;
  char base[MPROF_PATH_MAX]; // log_path expanded
  size_t base_len;           // length of base without the appended `number`
  unsigned number;           // appended to the name if above 1
  char path[MPROF_PATH_MAX];
  bool is_snapshot; // the process continues after the output
  bool flushes;     // the process is in exit, which flushes stdout at the end
  struct mprof_keep_set written;
  struct mprof_exit_line line;
};

// --- messages ---

// Says what to do if the program, such as a server, has given up the rights of
// the user who started it.
static void advise_new_user(struct mprof_text *t) {
  const long user = mprof_sys_new_user();
  if (user < 0)
    return;
  mprof_text_str(t, " (the program has changed to user ");
  mprof_text_dec(t, (uint64_t)user);
  mprof_text_str(t, "; make the directory writable for this user, or choose "
                    "another one with log_path)");
}

static void say_error(const char *path, int error) {
  char text[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "cannot write ");
  mprof_text_str(&t, path);
  mprof_text_str(&t, ": ");
  mprof_text_errno(&t, error);
  if (error == -ENOENT)
    mprof_text_str(&t, " (the directory is missing and cannot be made)");
  if (error == -EACCES || error == -ENOENT)
    advise_new_user(&t);
  mprof_message_always(text);
}

// Appends the totals of all shown profiles to the line on stderr, except the
// profiles whose kind has sums_up_report == false. Called only if no profile
// file has been written. Otherwise the line already has the totals of each
// written file.
static void put_all(struct last_words *w) {
  struct mprof_text *t = mprof_exit_line_totals(&w->line);
  const char *separator = "";
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    const struct mprof_profile_kind *kind = mprof_profile_rows[i].kind;
    if (!w->sum.is_shown[i] || !kind->sums_up_report)
      continue;
    mprof_text_str(t, separator);
    kind->put_numbers(t, w->sum.copies[i], 0);
    separator = "; ";
  }
}

// Adds the written file w->path to the line on stderr. If error is not 0,
// reports instead that the file could not be written. Returns whether the file
// was written. If so, the caller may then append the file's totals.
static bool note_file(struct last_words *w, int error) {
  if (error != 0)
    say_error(w->path, error);
  else
    mprof_exit_line_add(&w->line, w->path);
  return error == 0;
}

// --- files ---

static int make_path(struct last_words *w, const char *suffix,
                     const char *ending) {
  struct mprof_text t = MPROF_TEXT(w->path);
  mprof_text_str(&t, w->base);
  mprof_text_str(&t, suffix);
  mprof_text_str(&t, ending);
  return t.len + 1 < sizeof(w->path) ? 0 : -ENAMETOOLONG;
}

enum { SUFFIX_SIZE = 32 + MPROF_CUSTOM_NAME };

// Stores in `suffix` the file name suffix for one file of profile i: the suffix
// in the table of profiles, such as ".heap". A profile may have several files,
// one for each part. In this case, appends the name of the part.
static void make_suffix(char suffix[SUFFIX_SIZE], struct last_words *w,
                        size_t i, size_t part) {
  const struct mprof_profile_row *row = &mprof_profile_rows[i];
  struct mprof_text t = {.buf = suffix, .cap = SUFFIX_SIZE};
  mprof_text_str(&t, row->suffix);
  if (row->kind->part_name == NULL)
    return;
  mprof_text_str(&t, ".");
  mprof_text_str(&t, row->kind->part_name(w->sum.copies[i], part));
}

static size_t count_parts(const struct last_words *w, size_t i) {
  const struct mprof_profile_row *row = &mprof_profile_rows[i];
  if (row->suffix == NULL)
    return 0;
  return row->kind->parts == NULL ? 1 : row->kind->parts(w->sum.copies[i]);
}

// --- unused file names ---
//
// Files of an earlier process must not be replaced. The process id in a file
// name does not make the name unique: exec keeps the id, the kernel reuses the
// id, and each container has its own ids. So a number is added to a name that
// is already used: PATTERN.2.heap.pb.gz.

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

static bool has_file(struct last_words *w, const char *suffix,
                     const char *ending) {
  return make_path(w, suffix, ending) == 0 && mprof_sys_exists(w->path);
}

static bool is_taken(void *arg, unsigned number) {
  struct last_words *w = arg;
  char suffix[SUFFIX_SIZE];
  set_number(w, number);
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    for (size_t part = 0; part < count_parts(w, i); part++) {
      make_suffix(suffix, w, i, part);
      if (has_file(w, suffix, ".pb.gz") || has_file(w, suffix, ".txt"))
        return true;
    }
  return has_file(w, "", ".trace") || has_file(w, "", ".txt");
}

static void choose_number(struct last_words *w, unsigned first) {
  set_number(w, mprof_free_number(first, NUMBERS_MAX, is_taken, w));
}

// Checks the error of writing a file. If another process has created a file of
// this name since the name was chosen, gives w a new name and returns true.
// Returns false if there was another error or no error, or if no name is left.
static bool lost_name(struct last_words *w, int error) {
  if (error != -EEXIST || w->number >= NUMBERS_MAX)
    return false;
  choose_number(w, w->number + 1);
  return true;
}

// --- one file for each profile ---

static void write_part(struct last_words *w, size_t i, size_t number) {
  const bool is_text = mprof_flags.format == 1;
  struct mprof_profile_request r = {.row = &mprof_profile_rows[i],
                                    .form = is_text ? MPROF_FORM_TEXT
                                                    : MPROF_FORM_PPROF,
                                    .number = number,
                                    .copy = w->sum.copies[i],
                                    .copies = w->sum.copies};
  char suffix[SUFFIX_SIZE];
  int error;
  do {
    make_suffix(suffix, w, i, number);
    error = make_path(w, suffix, is_text ? ".txt" : ".pb.gz");
    if (error == 0)
      error = mprof_write_file(w->path, !is_text, mprof_profile_put, &r);
  } while (lost_name(w, error));
  if (!note_file(w, error))
    return;
  mprof_keep_add(&w->written, w->path);
  r.row->kind->put_numbers(mprof_exit_line_totals(&w->line), r.copy, number);
}

// Writes the files of all profiles. With log_path=stderr, the report is written
// to stderr, so a profile that has a section in the report gets no file.
static void write_profiles(struct last_words *w) {
  for (size_t i = 0; i < MPROF_PROFILES; i++) {
    if (!w->sum.is_shown[i] ||
        (mprof_profile_rows[i].section != 0 && mprof_path_is_stderr()))
      continue;
    for (size_t part = 0; part < count_parts(w, i); part++)
      write_part(w, i, part);
  }
}

// Writes the trace. If the program has started the trace, the program has also
// chosen the trace's path.
static void write_trace(struct last_words *w) {
  const char *own_path;
  if (!mprof_trace_is_open(&own_path))
    return;
  // The events go on until now. Without new mappings, the trace would lack a
  // library that was loaded while the profiles were written.
  mprof_unloads_drop();
  mprof_unloads_keep();
  if (own_path == NULL)
    mprof_path_make_directory(w->base);
  int error = make_path(w, "", ".trace");
  if (own_path != NULL) {
    mprof_outfile_keep_others(false);
    strcpy(w->path, own_path);
    error = 0;
  }
  struct mprof_trace_result result = {0};
  if (error == 0)
    error = mprof_trace_finish_session(w->path, &result);
  if (note_file(w, error)) {
    // The option dump_keep must not remove the trace of a snapshot, because no
    // later snapshot contains the same events. So the trace is not added to the
    // set of files that may be removed later.
    if (own_path == NULL && !w->is_snapshot)
      mprof_keep_add(&w->written, w->path);
    struct mprof_text *totals = mprof_exit_line_totals(&w->line);
    mprof_put_things(totals, result.events, "event");
    if (result.cut != 0) {
      mprof_text_str(totals, "; the oldest part of the trace is missing: ");
      mprof_text_errno(totals, result.cut);
    }
  }
  mprof_outfile_keep_others(true);
}

// Appends the path of the allocation log to the line on stderr. The log itself
// was written while the program ran.
static void name_alloc_log(struct last_words *w) {
  uint64_t records;
  const char *path = mprof_alloc_log_path(&records);
  if (path == NULL)
    return;
  strcpy(w->path, path);
  note_file(w, 0);
  mprof_put_things(mprof_exit_line_totals(&w->line), records, "record");
}

static void write_report(struct last_words *w) {
  int error;
  do {
    error = make_path(w, "", ".txt");
    if (error == 0)
      error = mprof_write_file(w->path, false, mprof_write_report, &w->sum);
  } while (lost_name(w, error));
  const bool has_profiles = w->line.files > 0;
  if (!note_file(w, error))
    return;
  mprof_keep_add(&w->written, w->path);
  if (!has_profiles)
    put_all(w);
}

// Writes the report to stderr, for log_path=stderr. The user sees it in the
// terminal, so the report is not written to a file as well.
static void write_report_to_stderr(struct last_words *w) {
  int error = mprof_write_file(NULL, false, mprof_write_report, &w->sum);
  if (error != 0)
    say_error("the report to stderr", error);
}

// Makes the first part of all file names. The name of a snapshot contains the
// time.
static int make_base(struct last_words *w) {
  int error = mprof_path_base(w->base, sizeof(w->base));
  if (error != 0 || !w->is_snapshot)
    return error;
  struct mprof_text t = {
      .buf = w->base, .cap = sizeof(w->base), .len = strlen(w->base)};
  mprof_text_str(&t, ".");
  mprof_text_utc(&t, w->sum.time_ns, true);
  return t.len + 1 < sizeof(w->base) ? 0 : -ENAMETOOLONG;
}

// Removes old files, as the options dump_keep and children_keep ask.
static void remove_old_files(const struct last_words *w) {
  if (w->is_snapshot)
    mprof_keep_newest(MPROF_KEEP_SNAPSHOTS, &w->written);
  else if (mprof_process_epoch() != 0) // a forked child
    mprof_keep_newest(MPROF_KEEP_CHILDREN, &w->written);
}

static void write_files(struct last_words *w) {
  int error = make_base(w);
  if (error != 0) {
    say_error(mprof_flags.log_path, error);
    return;
  }
  // Starts mprof only once for all files.
  bool has_names = mprof_flags.symbolize && mprof_summary_has_stacks(&w->sum) &&
                   mprof_symbolize_begin(true) == 0;
  w->base_len = strlen(w->base);
  if (mprof_flags.profile || mprof_flags.report)
    mprof_path_make_directory(w->base);
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
  remove_old_files(w);
  if (w->line.files == 0 && mprof_path_is_stderr() && !mprof_flags.report)
    mprof_message_always(
        "wrote nothing: with log_path=stderr, only the report "
        "shows the profiles, and report=0 turns the report off");
  // Print no line if no file was written. Errors have already been reported.
  if (w->line.files != 0 && mprof_flags_want_news())
    mprof_exit_line_print(&w->line, w->base,
                          !mprof_coverage_lacks_interceptors(&w->sum),
                          w->flushes);
}

static void say_nothing_written(const char *why, int error) {
  char text[128];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "wrote nothing: ");
  mprof_text_str(&t, why);
  mprof_text_errno(&t, error);
  mprof_message_always(text);
}

static void write_last_words(struct last_words *w) {
  int error = mprof_summary_take(&w->sum);
  // Without the process's memory maps no address can be symbolized. They are
  // read before the files are written, so that an error is not reported as the
  // error of an output file.
  int maps_error = mprof_unloads_keep();
  if (error != 0)
    say_nothing_written("", error);
  else if (maps_error != 0)
    say_nothing_written("cannot read /proc/self/maps: ", maps_error);
  else
    write_files(w);
  mprof_unloads_drop();
  mprof_summary_free(&w->sum);
}

static void write_locked(bool is_snapshot, bool flushes) {
  static const struct mprof_other_malloc nothing;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  struct last_words *w = mprof_os_map(sizeof(*w));
  if (w == NULL) {
    say_nothing_written("", -ENOMEM);
    return;
  }
  w->is_snapshot = is_snapshot;
  w->flushes = flushes;
  mprof_pprof_set_at_exit(flushes);
  if (!is_snapshot && mprof_flags.memory != 0)
    mprof_memory_end();
  // This may be a signal handler that has interrupted the allocator.
  if (!flushes && !mprof_tls.is_own)
    mprof_other_malloc_answer(&nothing);
  write_last_words(w);
  mprof_other_malloc_answer(NULL);
  mprof_pprof_set_at_exit(false);
  mprof_os_unmap(w, sizeof(*w));
}

void mprof_write_last_locked(void) { write_locked(false, false); }

void mprof_write_snapshot_locked(void) { write_locked(true, false); }

bool mprof_has_output(void) {
  if (mprof_path_discards_files())
    return false;
  if (mprof_flags.trace || mprof_trace_is_recorder() ||
      mprof_trace_has_session() || mprof_event_watch.has_log)
    return true;
  return (mprof_flags.profile || mprof_flags.report) &&
         mprof_summary_has_data();
}

bool mprof_must_say_no_output(void) {
  return (mprof_flags.profile || mprof_flags.report) &&
         !mprof_path_discards_files() && mprof_flags_has_environment &&
         !mprof_flags.quiet && mprof_process_epoch() == 0;
}

void mprof_say_no_output(void) {
  const struct mprof_heap_groups none = {0};
  char text[256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(
      &t, "wrote nothing: nothing was recorded; the heap profile is empty: ");
  mprof_text_str(&t, mprof_heap_groups_why_none(&none, mprof_sample_rate()));
  if (mprof_flags.heap && mprof_sample_rate() != 0 &&
      mprof_coverage_is_linked_without())
    mprof_text_str(&t, MPROF_NOT_COUNTED);
  mprof_message_always(text);
}

// Id of the process that has begun to write its output at the end. A forked
// child has another id, so the child still writes its own output.
static atomic_int written_by;

bool mprof_has_written_at_end(void) {
  return atomic_load(&written_by) == mprof_sys_getpid();
}

void mprof_write_at_exit(enum mprof_end end,
                         const struct mprof_caller *caller) {
  // Without the guard, because the program may define dl_iterate_phdr itself.
  if (end == MPROF_END_EXIT)
    mprof_load_count_lost();
  if (!mprof_guard_enter()) {
    // A signal handler that has interrupted the profiler ends the process, or
    // has left the profiler by longjmp. The data that a lock guards, or the
    // file of a trace, may be incomplete if the interrupted code holds this
    // lock or writes this file.
    if (mprof_tls.held != 0 || mprof_trace_is_written_by_self()) {
      mprof_message_always("wrote nothing: a signal handler interrupted the "
                           "profiler while it changed its data, and did not "
                           "return");
      return;
    }
    mprof_guard_abandon();
    mprof_guard_enter();
  }
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_writer_caller = *caller;
  if (end != MPROF_END_EXEC)
    atomic_store(&written_by, mprof_sys_getpid());
  write_locked(false, end == MPROF_END_EXIT);
  mprof_persist_end();
  mprof_lock_release(&mprof_writer_lock);
  mprof_guard_leave();
}
