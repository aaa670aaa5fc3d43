// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The line on stderr that names the written files; see exit.h. The line
// has one of three forms, the first one that fits:
//   wrote A.heap.pb.gz (0 samples: heap=0), A.block.pb.gz (3 waits) and A.txt
//   wrote A.*: heap (0 samples), block (3 waits) and txt
//   wrote 3 files: A.*

#include "exit.h"

#include "sys/message.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "write/report.h"

#include <stdio.h>
#include <string.h>

// Maximum length of the line.
enum { LINE_MAX_SHOWN = 200 };
// Size of the buffer in which a form of the line is tried.
enum { BUFFER_SIZE = 2 * LINE_MAX_SHOWN };

// --- the files ---

// Begins a text at the end of l->buf. Returns the offset in l->buf at which the
// text begins.
static size_t begin_text(struct mprof_exit_line *l) {
  struct mprof_text *t = &l->text;
  if (t->buf == NULL)
    *t = (struct mprof_text)MPROF_TEXT(l->buf);
  if (t->len + 1 < t->cap)
    t->len++; // keep the terminating 0 of the previous text
  return t->len;
}

void mprof_exit_line_add(struct mprof_exit_line *l, const char *path) {
  l->v[l->files++].path = begin_text(l);
  mprof_text_str(&l->text, path);
}

struct mprof_text *mprof_exit_line_totals(struct mprof_exit_line *l) {
  l->v[l->files - 1].totals = begin_text(l);
  return &l->text;
}

// --- the line ---

// Appends the counters of lost data that are not 0. stats.def defines the
// counters' names, which the written files also show.
static void put_losses(struct mprof_text *t) {
  bool has_any = false;
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    mprof_text_str(t, has_any ? ", " : "; incomplete: ");
    has_any = true;
    mprof_text_str(t, mprof_stat_infos[i].name);
    mprof_text_str(t, " ");
    mprof_text_grouped(t, n);
  }
}

// Appends a path, but leaves out `base` and the ending .pb.gz.
static void put_suffix(struct mprof_text *t, const char *path,
                       const char *base) {
  static const char ending[] = ".pb.gz";
  const size_t base_len = strlen(base);
  if (strncmp(path, base, base_len) == 0 && path[base_len] == '.')
    path += base_len + 1;
  size_t len = strlen(path);
  if (len >= sizeof(ending) - 1 &&
      strcmp(path + len - (sizeof(ending) - 1), ending) == 0)
    len -= sizeof(ending) - 1;
  mprof_text_mem(t, path, len);
}

// Appends totals. If the totals give a reason why there are no samples, leaves
// out the reason.
static void put_short_totals(struct mprof_text *t, const char *totals) {
  static const char none[] = "0 samples";
  const size_t len = sizeof(none) - 1;
  const bool has_reason = strncmp(totals, none, len) == 0 && totals[len] == ':';
  mprof_text_mem(t, totals, has_reason ? len : strlen(totals));
}

// Writes the files with their totals. base: the common part of the paths, which
// is then written only once. NULL: the whole path of each file is written.
static void put_files(struct mprof_text *t, const struct mprof_exit_line *l,
                      const char *base) {
  mprof_message_begin(t);
  mprof_text_str(t, "wrote ");
  if (base != NULL) {
    mprof_text_str(t, base);
    mprof_text_str(t, ".*: ");
  }
  for (size_t i = 0; i < l->files; i++) {
    const char *path = l->buf + l->v[i].path, *totals = l->buf + l->v[i].totals;
    if (i > 0)
      mprof_text_str(t, i + 1 < l->files ? ", " : " and ");
    if (base != NULL)
      put_suffix(t, path, base);
    else
      mprof_text_str(t, path);
    if (l->v[i].totals == 0)
      continue;
    mprof_text_str(t, " (");
    if (base != NULL)
      put_short_totals(t, totals);
    else
      mprof_text_str(t, totals);
    mprof_text_str(t, ")");
  }
}

// Writes only the number of files and the common part of their paths. If this
// part is too long, writes only its end.
static void put_number_of_files(struct mprof_text *t,
                                const struct mprof_exit_line *l,
                                const char *base, bool is_complete) {
  static const char many[] = ".*; incomplete: see the report";
  mprof_message_begin(t);
  mprof_text_str(t, "wrote ");
  mprof_put_things(t, l->files, "file");
  mprof_text_str(t, ": ");
  const size_t room = LINE_MAX_SHOWN - t->len - sizeof(many) - 4;
  const size_t len = strlen(base);
  if (len > room)
    mprof_text_str(t, "...");
  mprof_text_str(t, base + (len > room ? len - room : 0));
  mprof_text_str(t, is_complete ? ".*" : many);
}

extern __typeof__(stdout) stdout __attribute__((weak));
extern __typeof__(ftrylockfile) ftrylockfile __attribute__((weak));
extern __typeof__(funlockfile) funlockfile __attribute__((weak));
extern __typeof__(fflush_unlocked) fflush_unlocked __attribute__((weak));

static FILE *first_stdout; // stdout at start; written once

void mprof_exit_line_init(void) {
  if (&stdout != NULL)
    first_stdout = stdout;
}

// Returns whether descriptors 1 and 2 are the same regular file. If descriptor
// 1 is not a regular file, a flush could block, or end the process by SIGPIPE.
static bool is_one_file(void) {
  uint64_t dev, ino;
  return mprof_os_is_regular(1) && mprof_sys_fstat_id(1, &dev, &ino) == 0 &&
         mprof_sys_has_id(2, dev, ino);
}

// Flushes stdout if stdout and stderr are the same file. Does nothing if
// another thread is writing to stdout, or if the program has assigned another
// stream to stdout, because the program may have closed that stream. The
// references to stdio are weak, because a static program may contain no stdio.
static void flush_stdout(void) {
  if (first_stdout == NULL || stdout != first_stdout || ftrylockfile == NULL ||
      funlockfile == NULL || fflush_unlocked == NULL || !is_one_file() ||
      ftrylockfile(stdout) != 0)
    return;
  fflush_unlocked(stdout);
  funlockfile(stdout);
}

void mprof_exit_line_print(const struct mprof_exit_line *l, const char *base,
                           bool is_counted, bool flushes) {
  char line[BUFFER_SIZE], end[BUFFER_SIZE] = "";
  struct mprof_text t = MPROF_TEXT(line), losses = MPROF_TEXT(end);
  put_losses(&losses);
  if (!is_counted)
    mprof_text_str(&losses, MPROF_NOT_COUNTED);
  put_files(&t, l, NULL);
  mprof_text_str(&t, end);
  if (t.len >= LINE_MAX_SHOWN) {
    put_files(&t, l, base);
    mprof_text_str(&t, end);
  }
  if (t.len >= LINE_MAX_SHOWN)
    put_number_of_files(&t, l, base, losses.len == 0);
  if (flushes)
    flush_stdout();
  mprof_message_end(&t);
}
