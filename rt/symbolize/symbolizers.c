// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the helper processes and exchanges messages with them; see
// symbolizers.h and symbolizer_protocol.h. A helper starts a program and waits
// for its end:
//
//   this process --> helper --> mprof
//        \______ socket ______/
//
//   this process --> helper --> llvm-symbolizer
//        \_ socket _/   \_ pipes _/
//
// The helper is needed because the kernel sends SIGCHLD to the parent of a
// process that has executed a program, and because wait functions report such a
// process. The program's own handlers and waits must not notice it.

#define _GNU_SOURCE 1

#include "symbolize/symbolizers.h"

#include "file/own_fd.h"
#include "helper/helper_process.h"
#include "options/flags.h"
#include "symbolize/kept_names.h"
#include "symbolize/name_list.h"
#include "symbolize/symbolize_file.h"
#include "symbolize/symbolizer_path.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/os_linux.h"
#include "sys/os_memory.h"
#include "thread/threads.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

_Static_assert(MPROF_REQUEST_FILE == sizeof(((struct mprof_mapping *)0)->file),
               "a request has the path of a mapping");
_Static_assert(MPROF_REQUEST_BUILD_ID ==
                   sizeof(((struct mprof_mapping *)0)->build_id),
               "a request has the build ID of a mapping");

#ifndef MPROF_OWN_SYMBOLIZER_TIMEOUT_MS
// Time limit for a reply of mprof, which reads even the debug information of
// large programs in less than a second. Tests set a shorter time.
#define MPROF_OWN_SYMBOLIZER_TIMEOUT_MS 10000
#endif

#ifndef MPROF_SYMBOLIZER_TIMEOUT_MS
// Time limit for a reply of llvm-symbolizer. If the program is large,
// llvm-symbolizer needs seconds to read its debug information. Tests set a
// shorter time.
#define MPROF_SYMBOLIZER_TIMEOUT_MS 30000
#endif

// Requests to mprof until mprof_symbolizers_stop. For each request, mprof reads
// the functions of the source files anew. So for many requests llvm-symbolizer
// is faster, although it takes longer to start.
enum { REQUESTS_MAX = 64 };

// With this nice value, the program keeps about nine tenths of a processor that
// it shares with mprof.
enum { PATIENT_NICE = 10 };

struct messages {
  struct mprof_symbolizer_request request;
  char reply[MPROF_REPLY_SIZE];
};

struct symbolizer {
  struct mprof_helper helper;
  const char *path; // of the program; NULL: not searched for yet
  // The program cannot be used. Do not try again until the next stop.
  bool has_failed;
  bool has_timed_out; // there was no reply in time; never ask again
};

static struct {
  struct symbolizer own, llvm;
  // own.helper.fd of a helper that waits for the next profile. While it waits,
  // the program may close the descriptor. MPROF_NO_FD: the helper was started
  // for this profile.
  struct mprof_own_fd kept;
  struct messages *messages;
  const char *cache;             // the user's cache directory, or NULL
  unsigned requests;             // to mprof
  bool is_patient;               // see mprof_symbolizers_be_patient
} state = {.kept = MPROF_NO_FD}; // guarded by writer_lock

// --- in the helpers ---

static void serve_own(int fd) {
  const char *const args[] = {MPROF_SYMBOLIZER_COMMAND,
                              MPROF_SYMBOLIZER_VERSION, state.cache, NULL};
  if (state.is_patient) {
    mprof_sys_lower_own_priority(PATIENT_NICE);
    mprof_helper_give_memory_back();
  }
  mprof_helper_execute(fd, state.own.path, args);
}

// Makes the reply about address i of the request. Returns its size, or 0 if
// llvm-symbolizer does not work.
static size_t answer(size_t i) {
  const struct mprof_symbolizer_request *r = &state.messages->request;
  char *reply = state.messages->reply;
  struct mprof_file_query q = {.address = r->addresses[i],
                               .noted_ns = r->noted_ns};
  memcpy(q.file, r->file, sizeof(q.file));
  memcpy(q.build_id, r->build_id, sizeof(q.build_id));
  memset(reply, 0, MPROF_REPLY_SIZE);
  reply[0] = MPROF_REPLY_KNOWN;
  struct mprof_text t = {.buf = reply + 1, .cap = MPROF_REPLY_SIZE - 2};
  return mprof_symbolize_file(state.llvm.path, &q, &t)
             ? 1 + mprof_name_list_size(reply + 1, MPROF_REPLY_SIZE - 1)
             : 0;
}

// Returns without a reply if llvm-symbolizer does not work.
static void serve_llvm(int fd) {
  const struct mprof_symbolizer_request *r = &state.messages->request;
  while (mprof_helper_receive(fd, &state.messages->request, sizeof(*r), -1) > 0)
    for (size_t i = 0; i < r->count; i++) {
      const size_t size = answer(i);
      if (size == 0 || mprof_helper_send(fd, state.messages->reply, size) < 0)
        return;
    }
}

// --- the helpers ---

// Closes the connection to a kept helper, unless the program has closed it.
// ends: the helper reaches the end of its input, even if a child that ran no
// fork handlers has a copy of the descriptor.
static void close_kept(bool ends) {
  if (state.kept.fd < 0)
    return;
  if (ends && mprof_own_fd_is_open(&state.kept))
    mprof_sys_shutdown(state.kept.fd, SHUT_RDWR);
  mprof_own_fd_close(&state.kept);
  state.own.helper.fd = -1;
}

// Returns whether the helper can be asked. Ends a helper whose connection the
// program has closed, or which has ended.
static bool is_running(struct symbolizer *s) {
  if (s->helper.pid == 0 || s != &state.own || state.kept.fd < 0)
    return s->helper.pid != 0;
  struct pollfd p = {.fd = state.kept.fd};
  if (mprof_own_fd_is_open(&state.kept) && mprof_sys_poll(&p, 1, 0) == 0)
    return true;
  close_kept(true);
  mprof_helper_kill(&s->helper);
  return false;
}

// Searches for the program, unless its path is known.
static bool find(struct symbolizer *s) {
  if (s->path != NULL)
    return true;
  const bool is_own = s == &state.own;
  if (!(is_own ? mprof_symbolizer_find_own : mprof_symbolizer_find)(&s->path)) {
    s->path = NULL;
    s->has_failed = true;
    return false;
  }
  if (is_own)
    state.cache = mprof_symbolizer_cache();
  return true;
}

static void report_no_process(int error) {
  char why[64];
  struct mprof_text t = MPROF_TEXT(why);
  mprof_text_errno(&t, error);
  mprof_symbolizer_missing("cannot create a process for llvm-symbolizer: ", why,
                           "");
}

// Returns whether the program can be asked. Starts it if it does not run.
static bool start(struct symbolizer *s) {
  if (is_running(s))
    return true;
  if (!find(s))
    return false;
  if (state.messages == NULL)
    state.messages = mprof_os_map(sizeof(*state.messages));
  s->has_failed = state.messages == NULL;
  if (s->has_failed)
    return false;
  const bool is_own = s == &state.own;
  const int error =
      mprof_helper_start(&s->helper, is_own ? serve_own : serve_llvm,
                         !is_own && mprof_flags.verbosity > 0);
  if (error != 0 && !is_own)
    report_no_process(error);
  s->has_failed = error != 0;
  return error == 0;
}

static void give_up(struct symbolizer *s, long error) {
  s->has_failed = true;
  s->has_timed_out = error == -ETIMEDOUT;
  if (s == &state.own) {
    close_kept(true);
    mprof_helper_kill(&s->helper);
    return;
  }
  mprof_helper_stop(&s->helper);
  mprof_symbolizer_missing(
      s->has_timed_out
          ? "llvm-symbolizer took more than 30 s to look up an address, and is "
            "not asked again"
          : "the helper process of llvm-symbolizer ended unexpectedly",
      "", "");
}

// --- questions ---

static bool may_use(const struct symbolizer *s, const struct mprof_mapping *m) {
  return !s->has_timed_out && !s->has_failed && mprof_maps_is_file(m);
}

// Receives a message. While this thread waits, other threads may interrupt it
// to read its stack.
static long receive(const struct symbolizer *s) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(
      s->helper.fd, state.messages->reply, sizeof(state.messages->reply),
      s == &state.own ? MPROF_OWN_SYMBOLIZER_TIMEOUT_MS
                      : MPROF_SYMBOLIZER_TIMEOUT_MS);
  mprof_thread_set_interruptible(false);
  return n;
}

// Passes the replies in the message of len bytes to fn. Returns the number of
// replies, which are for the addresses at pc, or 0 if the message is invalid.
static size_t take_replies(const mprof_pc *pc, size_t n, size_t len,
                           mprof_names_fn *fn, void *arg) {
  const char *p = state.messages->reply, *end = p + len;
  size_t taken = 0;
  while (p < end && taken < n) {
    // A reply begins with a character for its kind.
    const size_t size = mprof_name_list_size(p + 1, (size_t)(end - p) - 1);
    if (size == 0)
      return 0;
    if (*p == MPROF_REPLY_KNOWN)
      fn(pc[taken], p + 1, arg);
    taken++;
    p += 1 + size;
  }
  return p == end ? taken : 0;
}

// Asks about at most MPROF_REQUEST_ADDRESSES addresses.
static void ask(struct symbolizer *s, const struct mprof_mapping *m,
                const mprof_pc *pc, size_t n, mprof_names_fn *fn, void *arg) {
  struct mprof_symbolizer_request *r = &state.messages->request;
  r->noted_ns = m->noted_ns;
  memcpy(r->file, m->file, sizeof(r->file));
  memcpy(r->build_id, m->build_id, sizeof(r->build_id));
  r->count = (uint32_t)n;
  for (size_t i = 0; i < n; i++)
    r->addresses[i] = pc[i] - 1 - m->bias;
  long len =
      mprof_helper_send(s->helper.fd, r,
                        offsetof(struct mprof_symbolizer_request, addresses) +
                            n * sizeof(r->addresses[0]));
  for (size_t done = 0; done < n && len >= 0;) {
    len = receive(s);
    const size_t taken =
        len <= 0 ? 0 : take_replies(pc + done, n - done, (size_t)len, fn, arg);
    if (taken == 0 && len >= 0)
      len = -EPIPE; // the program has ended, or the message is invalid
    done += taken;
  }
  if (len < 0)
    give_up(s, len);
}

void mprof_symbolizers_recall(const struct mprof_mapping *m, mprof_names_fn *fn,
                              void *arg) {
  const struct symbolizer *own = &state.own;
  if (may_use(own, m) && find(&state.own) && state.cache != NULL)
    mprof_kept_names_read(state.cache, own->path, m, fn, arg);
}

void mprof_symbolizers_ask(const struct mprof_mapping *m, const mprof_pc *pc,
                           size_t n, mprof_names_fn *fn, void *arg) {
  struct symbolizer *own = &state.own;
  for (size_t i = 0; i < n && may_use(own, m) && state.requests < REQUESTS_MAX;
       i += MPROF_REQUEST_ADDRESSES) {
    if (!start(own))
      return;
    const size_t left = n - i;
    state.requests++;
    ask(own, m, pc + i,
        left < MPROF_REQUEST_ADDRESSES ? left : MPROF_REQUEST_ADDRESSES, fn,
        arg);
  }
}

void mprof_symbolizers_ask_llvm(const struct mprof_mapping *m, mprof_pc pc,
                                mprof_names_fn *fn, void *arg) {
  struct symbolizer *llvm = &state.llvm;
  if (may_use(llvm, m) && start(llvm))
    ask(llvm, m, &pc, 1, fn, arg);
}

void mprof_symbolizers_be_patient(bool is) { state.is_patient = is; }

static void stop(struct symbolizer *s) {
  mprof_helper_stop(&s->helper);
  s->path = NULL;
  s->has_failed = false;
}

void mprof_symbolizers_rest(void) {
  struct symbolizer *own = &state.own;
  if (own->helper.pid != 0 && state.kept.fd < 0) {
    // The descriptor moves to a number that the program does not use.
    const int error = mprof_own_fd_set(&state.kept, own->helper.fd);
    own->helper.fd = state.kept.fd;
    if (error != 0)
      mprof_helper_kill(&own->helper);
  }
  state.requests = 0;
  own->has_failed = false;
  if (own->helper.pid == 0)
    mprof_symbolizers_stop();
  else
    stop(&state.llvm);
}

void mprof_symbolizers_stop(void) {
  close_kept(true);
  stop(&state.own);
  stop(&state.llvm);
  if (state.messages != NULL)
    mprof_os_unmap(state.messages, sizeof(*state.messages));
  state.messages = NULL;
  state.requests = 0;
}

void mprof_symbolizers_forget(void) {
  const bool own_timed_out = state.own.has_timed_out;
  const bool llvm_timed_out = state.llvm.has_timed_out;
  close_kept(false);
  mprof_helper_forget(&state.own.helper);
  mprof_helper_forget(&state.llvm.helper);
  memset(&state, 0, sizeof(state));
  state.kept.fd = -1;
  state.own.has_timed_out = own_timed_out;
  state.llvm.has_timed_out = llvm_timed_out;
  mprof_symbolizer_forget();
}
