// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Replies with profiles and traces of the running program; see http.h.
// (Go: handler.ServeHTTP, serveDeltaProfile, Trace)

#include "http/http.h"

#include "bucket/bucket.h"
#include "bucket/counts.h"
#include "cpu/cpu.h"
#include "file/outfile.h"
#include "symbolize/maps.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/tls.h"
#include "thread_stacks/thread_stacks.h"
#include "trace/trace.h"

#include <errno.h>
#include <string.h>

// --- what all replies share ---

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

// --- traces ---

// The descriptor of the session that the HTTP server has begun, plus 1; 0:
// none.
static atomic_int session_fd;

// The file of the session of mprof_live_trace_start. Only the HTTP server's
// thread uses it.
static struct mprof_reply_file started = {.fd = MPROF_NO_FD};

// --- a session ---

static void refuse(struct mprof_reply *r, int error) {
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

bool mprof_live_trace_begin(struct mprof_reply_file *f, struct mprof_reply *r) {
  if (mprof_live_refuse_at_end(r))
    return false;
  int error = mprof_reply_file_open(f);
  if (error == 0)
    error = mprof_trace_begin_session(f->fd.fd);
  if (error == 0) {
    atomic_store(&session_fd, f->fd.fd + 1);
    // The process may have begun to end before it could see the session.
    if (!mprof_live_refuse_at_end(r))
      return true;
    mprof_live_trace_abandon(f);
    return false;
  }
  mprof_reply_file_close(f);
  refuse(r, error);
  return false;
}

// Ends the HTTP server's session that writes to fd, unless the program has
// already ended it. A session that another client has begun since goes on.
static int end(int fd, bool symbolizes) {
  struct mprof_trace_result unused = {0};
  int error = 0, number = fd + 1;
  mprof_live_lock(symbolizes);
  if (fd >= 0 && atomic_compare_exchange_strong(&session_fd, &number, 0) &&
      mprof_trace_has_session_of(fd))
    error = mprof_trace_finish_session(NULL, &unused);
  mprof_live_unlock();
  return error;
}

// Makes the file of a trace the reply, unless an error has occurred.
static void reply(struct mprof_reply_file *f, int error,
                  struct mprof_reply *r) {
  if (error == 0)
    error = mprof_reply_file_measure(f);
  if (error == 0) {
    r->body = *f;
    mprof_live_set_file_name(r, "trace", "");
  } else {
    mprof_reply_file_close(f);
    mprof_live_fail(r, error == -EPERM ? -EFBIG : error);
  }
  f->fd.fd = -1;
}

void mprof_live_trace_finish(struct mprof_reply_file *f,
                             struct mprof_reply *r) {
  reply(f, end(f->fd.fd, true), r);
}

void mprof_live_trace_abandon(struct mprof_reply_file *f) {
  end(f->fd.fd, false);
  mprof_reply_file_close(f);
}

// --- steered by the client ---

void mprof_live_trace_start(struct mprof_reply *r) {
  struct mprof_reply_file f;
  if (!mprof_live_trace_begin(&f, r))
    return;
  // The program itself may have ended the trace of an earlier call.
  mprof_reply_file_close(&started);
  started = f;
  mprof_reply_error(r, 200, "The trace has begun", 0);
  r->is_error = false;
}

void mprof_live_trace_stop(struct mprof_reply *r) {
  if (started.fd.fd < 0)
    mprof_reply_error(r, 409, "No trace was started here", 0);
  else if (!mprof_live_refuse_at_end(r))
    mprof_live_trace_finish(&started, r);
}

static int write_last(struct mprof_reply_file *f) {
  const int error = mprof_reply_file_open(f);
  if (error != 0)
    return error;
  mprof_live_lock(true);
  const int write_error = mprof_trace_snapshot_to(f->fd.fd);
  mprof_live_unlock();
  return write_error;
}

void mprof_live_trace_last(struct mprof_reply *r) {
  struct mprof_reply_file f;
  if (mprof_live_refuse_at_end(r))
    return;
  const int error = write_last(&f);
  if (error != -ESRCH && error != -ENOTSUP) {
    reply(&f, error, r);
    return;
  }
  mprof_reply_file_close(&f);
  mprof_reply_error(r, 404,
                    "The program runs without a flight recorder; start it with "
                    "MPROF_OPTIONS=trace_last=10s",
                    0);
}

// --- the end ---

void mprof_live_trace_forget(bool is_child) {
  if (!is_child && started.fd.fd >= 0)
    end(started.fd.fd, false);
  mprof_reply_file_close(&started);
  if (is_child)
    atomic_store(&session_fd, 0);
}

void mprof_live_trace_end(void) {
  // Otherwise the output at exit would contain the trace of a client.
  if (atomic_load(&session_fd) == 0 || !mprof_guard_enter())
    return;
  end(atomic_load(&session_fd) - 1, false);
  mprof_guard_leave();
}

// --- profiles ---

enum {
  SECOND_MS = 1000,
  CLIENTS = 8,
  // A client that has not asked for this time may lose its place to another.
  UNUSED_MS = 3600000,
  DELTAS = 6, // profiles with a delta path
};

// Arrays instead of pointers need no relocations.
static const char delta_names[DELTAS][8] = {"heap", "block", "mutex",
                                            "cpu",  "wall",  "locks"};

// Returns the index of the profile's name; DELTAS: it has no delta path.
static size_t delta_of(const char *name) {
  size_t i = 0;
  while (i < DELTAS && strcmp(delta_names[i], name) != 0)
    i++;
  return i;
}

const char *mprof_live_since_name(const char *page) {
  static const char prefix[] = "delta_";
  const size_t length = sizeof(prefix) - 1;
  if (strncmp(page, prefix, length) != 0)
    return NULL;
  const size_t i = delta_of(page + length);
  return i < DELTAS ? delta_names[i] : NULL;
}

// The copies from which the next profiles of mprof_live_since begin. The first
// row is for requests without a client name, and is never given away. Only the
// server's thread uses them.
static struct {
  char name[MPROF_CLIENT_NAME];
  int64_t used_ms; // time of the last request; 0: the row is free
  struct mprof_profile_request last[DELTAS];
} clients[CLIENTS + 1];

// --- one profile ---

static bool find(struct mprof_profile_request *p, const char *name,
                 struct mprof_reply *r) {
  if (mprof_profile_find(p, name))
    return true;
  mprof_reply_error(r, 404, "Unknown profile", 0); // (Go: the same text)
  return false;
}

// Ends a cycle of the heap profile, so that the profile shows the present.
static void end_cycle(void) {
  mprof_cycle_advance();
  mprof_cycle_publish();
}

void mprof_live_profile(const struct mprof_profile_wish *w,
                        struct mprof_reply *r) {
  struct mprof_profile_request p = {.copy = NULL};
  if (mprof_live_refuse_at_end(r) || !find(&p, w->name, r))
    return;
  // As in Go, a form that the profile does not have is the nearest one.
  const enum mprof_profile_form last = p.row->kind->last_form;
  p.form = w->debug == 0                 ? MPROF_FORM_PPROF
           : w->debug >= MPROF_FORM_LIST ? last
                                         : MPROF_FORM_TEXT;
  mprof_live_lock(w->symbolizes);
  if (w->ends_cycle)
    end_cycle();
  int error = mprof_profile_take(&p);
  if (error == 0)
    error = mprof_reply_file_write(&r->body, p.form == MPROF_FORM_PPROF,
                                   mprof_profile_put, &p);
  mprof_profile_drop(&p);
  mprof_live_unlock();
  if (error != 0)
    mprof_live_fail(r, error);
  else if (p.form == MPROF_FORM_PPROF)
    mprof_live_set_file_name(r, w->name, "");
}

// --- differences ---

struct difference {
  struct mprof_profile_request *before;
  const struct mprof_profile_request *now;
  bool keeps_present;
};

static int put_difference(struct mprof_outfile *f, void *arg) {
  const struct difference *d = arg;
  return d->now->row->kind->write_delta(f, d->now, d->before->copy,
                                        d->keeps_present);
}

// The session of the CPU profile that a request has begun. Only the server's
// thread uses it.
static unsigned cpu_session;

// The profiles for which Go computes differences, and others. (Go:
// profileSupportsDelta)
static bool has_deltas(const char *name) {
  // Arrays instead of pointers need no relocations.
  static const char names[][16] = {"allocs",       "block", "goroutine", "heap",
                                   "threadcreate", "mutex", "threads",   "mmap",
                                   "cpu",          "wall",  "locks"};
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

// Called when the job no longer needs its profile to be on.
static void let_go(const struct mprof_job *j) {
  if (j->cpu_session != 0)
    mprof_cpu_stop(j->cpu_session);
  if (j->before.row == &mprof_profile_rows[MPROF_PROFILE_wall])
    mprof_wall_let_go();
}

// Takes the first copy of the profile of `job`, and makes *j this job. After an
// error, which becomes the reply, there is no job.
static void begin_delta(struct mprof_job job, struct mprof_reply *r,
                        struct mprof_job *j) {
  *j = job;
  j->kind = MPROF_JOB_DELTA;
  mprof_live_lock(false);
  const int error = mprof_profile_take(&j->before);
  mprof_live_unlock();
  if (error == 0)
    return;
  mprof_job_abandon(j);
  mprof_live_fail(r, error);
}

void mprof_live_delta(const struct mprof_profile_wish *w, int64_t seconds,
                      struct mprof_reply *r, struct mprof_job *j) {
  struct mprof_profile_request p = {.copy = NULL};
  if (mprof_live_refuse_at_end(r) || !find(&p, w->name, r))
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
  // A request switches the wall profile on for its time.
  const int error =
      p.row == &mprof_profile_rows[MPROF_PROFILE_wall] ? mprof_wall_hold() : 0;
  if (error != 0) {
    mprof_live_fail(r, error);
    return;
  }
  // The clock has whole milliseconds, so a wait may be shorter by one.
  begin_delta((struct mprof_job){.ms = seconds * SECOND_MS + 1,
                                 .name = p.row->name,
                                 .symbolizes = w->symbolizes,
                                 .before = p},
              r, j);
}

// --- the CPU profile ---

// Returns whether a request has begun the active session of the CPU profile.
static bool is_of_request(void) {
  const unsigned session = atomic_load(&mprof_cpu_session);
  return session != 0 && session == cpu_session;
}

// Begins a session if there is none. Returns false after an error, which
// becomes the reply. (Go: Profile)
static bool begin_cpu(struct mprof_reply *r) {
  if (mprof_cpu_is_on() && !is_of_request())
    return true;
  const int error = mprof_cpu_start(MPROF_CPU_RATE_DEFAULT, false);
  if (error == 0) {
    cpu_session = atomic_load(&mprof_cpu_session);
    return true;
  }
  mprof_reply_error(r, 500,
                    error == -EBUSY
                        ? "Could not enable CPU profiling: cpu profiling "
                          "already in use"
                    : error == -EADDRINUSE
                        ? "Could not enable CPU profiling: the program handles "
                          "its signal itself; the option cpu_signal chooses "
                          "another one"
                        : "Could not enable CPU profiling",
                    error == -EBUSY || error == -EADDRINUSE ? 0 : error);
  return false;
}

void mprof_live_cpu(int64_t ms, bool symbolizes, struct mprof_reply *r,
                    struct mprof_job *j) {
  if (mprof_live_refuse_at_end(r) || !begin_cpu(r))
    return;
  begin_delta(
      (struct mprof_job){.ms = ms,
                         .name = "profile",
                         .symbolizes = symbolizes,
                         .before.row = &mprof_profile_rows[MPROF_PROFILE_cpu],
                         .cpu_session = is_of_request() ? cpu_session : 0},
      r, j);
}

static void finish_delta(struct mprof_job *j, struct mprof_reply *r) {
  struct mprof_profile_request now = {.row = j->before.row};
  const struct difference d = {&j->before, &now, false};
  if (!mprof_live_refuse_at_end(r)) {
    mprof_live_lock(j->symbolizes);
    int error = mprof_profile_take(&now);
    if (error == 0)
      error =
          mprof_reply_file_write(&r->body, true, put_difference, (void *)&d);
    mprof_profile_drop(&now);
    mprof_live_unlock();
    if (error != 0)
      mprof_live_fail(r, error);
    else
      mprof_live_set_file_name(r, j->name,
                               strcmp(j->name, "profile") == 0 ? "" : "-delta");
  }
  let_go(j);
  mprof_profile_drop(&j->before);
}

static void drop_client(size_t i) {
  for (size_t d = 0; d < DELTAS; d++) {
    mprof_profile_drop(&clients[i].last[d]);
    clients[i].last[d].copy = NULL;
  }
  clients[i].used_ms = 0;
}

// Returns the row of the client. A new client gets a free row, or that of a
// client which has not asked for a long time. Returns 0 for a new client if
// there is no such row.
static size_t find_client(const char *name) {
  const int64_t now = mprof_clock_ms();
  size_t oldest = 1, i;
  for (i = 1; i <= CLIENTS; i++) {
    if (clients[i].used_ms != 0 && strcmp(clients[i].name, name) == 0)
      break;
    if (clients[i].used_ms < clients[oldest].used_ms)
      oldest = i;
  }
  if (i > CLIENTS) {
    i = oldest;
    if (clients[i].used_ms != 0 && now - clients[i].used_ms < UNUSED_MS)
      return 0;
    drop_client(i);
    strcpy(clients[i].name, name);
  }
  clients[i].used_ms = now;
  return i;
}

void mprof_live_since(const struct mprof_profile_wish *w, const char *client,
                      struct mprof_reply *r, struct mprof_job *j) {
  struct mprof_profile_request now = {.copy = NULL};
  if (mprof_live_refuse_at_end(r) || !find(&now, w->name, r))
    return;
  const size_t row = client[0] == '\0' ? 0 : find_client(client);
  if (client[0] != '\0' && row == 0) {
    mprof_reply_error(r, 503,
                      "8 other clients have asked for deltas in the last hour; "
                      "use one of their names for the parameter client",
                      0);
    return;
  }
  const size_t number = delta_of(w->name);
  struct mprof_profile_request *last = &clients[row].last[number];
  const struct difference d = {last, &now, true};
  mprof_live_lock(w->symbolizes);
  if (w->ends_cycle)
    end_cycle();
  int error = mprof_profile_take(&now);
  if (error == 0)
    error =
        last->copy == NULL
            ? mprof_reply_file_write(&r->body, true, mprof_profile_put, &now)
            : mprof_reply_file_write(&r->body, true, put_difference,
                                     (void *)&d);
  mprof_live_unlock();
  if (error != 0) {
    mprof_profile_drop(&now);
    mprof_live_fail(r, error);
    return;
  }
  mprof_live_set_file_name(r, w->name, ".pprof.gz");
  *j = (struct mprof_job){
      .kind = MPROF_JOB_SINCE, .name = w->name, .before = now, .last = last};
}

// --- jobs ---

void mprof_job_begin_trace(int64_t ms, struct mprof_reply *r,
                           struct mprof_job *j) {
  *j = (struct mprof_job){.kind = MPROF_JOB_TRACE, .ms = ms};
  if (!mprof_live_trace_begin(&j->trace, r))
    j->kind = MPROF_JOB_NONE;
}

void mprof_job_finish(struct mprof_job *j, struct mprof_reply *r) {
  if (j->kind == MPROF_JOB_DELTA)
    finish_delta(j, r);
  else if (j->kind == MPROF_JOB_TRACE)
    mprof_live_trace_finish(&j->trace, r);
  j->kind = MPROF_JOB_NONE;
}

void mprof_job_commit(struct mprof_job *j) {
  if (j->kind == MPROF_JOB_SINCE) {
    mprof_profile_drop(j->last);
    *j->last = j->before;
  }
  j->kind = MPROF_JOB_NONE;
}

void mprof_job_abandon(struct mprof_job *j) {
  if (j->kind == MPROF_JOB_TRACE)
    mprof_live_trace_abandon(&j->trace);
  else if (j->kind != MPROF_JOB_NONE) {
    if (j->kind == MPROF_JOB_DELTA)
      let_go(j);
    mprof_profile_drop(&j->before);
  }
  j->kind = MPROF_JOB_NONE;
}

void mprof_live_forget(bool is_child) {
  for (size_t i = 0; i <= CLIENTS; i++)
    if (!is_child)
      drop_client(i);
  memset(clients, 0, sizeof(clients));
}
