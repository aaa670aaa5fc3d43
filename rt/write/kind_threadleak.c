// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profiles threadleak and goroutineleak,
// which show stuck threads.

#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/stack_groups.h"
#include "stuck/stuck.h"
#include "stuck/stuck_graph.h"
#include "stuck/stuck_types.h"
#include "sys/message.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/report_text.h"
#include "write/write_pprof.h"
#include "write/write_stuck.h"
#include "write/write_thread_stacks.h"

// Stores the holder of the awaited lock in the stack of each stuck thread.
static void set_holders(struct mprof_stuck *g) {
  for (size_t i = 0; i < g->len; i++)
    if (g->v[i].grade != MPROF_MAY_RUN && g->v[i].slot)
      g->v[i].slot->holder = mprof_stuck_holder(g, &g->v[i]);
}

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct mprof_stuck *g = copy;
  (void)row;
  int error = mprof_stuck_take(g, &mprof_writer_caller, 0);
  if (error == 0)
    set_holders(g);
  if (error == 0 && t->form != MPROF_FORM_LIST)
    mprof_thread_stacks_group(&g->stacks);
  return error;
}

static void release(void *copy) { mprof_stuck_free(copy); }

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct mprof_stuck *g = copy;
  (void)number;
  return form == MPROF_FORM_PPROF
             ? mprof_write_threads_pprof(f, &g->stacks, row->name)
         : form == MPROF_FORM_TEXT
             ? mprof_write_threads_text(f, &g->stacks, row->name)
             : mprof_write_stuck_list(f, g);
}

static bool is_on(void) { return mprof_flags.stuck; }

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return is_on(); // an empty profile shows that no thread is stuck
}

static bool has_stacks(const void *copy) {
  const struct mprof_stuck *g = copy;
  return g->stuck > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_stuck *g = copy;
  (void)part;
  mprof_put_things(t, g->stuck, "stuck thread");
  if (g->stuck == 0)
    return;
  mprof_text_str(t, ": ");
  mprof_text_grouped(t, g->certain);
  mprof_text_str(t, " certain, ");
  mprof_text_grouped(t, g->likely);
  mprof_text_str(t, " likely");
}

static void report(struct mprof_report *w, const void *copy,
                   void *const *copies) {
  (void)copies;
  mprof_report_stuck(w, copy);
}

static void report_line(struct mprof_report *w, const void *copy) {
  mprof_report_stuck_summary(w, copy);
}

const struct mprof_profile_kind mprof_kind_threadleak = {
    .copy_bytes = sizeof(struct mprof_stuck),
    .last_form = MPROF_FORM_LIST,
    .take = take,
    .free = release,
    .write = write,
    .has_data = has_data,
    .is_on = is_on,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
    .report = report,
    .report_line = report_line,
};
