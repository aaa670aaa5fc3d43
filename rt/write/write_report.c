// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the exit report for people. The report has a section for each kind of
// profile, with totals and the largest stacks. After these sections come the
// numbers of lost events and the memory of the profiler. The last lines are
// machine-readable summary lines. The files kind_*.c write the sections of the
// profiles.

#include "file/outfile.h"
#include "heap/beneath.h"
#include "options/flags.h"
#include "process/process.h"
#include "symbolize/symbolize.h"
#include "sys/base.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "write/kinds.h"
#include "write/profiles.h"
#include "write/report.h"

#include <string.h>

static void put_head(struct mprof_report *w, const struct mprof_summary *s) {
  bool is_plain = s->is_shown[MPROF_PROFILE_heap] &&
                  !s->is_shown[MPROF_PROFILE_block] &&
                  !s->is_shown[MPROF_PROFILE_mutex];
  mprof_report_head(w, is_plain ? "heap report" : "report", s->time_ns);
  mprof_command_line(w->command, sizeof(w->command));
  mprof_report_put(w, "Command:   ");
  mprof_report_put(w, w->command);
  if (mprof_command_title(w->command, sizeof(w->command))) {
    mprof_report_put(w, "\nTitle:     ");
    mprof_report_put(w, w->command);
  }
  if (mprof_flags.symbolize && mprof_flags.profile && mprof_symbolize_is_off())
    mprof_report_put(w, "\nNames:     none, because a signal asked for this "
                        "report; mprof symbolize adds names to the "
                        "profiles (*.pb.gz), not to this text");
  mprof_report_put(w, "\n");
}

static void put_losses(struct mprof_report *w) {
  bool has_any = false;
  for (int i = 0; i < MPROF_STAT_COUNT; i++) {
    uint64_t n = mprof_stat_get(i);
    if (!mprof_stat_infos[i].is_loss || n == 0)
      continue;
    if (!has_any)
      mprof_report_put(w, "\nMissing from the profiles\n");
    has_any = true;
    char text[256];
    struct mprof_text t = MPROF_TEXT(text);
    mprof_stat_text(&t, i, n);
    mprof_report_put(w, "  ");
    mprof_report_count(w, (int64_t)n, " ");
    mprof_report_put(w, text);
    mprof_report_put(w, "\n");
  }
}

// --- memory that the heap profile cannot show ---

// mprof-clang defines this symbol on the linker's command line if mprof-clang
// leaves out the interceptors on purpose, for example because of the option
// -fno-mprof-intercept.
extern const char mprof_intercept_is_unwanted
    __attribute__((weak, visibility("hidden")));
// In code, gold would not make the address NULL.
static const char *const volatile unwanted = &mprof_intercept_is_unwanted;

// The interceptors exist only for glibc.
#ifdef __GLIBC__
#define HAS_INTERCEPTORS true
#else
#define HAS_INTERCEPTORS false
#endif

// Returns the copy of the heap profile, or NULL if the profile is off.
static const struct mprof_heap_copy *heap_of(const struct mprof_summary *s) {
  const struct mprof_heap_copy *c = s->copies[MPROF_PROFILE_heap];
  return s->is_shown[MPROF_PROFILE_heap] && c->snapshot.rate != 0 ? c : NULL;
}

bool mprof_coverage_is_linked_without(void) {
  return HAS_INTERCEPTORS && !mprof_next_is_linked() && unwanted == NULL &&
         !mprof_has_sanitizer();
}

bool mprof_coverage_lacks_interceptors(const struct mprof_summary *s) {
  return heap_of(s) != NULL && mprof_coverage_is_linked_without();
}

// Writes the lines of the report about allocations that are not counted.
static void put_not_counted(struct mprof_report *w,
                            const struct mprof_summary *s) {
  if (mprof_coverage_lacks_interceptors(s))
    mprof_report_put(
        w, "\nNot counted: allocations of code without MProf, because the "
           "program was linked\nwithout libmprof_intercept.a. Link it with "
           "mprof-clang -fmprof, CMake's\nmprof_instrument, mprof-program.cfg "
           "or \"pkg-config --libs mprof-program\".\n");
  else if (heap_of(s) != NULL && mprof_next_is_linked() && !mprof_intercepted.c)
    mprof_report_put(w, "\nNot counted: allocations of code without MProf, "
                        "because the program contains\nthe definition of "
                        "malloc.\n");
}

// The report gives a hint only if the blocks in use leave at least this many
// bytes of memory unexplained. Every process has some unexplained memory:
// thread stacks, freed memory that the allocator has not returned, buffers of
// libraries.
#define MIN_UNEXPLAINED ((int64_t)16 << 20)

// Writes a hint if the anonymous resident memory is far larger than the blocks
// of the heap profile.
// anonymous: bytes of anonymous memory that are resident, or 0 if unknown.
static void put_unexplained(struct mprof_report *w,
                            const struct mprof_summary *s, int64_t anonymous) {
  const struct mprof_heap_copy *c = heap_of(s);
  if (c == NULL)
    return;
  const struct mprof_mem_estimate *total = &c->stacks.total;
  const int64_t others = anonymous - (int64_t)mprof_persistent_used();
  if (others - total->inuse_bytes < MIN_UNEXPLAINED ||
      others / 2 < total->inuse_bytes)
    return;
  // The program has freed everything, and the allocator keeps the memory.
  if (total->inuse_bytes == 0 && total->alloc_bytes >= others)
    return;
  mprof_report_put(w, "Hint: the blocks in use explain only ");
  mprof_report_percent(w, total->inuse_bytes, others);
  mprof_report_put(w, " of ");
  mprof_report_bytes(w, others);
  mprof_report_put(w, "\n  of anonymous resident memory. ");
  mprof_report_put(w, s->is_shown[MPROF_PROFILE_memory]
                          ? "The section \"Where the memory was\" names the "
                            "rest.\n"
                          : "The option memory=1 and mprof memory show the "
                            "rest\n  (memory.md in share/doc/mprof/docs).\n");
}

// --- the memory of the process ---

static void put_memory(struct mprof_report *w, const struct mprof_summary *s) {
  const struct mprof_resident resident = mprof_sys_resident();
  mprof_report_put(
      w,
      "\nSize of the profiler's tables (not all of this memory is resident): ");
  mprof_report_bytes(w, (int64_t)mprof_persistent_used());
  if (resident.all > 0) {
    mprof_report_put(w, "\nResident memory of the process: ");
    mprof_report_bytes(w, (int64_t)resident.all);
  }
  mprof_report_put(w, "\n");
  put_unexplained(w, s, (int64_t)resident.anonymous);
  mprof_report_put(w, "\n");
}

// --- the report ---

// The sections of the profiles and their summary lines are in the order of the
// positions that the table of profiles gives.
static void put_sections(struct mprof_report *w, const void *summary) {
  const struct mprof_summary *s = summary;
  const struct mprof_profile_row *rows = mprof_profile_rows;
  for (unsigned at = 1; at <= MPROF_PROFILES; at++)
    for (size_t i = 0; i < MPROF_PROFILES; i++)
      if (s->is_shown[i] && rows[i].section == at)
        rows[i].kind->report(w, s->copies[i]);
}

static void put_report(struct mprof_report *w, const void *summary) {
  const struct mprof_summary *s = summary;
  const struct mprof_profile_row *rows = mprof_profile_rows;
  put_head(w, s);
  put_sections(w, s);
  put_losses(w);
  put_not_counted(w, s);
  put_memory(w, s);
  for (unsigned at = 1; at <= MPROF_PROFILES; at++)
    for (size_t i = 0; i < MPROF_PROFILES; i++)
      if (s->is_shown[i] && rows[i].line == at)
        rows[i].kind->report_line(w, s->copies[i]);
}

int mprof_write_report(struct mprof_outfile *f, void *summary) {
  const bool wants_names = mprof_flags.symbolize &&
                           mprof_flags.report_top > 0 &&
                           mprof_summary_has_stacks(summary);
  return mprof_report_write(f, wants_names, put_sections, put_report, summary);
}
