// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies with profiles and traces of the running program; see live_profile.h.
// (Go: handler.ServeHTTP, serveDeltaProfile, Trace)

#include "door/live_profile.h"

#include "bucket/cycle.h"
#include "file/writer_lock.h"
#include "symbolize/symbolize.h"
#include "sys/lock.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "trace/trace.h"
#include "write/profiles.h"

#include <errno.h>
#include <string.h>

enum { SECOND_MS = 1000 };

// The process has begun to write its profiles at exit.
static atomic_bool has_ended;

// The descriptor of the trace session that the door has started, plus 1; 0:
// none.
static atomic_int trace_fd;

// The copies from which the next profiles of mprof_live_since begin. Only the
// door's thread uses them.
static struct {
  char name[8]; // of the profile
  struct mprof_profile_request last;
} since[] = {{.name = "heap"}, {.name = "block"}, {.name = "mutex"}};

// --- one profile ---

static void lock(bool symbolizes) {
  mprof_lock_acquire(&mprof_writer_lock);
  // The door's thread has no frame of the program.
  mprof_writer_caller = (struct mprof_caller){.frame = 0};
  mprof_symbolize_turn_off(!symbolizes);
}

static void unlock(void) {
  mprof_symbolize_turn_off(false);
  mprof_lock_release(&mprof_writer_lock);
}

static void fail(struct mprof_reply *r, int error) {
  if (error == -ENOTSUP)
    mprof_reply_error(r, 404,
                      "The program runs without this profile: an option is "
                      "not set, or it was linked without the profile",
                      0);
  else if (error == -EFBIG)
    mprof_reply_error(r, 500, "The profile is larger than 256 MiB", 0);
  else
    mprof_reply_error(r, error == -ENOMEM || error == -EMFILE ? 503 : 500,
                      "Could not write the profile", error);
}

static bool refuse_at_end(struct mprof_reply *r) {
  if (!atomic_load(&has_ended))
    return false;
  mprof_reply_error(r, 503, "The process is ending", 0);
  return true;
}

static bool find(struct mprof_profile_request *p, const char *name,
                 struct mprof_reply *r) {
  if (mprof_profile_find(p, name))
    return true;
  mprof_reply_error(r, 404, "Unknown profile", 0);
  return false;
}

// Sets the headers of a profile.
static void set_file_name(struct mprof_reply *r, const char *name,
                          const char *suffix) {
  struct mprof_text t = MPROF_TEXT(r->file_name);
  r->type = MPROF_TYPE_BYTES;
  mprof_text_str(&t, name);
  mprof_text_str(&t, suffix);
}

// Ends a cycle of the heap profile, so that the profile shows the present.
static void end_cycle(void) {
  mprof_cycle_next();
  mprof_cycle_publish();
}

static int put_profile(struct mprof_outfile *f, void *request) {
  return mprof_profile_put(f, request);
}

void mprof_live_profile(const struct mprof_profile_wish *w,
                        struct mprof_reply *r) {
  struct mprof_profile_request p = {.copy = NULL};
  if (refuse_at_end(r) || !find(&p, w->name, r))
    return;
  // As in Go, a form that the profile does not have is the nearest one.
  const enum mprof_profile_form last = p.row->kind->last_form;
  p.taking.form = w->debug == 0                 ? MPROF_FORM_PPROF
                  : w->debug >= MPROF_FORM_LIST ? last
                                                : MPROF_FORM_TEXT;
  lock(w->symbolizes);
  if (w->ends_cycle)
    end_cycle();
  int error = mprof_profile_take(&p);
  if (error == 0)
    error = mprof_door_file_write(&r->body, p.taking.form == MPROF_FORM_PPROF,
                                  put_profile, &p);
  mprof_profile_drop(&p);
  unlock();
  if (error != 0)
    fail(r, error);
  else if (p.taking.form == MPROF_FORM_PPROF)
    set_file_name(r, w->name, "");
}

// --- differences ---

struct difference {
  struct mprof_profile_request *before;
  const struct mprof_profile_request *now;
  bool keeps_present;
};

static int put_difference(struct mprof_outfile *f, void *arg) {
  const struct difference *d = arg;
  const struct mprof_profile_row *row = d->now->row;
  return row->kind->write_delta(f, d->now->copy, d->before->copy, row,
                                d->keeps_present);
}

// The profiles for which Go computes differences. (Go: profileSupportsDelta)
static bool has_deltas(const char *name) {
  // Arrays instead of pointers need no relocations.
  static const char names[][16] = {"allocs",       "block", "goroutine", "heap",
                                   "threadcreate", "mutex", "threads"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

void mprof_live_delta(const struct mprof_profile_wish *w, int64_t seconds,
                      struct mprof_reply *r, struct mprof_job *j) {
  struct mprof_profile_request p = {.copy = NULL};
  if (refuse_at_end(r) || !find(&p, w->name, r))
    return;
  if (!has_deltas(w->name)) {
    mprof_reply_error(
        r, 400, "\"seconds\" parameter is not supported for this profile type",
        0);
    return;
  }
  if (w->debug != 0) {
    mprof_reply_error(r, 400, "seconds and debug params are incompatible", 0);
    return;
  }
  lock(false);
  const int error = mprof_profile_take(&p);
  unlock();
  if (error != 0) {
    fail(r, error);
    return;
  }
  *j = (struct mprof_job){.kind = MPROF_JOB_DELTA,
                          .ms = seconds * SECOND_MS,
                          .name = p.row->name,
                          .symbolizes = w->symbolizes,
                          .before = p};
}

static void finish_delta(struct mprof_job *j, struct mprof_reply *r) {
  struct mprof_profile_request now = {.row = j->before.row};
  const struct difference d = {&j->before, &now, false};
  if (!refuse_at_end(r)) {
    lock(j->symbolizes);
    int error = mprof_profile_take(&now);
    if (error == 0)
      error = mprof_door_file_write(&r->body, true, put_difference, (void *)&d);
    mprof_profile_drop(&now);
    unlock();
    if (error != 0)
      fail(r, error);
    else
      set_file_name(r, j->name, "-delta");
  }
  mprof_profile_drop(&j->before);
}

static struct mprof_profile_request *last_of(const char *name) {
  for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++)
    if (strcmp(since[i].name, name) == 0)
      return &since[i].last;
  return NULL;
}

void mprof_live_since(const struct mprof_profile_wish *w, struct mprof_reply *r,
                      struct mprof_job *j) {
  struct mprof_profile_request now = {.copy = NULL};
  struct mprof_profile_request *last = last_of(w->name);
  const struct difference d = {last, &now, true};
  if (refuse_at_end(r) || !find(&now, w->name, r))
    return;
  lock(w->symbolizes);
  if (w->ends_cycle)
    end_cycle();
  int error = mprof_profile_take(&now);
  if (error == 0)
    error =
        last->copy == NULL
            ? mprof_door_file_write(&r->body, true, put_profile, &now)
            : mprof_door_file_write(&r->body, true, put_difference, (void *)&d);
  unlock();
  if (error != 0) {
    mprof_profile_drop(&now);
    fail(r, error);
    return;
  }
  set_file_name(r, w->name, ".pprof.gz");
  *j = (struct mprof_job){
      .kind = MPROF_JOB_SINCE, .name = w->name, .before = now};
}

// --- traces ---

void mprof_live_trace(int64_t ms, struct mprof_reply *r, struct mprof_job *j) {
  if (refuse_at_end(r))
    return;
  *j = (struct mprof_job){.kind = MPROF_JOB_TRACE, .ms = ms};
  int error = mprof_door_file_open(&j->trace);
  if (error == 0)
    error = mprof_trace_begin_session(j->trace.fd.fd);
  if (error == 0) {
    atomic_store(&trace_fd, j->trace.fd.fd + 1);
    return;
  }
  mprof_door_file_close(&j->trace);
  j->kind = MPROF_JOB_NONE;
  if (error == -EBUSY)
    mprof_reply_error(
        r, 500, "Could not enable tracing: tracing is already enabled", 0);
  else if (error == -ENOTSUP)
    mprof_reply_error(r, 404,
                      "Could not enable tracing: the program was linked "
                      "without it; link with -fmprof=trace",
                      0);
  else
    mprof_reply_error(r, 500, "Could not enable tracing", error);
}

// Ends the door's session, unless the program has already ended it.
static int end_trace(struct mprof_trace_result *result, bool symbolizes) {
  int error = 0;
  lock(symbolizes);
  const int fd = atomic_exchange(&trace_fd, 0) - 1;
  if (fd >= 0 && mprof_trace_has_session_of(fd))
    error = mprof_trace_finish_session(NULL, result);
  unlock();
  return error;
}

static void finish_trace(struct mprof_job *j, struct mprof_reply *r) {
  struct mprof_trace_result result = {0};
  int error = end_trace(&result, true);
  if (error == 0)
    error = mprof_door_file_measure(&j->trace);
  if (error != 0) {
    mprof_door_file_close(&j->trace);
    fail(r, error == -EPERM ? -EFBIG : error);
    return;
  }
  r->body = j->trace;
  set_file_name(r, "trace", "");
}

// --- jobs ---

void mprof_job_finish(struct mprof_job *j, struct mprof_reply *r) {
  if (j->kind == MPROF_JOB_DELTA)
    finish_delta(j, r);
  else if (j->kind == MPROF_JOB_TRACE)
    finish_trace(j, r);
  j->kind = MPROF_JOB_NONE;
}

void mprof_job_commit(struct mprof_job *j) {
  if (j->kind == MPROF_JOB_SINCE) {
    struct mprof_profile_request *last = last_of(j->name);
    mprof_profile_drop(last);
    *last = j->before;
  }
  j->kind = MPROF_JOB_NONE;
}

void mprof_job_abandon(struct mprof_job *j) {
  struct mprof_trace_result unused = {0};
  if (j->kind == MPROF_JOB_TRACE) {
    end_trace(&unused, false);
    mprof_door_file_close(&j->trace);
  } else if (j->kind != MPROF_JOB_NONE) {
    mprof_profile_drop(&j->before);
  }
  j->kind = MPROF_JOB_NONE;
}

void mprof_live_forget(bool is_child) {
  for (size_t i = 0; i < sizeof(since) / sizeof(since[0]); i++) {
    if (!is_child)
      mprof_profile_drop(&since[i].last);
    since[i].last.copy = NULL;
  }
  if (!is_child)
    return;
  atomic_store(&has_ended, false);
  atomic_store(&trace_fd, 0);
  mprof_door_file_hurry(false);
}

void mprof_live_end(void) {
  struct mprof_trace_result unused = {0};
  atomic_store(&has_ended, true);
  mprof_door_file_hurry(true);
  // Otherwise the output at exit would contain the trace of a client.
  if (atomic_load(&trace_fd) == 0 || !mprof_guard_enter())
    return;
  end_trace(&unused, false);
  mprof_guard_leave();
}
