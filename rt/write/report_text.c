// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes numbers and stacks to the exit report, in the form that people read;
// see report.h. The files kind_*.c write the sections of the report.

#include "write/report.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "snapshot/snapshot.h"
#include "symbolize/short_name.h"
#include "symbolize/symbolize.h"
#include "symbolize/wrappers.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/scale.h"
#include "thread/labels.h"
#include "unwind/unwind.h"

#include <errno.h>
#include <string.h>

// --- a whole report ---

int mprof_report_write(struct mprof_outfile *f, bool wants_names,
                       void (*collect)(struct mprof_report *w, const void *arg),
                       void (*put)(struct mprof_report *w, const void *arg),
                       const void *arg) {
  struct mprof_report *w = mprof_os_map(sizeof(*w));
  if (w == NULL)
    return mprof_outfile_fail(f, -ENOMEM);
  w->out = f;
  const int error = mprof_symbolize_begin(wants_names);
  if (error == 0) {
    if (mprof_symbolize_collect(f)) {
      collect(w, arg);
      mprof_symbolize_look_up(f);
    }
    put(w, arg);
    mprof_symbolize_end();
  }
  mprof_os_unmap(w, sizeof(*w));
  return mprof_outfile_fail(f, error);
}

// --- numbers ---

void mprof_put_things(struct mprof_text *t, uint64_t n, const char *thing) {
  mprof_text_grouped(t, n);
  mprof_text_str(t, " ");
  mprof_text_str(t, thing);
  if (n != 1)
    mprof_text_str(t, "s");
}

void mprof_put_things_and_stacks(struct mprof_text *t, uint64_t n,
                                 const char *thing, uint64_t stacks) {
  mprof_put_things(t, n, thing);
  mprof_text_str(t, ", ");
  mprof_put_things(t, stacks, "stack");
}

void mprof_report_put(struct mprof_report *w, const char *s) {
  mprof_outfile_text(w->out, s);
}

void mprof_report_head(struct mprof_report *w, const char *title,
                       int64_t time_ns) {
  char text[256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "MProf " MPROF_VERSION " ");
  mprof_text_str(&t, title);
  mprof_text_str(&t, "\n\nProgram:   ");
  mprof_path_program(&t);
  mprof_text_str(&t, " (pid ");
  mprof_text_dec(&t, (unsigned)mprof_sys_getpid());
  mprof_text_str(&t, ")\nTime:      ");
  mprof_text_utc(&t, time_ns, false);
  mprof_text_str(&t, "\n");
  mprof_report_put(w, text);
}

void mprof_report_count(struct mprof_report *w, int64_t n, const char *what) {
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_grouped(&t, n < 0 ? 0 : (uint64_t)n);
  mprof_report_put(w, text);
  mprof_report_put(w, what);
}

void mprof_report_things(struct mprof_report *w, int64_t n, const char *thing) {
  mprof_report_count(w, n, " ");
  mprof_report_put(w, thing);
  if (n != 1)
    mprof_report_put(w, "s");
}

void mprof_report_plain(struct mprof_report *w, int64_t n, const char *what) {
  mprof_outfile_dec(w->out, n < 0 ? 0 : (uint64_t)n);
  mprof_report_put(w, what);
}

// Writes a size with its unit, such as "1.50 MiB" or "700 bytes".
static void put_size(struct mprof_report *w, int64_t bytes) {
  if (bytes < 1024) {
    mprof_report_things(w, bytes, "byte");
    return;
  }
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_size(&t, (uint64_t)bytes, false);
  mprof_report_put(w, text);
}

void mprof_report_bytes(struct mprof_report *w, int64_t bytes) {
  put_size(w, bytes);
  if (bytes < 1024)
    return;
  mprof_report_put(w, " (");
  mprof_report_count(w, bytes, " bytes)");
}

void mprof_report_error(struct mprof_report *w, mprof_u128 variance) {
  if (variance == 0)
    return;
  mprof_report_put(w, ", standard error ");
  put_size(w, mprof_int64(mprof_square_root(variance)));
}

void mprof_report_percent(struct mprof_report *w, int64_t part, int64_t whole) {
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  uint64_t share = 0;
  if (whole > 0 && part > 0)
    share = mprof_mul_div((uint64_t)part, 1000, (uint64_t)whole,
                          (uint64_t)whole / 2);
  mprof_text_fixed(&t, share, 1);
  mprof_report_put(w, text);
  mprof_report_put(w, "%");
}

static uint64_t in_hundredths(int64_t ns, uint64_t unit) {
  return mprof_mul_div((uint64_t)ns, 100, unit, unit / 2);
}

void mprof_report_time(struct mprof_report *w, int64_t ns) {
  static const struct {
    const char *name;
    uint64_t ns;
  } units[] = {{" us", 1000}, {" ms", 1000000}, {" s", 1000000000}};
  if (ns < 1000) {
    mprof_report_count(w, ns, " ns");
    return;
  }
  int unit = 0;
  uint64_t hundredths = in_hundredths(ns, units[0].ns);
  while (hundredths >= 100000 && unit < 2)
    hundredths = in_hundredths(ns, units[++unit].ns);
  char text[32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_fixed(&t, hundredths, 2);
  mprof_report_put(w, text);
  mprof_report_put(w, units[unit].name);
}

// --- stacks ---

static void put_part(void *arg, const char *s, size_t len) {
  mprof_outfile_put(arg, s, len);
}

void mprof_report_labels(struct mprof_report *w,
                         const struct mprof_stack_labels *labels) {
  if (labels->most == 0)
    return;
  mprof_report_put(w, "    labels ");
  mprof_labels_write(labels->most, put_part, w->out);
  mprof_report_put(w, labels->differ ? " and others\n" : "\n");
}

// Returns whether `function` is one of the functions of libc in which threads
// start. The names start_thread and clone are not reserved for libc, so they
// count only in the two outermost frames.
static bool is_start(const struct mprof_report *w, const char *function) {
  if (strncmp(function, "__libc_start_", 13) == 0 ||
      strcmp(function, "_start") == 0)
    return true;
  return w->bucket->stack_len - w->index <= 2 &&
         (strcmp(function, "start_thread") == 0 ||
          strncmp(function, "clone", 5) == 0 ||
          strncmp(function, "__clone", 7) == 0);
}

static void put_library(struct mprof_report *w, const char *file) {
  const char *slash = strrchr(file, '/');
  mprof_report_put(w, " (");
  mprof_report_put(w, slash == NULL ? file : slash + 1);
  mprof_report_put(w, ")");
}

// Returns whether the report never shows this frame.
static bool is_omitted(struct mprof_report *w, const struct mprof_frame *f) {
  if (w->skip > 0) {
    w->skip--;
    return true;
  }
  return w->is_main || is_start(w, f->function) ||
         (f->function[0] != '\0' && mprof_is_wrapper(f->function));
}

// Returns whether the frame is that of a hooked function: the function in which
// a thread waited, or the function by which it released other threads.
static bool is_hooked(const struct mprof_report *w) {
  const int type = w->bucket->type;
  return w->index == 0 &&
         (type == MPROF_BUCKET_BLOCK || type == MPROF_BUCKET_MUTEX ||
          mprof_hooked_name(w->bucket->stack[0]) != NULL);
}

static bool is_hidden(const struct mprof_report *w,
                      const struct mprof_frame *f) {
  return !w->shows_std && !is_hooked(w) && mprof_is_std_frame(f);
}

// Writes how many frames are left out between two other frames.
static void put_hidden(struct mprof_report *w) {
  if (w->hidden > 0 && w->number > 0) {
    mprof_report_put(w, "    ... ");
    mprof_report_things(w, w->hidden, "frame");
    mprof_report_put(w, " of the standard library\n");
  }
  w->hidden = 0;
}

// Stores the name of a function in text, which has room for one character more
// than is shown. The report shortens the name, because the full name of a
// template would fill the screen. The file of the profile has the full name.
static void short_name(char text[MPROF_REPORT_NAME_MAX + 2],
                       const char *function) {
  struct mprof_text t = {.buf = text, .cap = MPROF_REPORT_NAME_MAX + 2};
  mprof_short_name(&t, function, 0);
}

static void put_name(struct mprof_report *w,
                     const char text[MPROF_REPORT_NAME_MAX + 2]) {
  const size_t len = strlen(text);
  mprof_outfile_put(w->out, text,
                    len < MPROF_REPORT_NAME_MAX ? len : MPROF_REPORT_NAME_MAX);
  if (len > MPROF_REPORT_NAME_MAX)
    mprof_report_put(w, "...");
}

// Writes the function of a standard library that the first frame of the report
// called, as mprof top does.
static void put_via(struct mprof_report *w) {
  if (w->number != 1 || w->via[0] == '\0')
    return;
  mprof_report_put(w, "  via ");
  put_name(w, w->via);
}

static void put_frame(const struct mprof_frame *f, void *arg) {
  struct mprof_report *w = arg;
  if (is_omitted(w, f))
    return;
  if (is_hidden(w, f)) {
    w->hidden++;
    if (w->number == 0)
      short_name(w->via, f->function);
    return;
  }
  put_hidden(w);
  mprof_report_put(w, "    #");
  mprof_outfile_dec(w->out, w->number++);
  mprof_report_put(w, " 0x");
  mprof_outfile_hex(w->out, w->bucket->stack[w->index] - 1);
  if (f->function[0] != '\0') {
    char text[MPROF_REPORT_NAME_MAX + 2];
    short_name(text, f->function);
    mprof_report_put(w, " in ");
    put_name(w, text);
  }
  mprof_report_put(w, " ");
  if (f->file[0] != '\0') {
    mprof_report_put(w, f->file);
    mprof_report_put(w, ":");
    mprof_outfile_dec(w->out, f->line);
    if (f->is_library)
      put_library(w, f->module);
  } else {
    mprof_report_put(w, "(");
    mprof_report_put(w, f->module);
    mprof_report_put(w, "+0x");
    mprof_outfile_hex(w->out, f->offset);
    mprof_report_put(w, ")");
  }
  put_via(w);
  mprof_report_put(w, "\n");
  w->is_main = strcmp(f->function, "main") == 0;
}

// Clears shows_std if the frame f belongs to the program and not to a standard
// library. Called for the frames of a stack, so shows_std stays set if all of
// them are frames of standard libraries.
static void look_at_frame(const struct mprof_frame *f, void *arg) {
  struct mprof_report *w = arg;
  if (!is_omitted(w, f) && !is_hooked(w) && !mprof_is_std_frame(f))
    w->shows_std = false;
  w->is_main = w->is_main || strcmp(f->function, "main") == 0;
}

static void begin_stack(struct mprof_report *w, const struct mprof_bucket *b) {
  w->bucket = b;
  w->number = w->hidden = 0;
  w->via[0] = '\0';
  w->skip = b->skip;
  w->is_main = false;
}

static void choose_frames(struct mprof_report *w,
                          const struct mprof_bucket *b) {
  const uint32_t gone = mprof_bucket_gone(b);
  begin_stack(w, b);
  w->shows_std = true;
  if (mprof_flags.report_std)
    return;
  for (w->index = 0; w->index < b->stack_len && w->shows_std; w->index++)
    mprof_symbolize(mprof_symbolize_shown(b->stack[w->index], gone),
                    look_at_frame, w);
}

void mprof_report_stack(struct mprof_report *w, const struct mprof_bucket *b) {
  if (mprof_symbolize_want_stack(b))
    return;
  const uint32_t gone = mprof_bucket_gone(b);
  choose_frames(w, b);
  begin_stack(w, b);
  for (w->index = 0; w->index < b->stack_len; w->index++)
    if (!mprof_symbolize(mprof_symbolize_shown(b->stack[w->index], gone),
                         put_frame, w)) {
      mprof_report_put(w,
                       "    [truncated] at code that is no longer mapped: 0x");
      mprof_outfile_hex(w->out, b->stack[w->index]);
      mprof_report_put(w, "\n");
      return;
    }
  if (w->is_main)
    return;
  if (b->end == MPROF_STACK_CUT_CHAIN)
    mprof_report_put(w, "    [truncated] at code without frame pointers and "
                        "unwind tables\n");
  else if (b->end == MPROF_STACK_CUT_DEPTH)
    mprof_report_put(
        w, "    [truncated] at the number of frames that stack_depth allows\n");
}
