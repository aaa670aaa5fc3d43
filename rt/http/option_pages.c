// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shows and changes the options of the running program.

#include "http/option_pages.h"

#include "file/outfile.h"
#include "heap/heap.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "sys/lock.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { NAME = 64, VALUE = 512, LINE = 1024 };

// Makes the reply an error of mprof_flags_change. why: the reason of -EPERM.
static void refuse(struct mprof_reply *r, int error, const char *name,
                   const char *value, const char *why) {
  char what[MPROF_REPLY_TEXT - 2];
  struct mprof_text t = MPROF_TEXT(what);
  if (error == -EPERM) {
    mprof_text_str(&t, name);
    mprof_text_str(&t, " cannot change: ");
    mprof_text_str(&t, why);
  } else {
    mprof_flags_put_mistake(&t, name, value);
  }
  mprof_reply_error(r,
                    error == -ENOENT  ? 404
                    : error == -EPERM ? 409
                                      : 400,
                    what, 0);
}

// --- get ---

// The rates that the program may have changed by its own calls.
static void update_rates(void) {
  if (mprof_flags.heap)
    mprof_flags.heap_rate = mprof_sample_rate();
}

static void put_line(struct mprof_outfile *f, size_t i) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_flags_put(i, &t);
  mprof_text_str(&t, "\n");
  mprof_outfile_put(f, line, t.len);
}

static int put_options(struct mprof_outfile *f, void *number) {
  const size_t wanted = *(const size_t *)number;
  char unused[LINE];
  struct mprof_text t = MPROF_TEXT(unused);
  for (size_t i = 0; mprof_flags_put(i, &t); i++, t.len = 0)
    if (wanted == SIZE_MAX || wanted == i)
      put_line(f, i);
  return 0;
}

static void show(size_t number, struct mprof_reply *r) {
  update_rates();
  const int error =
      mprof_reply_file_write(&r->body, false, put_options, &number);
  if (error != 0)
    mprof_reply_error(r, 503, "Could not write the options", error);
}

void mprof_steer_get(struct mprof_http_text query, struct mprof_reply *r) {
  char name[NAME];
  const bool is_one = mprof_http_parameter(query, "name", name, sizeof(name));
  const size_t number = is_one ? mprof_flags_find(name) : SIZE_MAX;
  if (is_one && number == SIZE_MAX) {
    refuse(r, -ENOENT, name, "", NULL);
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  show(number, r);
  mprof_lock_release(&mprof_writer_lock);
}

// --- set ---

// Returns why a new value of the option would have no effect, or NULL.
static const char *why_no_effect(const char *name) {
  if (strcmp(name, "heap_rate") == 0 && !mprof_flags.heap)
    return "it has no effect, because the option heap is 0";
  return NULL;
}

// Passes a new value on to the code that has a copy of it.
static void apply(const char *name) {
  const struct mprof_flags *f = &mprof_flags;
  if (strcmp(name, "heap_rate") == 0)
    mprof_sample_set_rate(f->heap_rate);
  else if (strcmp(name, "block_rate") == 0)
    mprof_contention_set_block_rate(f->block_rate);
  else if (strcmp(name, "mutex_fraction") == 0)
    mprof_contention_set_mutex_fraction(
        f->mutex_fraction > INT_MAX ? INT_MAX : (int)f->mutex_fraction);
}

// Stores the name of the query's first parameter. Returns false if it does not
// fit.
static bool take_name(struct mprof_http_text query, char name[NAME]) {
  size_t len = 0;
  while (len < query.len && query.p[len] != '=' && query.p[len] != '&')
    len++;
  if (len == 0 || len >= NAME || len == query.len || query.p[len] != '=')
    return false;
  memcpy(name, query.p, len);
  name[len] = '\0';
  return true;
}

void mprof_steer_set(struct mprof_http_text query, struct mprof_reply *r) {
  char name[NAME], value[VALUE];
  if (!take_name(query, name) ||
      !mprof_http_parameter(query, name, value, sizeof(value))) {
    mprof_reply_error(r, 400, "The query must be NAME=VALUE", 0);
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  const char *why = why_no_effect(name);
  const int error =
      why != NULL ? -EPERM : mprof_flags_change(name, value, &why);
  if (error == 0) {
    apply(name);
    show(mprof_flags_find(name), r);
  }
  mprof_lock_release(&mprof_writer_lock);
  if (error != 0)
    refuse(r, error, name, value, why);
}
