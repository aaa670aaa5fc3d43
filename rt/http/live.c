// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all replies with data of the running program share; see live.h.

#include "http/live.h"

#include "file/outfile.h"
#include "symbolize/maps_file.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"

#include <errno.h>

// A collector may ask each minute. Its next request then needs no new process.
enum { KEEP_NAMES_MS = 90000 };

// The process has begun to write its profiles at exit.
static atomic_bool has_ended;

// Time at which the process that gives names is ended, because no client has
// asked for names since then; 0: there is none. Only the HTTP server's thread
// uses it.
static int64_t names_until_ms;

void mprof_live_lock(bool symbolizes) {
  mprof_lock_acquire(&mprof_writer_lock);
  // The HTTP server's thread has no frame of the program.
  mprof_writer_caller = (struct mprof_caller){.frame = 0};
  mprof_symbolize_turn_off(!symbolizes);
  // The helper of an earlier request stays, even if this one needs no names.
  mprof_symbolize_keep_helper(true);
  if (symbolizes)
    names_until_ms = mprof_clock_ms() + KEEP_NAMES_MS;
}

void mprof_live_unlock(void) {
  mprof_symbolize_turn_off(false);
  mprof_symbolize_keep_helper(false);
  mprof_lock_release(&mprof_writer_lock);
}

void mprof_live_begin(void) {
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_maps_file_keep_open();
  mprof_lock_release(&mprof_writer_lock);
}

void mprof_live_finish(void) {
  mprof_live_idle();
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_maps_file_forget();
  mprof_lock_release(&mprof_writer_lock);
}

void mprof_live_fail(struct mprof_reply *r, int error) {
  if (error == -ENOTSUP)
    mprof_reply_error(r, 404,
                      "The program runs without this profile: an option is "
                      "not set",
                      0);
  else if (error == -EFBIG)
    mprof_reply_error(r, 500, "The profile is larger than 256 MiB", 0);
  else
    mprof_reply_error(r, error == -ENOMEM || error == -EMFILE ? 503 : 500,
                      "Could not write the profile", error);
}

bool mprof_live_refuse_at_end(struct mprof_reply *r) {
  if (!atomic_load(&has_ended))
    return false;
  mprof_reply_error(r, 503, "The process is ending", 0);
  return true;
}

void mprof_live_set_file_name(struct mprof_reply *r, const char *name,
                              const char *suffix) {
  struct mprof_text t = MPROF_TEXT(r->file_name);
  r->type = MPROF_TYPE_BYTES;
  mprof_text_str(&t, name);
  mprof_text_str(&t, suffix);
}

void mprof_live_set_end(bool has) { atomic_store(&has_ended, has); }

int64_t mprof_live_idle_ms(void) {
  return names_until_ms != 0 ? names_until_ms : INT64_MAX;
}

void mprof_live_idle(void) {
  names_until_ms = 0;
  mprof_lock_acquire(&mprof_writer_lock);
  mprof_symbolize_drop_helper();
  mprof_lock_release(&mprof_writer_lock);
}

void mprof_live_forget_names(void) { names_until_ms = 0; }
