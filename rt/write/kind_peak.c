// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions (profile_kind.h) of the profile peak, which is the heap profile
// of the moment when the most memory was in use (option peak).

#include "bucket/peak.h"
#include "file/outfile.h"
#include "snapshot/snapshot_heap.h"
#include "snapshot/stack_groups.h"
#include "write/kind_heap.h"
#include "write/numbers.h"
#include "write/profile_kind.h"
#include "write/write_pprof.h"

static bool is_offered(void) { return mprof_peak_is_on(); }

static bool is_on(void) { return mprof_peak_is_on() && mprof_flags.heap; }

static int take(void *copy, const struct mprof_profile_row *row,
                const struct mprof_profile_taking *t) {
  struct mprof_heap_copy *c = copy;
  (void)row;
  (void)t;
  const int error = mprof_mem_snapshot_take_peak(&c->snapshot);
  return error != 0 ? error : mprof_estimate_objects(&c->snapshot);
}

static void release(void *copy) {
  struct mprof_heap_copy *c = copy;
  mprof_heap_groups_free(&c->stacks);
  mprof_mem_snapshot_free(&c->snapshot);
}

static int write(struct mprof_outfile *f, const void *copy,
                 const struct mprof_profile_row *row,
                 enum mprof_profile_form form, size_t number) {
  const struct mprof_heap_copy *c = copy;
  (void)row;
  (void)number;
  return form == MPROF_FORM_TEXT ? mprof_write_heap_text(f, &c->snapshot)
                                 : mprof_write_peak_pprof(f, &c->snapshot);
}

static int group(void *copy) {
  struct mprof_heap_copy *c = copy;
  return mprof_heap_groups_make(&c->stacks, &c->snapshot);
}

static bool has_stacks(const void *copy) {
  (void)copy; // has_stacks of the heap profile reports the same stacks
  return false;
}

static void put_numbers(struct mprof_text *t, const void *copy, size_t part) {
  const struct mprof_heap_copy *c = copy;
  (void)part;
  mprof_put_things_and_stacks(t, c->stacks.samples, "sample", c->stacks.len);
}

const struct mprof_profile_kind mprof_kind_peak = {
    .copy_bytes = sizeof(struct mprof_heap_copy),
    .last_form = MPROF_FORM_TEXT,
    .is_offered = is_offered,
    .take = take,
    .free = release,
    .write = write,
    .count = mprof_heap_count,
    .is_on = is_on,
    .group = group,
    .has_stacks = has_stacks,
    .put_numbers = put_numbers,
};
