// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profiles threads and goroutine, which
// show the stacks of all threads.

#include "file/outfile.h"
#include "options/flags.h"
#include "snapshot/stack_groups.h"
#include "sys/message.h"
#include "thread/proc_threads.h"
#include "thread_stacks/thread_slots.h"
#include "thread_stacks/thread_stacks.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/write_pprof.h"
#include "write/write_thread_stacks.h"

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct mprof_thread_stacks *s = copy;
  (void)row;
  int error = mprof_thread_stacks_take(s, mprof_writer_caller.frame, SIZE_MAX,
                                       mprof_flags.threads_stop);
  if (error == 0 && t->form != MPROF_FORM_LIST)
    mprof_thread_stacks_group(s);
  return error;
}

static void release(void *copy) { mprof_thread_stacks_free(copy); }

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  (void)number;
  return form == MPROF_FORM_PPROF
             ? mprof_write_threads_pprof(f, copy, row->name)
         : form == MPROF_FORM_TEXT
             ? mprof_write_threads_text(f, copy, row->name)
             : mprof_write_threads_list(f, copy);
}

static bool is_on(void) { return mprof_flags.threads; }

static bool has_data(const struct mprof_profile_row *row) {
  (void)row;
  return is_on(); // the first thread always has a stack
}

static bool has_stacks(const void *copy) {
  const struct mprof_thread_stacks *s = copy;
  return s->len > 0;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_thread_stacks *s = copy;
  (void)part;
  mprof_put_things_and_stacks(t, s->threads, "thread", s->len);
}

static int write_delta(struct mprof_outfile *f, const void *copy, void *before,
                       const struct mprof_profile_row *row,
                       bool keeps_present) {
  struct mprof_thread_stacks d;
  (void)keeps_present;
  int error = mprof_thread_stacks_subtract(&d, copy, before);
  if (error == 0)
    error = mprof_write_threads_pprof(f, &d, row->name);
  mprof_thread_stacks_free_difference(&d);
  return error;
}

static uint64_t count(const struct mprof_profile_row *row, size_t number) {
  (void)row;
  (void)number;
  return mprof_proc_thread_count();
}

const struct mprof_profile_kind mprof_kind_threads = {
    .copy_bytes = sizeof(struct mprof_thread_stacks),
    .last_form = MPROF_FORM_LIST,
    .take = take,
    .free = release,
    .write = write,
    .write_delta = write_delta,
    .count = count,
    .has_data = has_data,
    .is_on = is_on,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
};
