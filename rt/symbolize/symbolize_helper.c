// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the helper process and sends it questions; see symbolize_helper.h. In
// the helper, symbolize_file.c answers for modules in files, and symbolize_pc.c
// for mapped code that is in no file. The writer of a profile and the helper
// exchange these messages:
//
//   writer -> helper   an address in a file, or a return address
//   helper -> writer   one string for each frame, and an empty string

#define _GNU_SOURCE 1

#include "symbolize/symbolize_helper.h"

#include "symbolize/name_list.h"
#include "symbolize/symbolize_file.h"
#include "symbolize/symbolize_pc.h"
#include "symbolize/symbolizer_path.h"
#include "sys/flags.h"
#include "sys/helper_process.h"
#include "sys/message.h"
#include "sys/os_memory.h"
#include "thread/threads.h"

#include <errno.h>
#include <string.h>

#ifndef MPROF_SYMBOLIZER_TIMEOUT_MS
// Time limit for the helper's reply for one address. If the program is large,
// the helper needs seconds to read its debug information. Tests set a shorter
// time.
#define MPROF_SYMBOLIZER_TIMEOUT_MS 30000
#endif

enum {
  REPLY_SIZE = 32768,
  // Time limits for a helper that takes the loader's lock to become ready, in
  // the first and in the last try. Each try waits twice as long as the previous
  // try. All tries together wait 1875 ms.
  FIRST_READY_MS = 125,
  LAST_READY_MS = 1000,
};

// A question to the helper: a return address, or an address in a file. The
// length of the message tells which of the two it is.
union question {
  mprof_pc pc;
  struct mprof_file_query file;
};

static struct {
  struct mprof_helper helper;
  const char *path; // path of llvm-symbolizer; NULL: not searched for yet
  char *reply;      // REPLY_SIZE bytes; in the helper, the reply to send
  union question *question; // stored directly after the buffer of the reply
  bool has_loader; // the helper can take the lock of the dynamic loader
  // The helper cannot give names, for example because llvm-symbolizer was not
  // found. Ask no more questions until mprof_symbolize_helper_stop.
  bool has_no_names;
  // The helper could not take the loader's lock. Do not try again until
  // mprof_symbolize_helper_stop.
  bool has_no_loader;
  bool has_timed_out; // a helper sent no reply in time; never ask again
} state;              // guarded by writer_lock

static const char ended_early[] =
    "the helper process of llvm-symbolizer ended unexpectedly";

// --- in the helper ---

// Makes the reply to the question, which has len bytes. Returns false if
// llvm-symbolizer does not work.
static bool answer(size_t len) {
  memset(state.reply, 0, REPLY_SIZE);
  if (len == sizeof(state.question->pc)) {
    mprof_symbolize_pc(state.question->pc, state.reply, REPLY_SIZE - 1);
    return true;
  }
  struct mprof_text t = {.buf = state.reply, .cap = REPLY_SIZE - 1};
  return mprof_symbolize_file(state.path, &state.question->file, &t);
}

// Runs in the helper. Returns without a reply if llvm-symbolizer does not work.
static void serve(int fd) {
  long len;
  if (state.has_loader)
    mprof_symbolize_pc_try();
  if (mprof_helper_send(fd, "", 1) < 0)
    return;
  if (state.has_loader)
    mprof_symbolize_pc_init(state.path);
  while ((len = mprof_helper_receive(fd, state.question,
                                     sizeof(*state.question), -1)) > 0)
    if (!answer((size_t)len) ||
        mprof_helper_send(fd, state.reply,
                          mprof_name_list_size(state.reply, REPLY_SIZE)) < 0)
      return;
}

// --- starting the helper ---

static void report_no_process(int error) {
  char why[64];
  struct mprof_text t = MPROF_TEXT(why);
  mprof_text_errno(&t, error);
  mprof_symbolizer_missing("cannot create a process for llvm-symbolizer: ", why,
                           "");
}

// Receives a reply by mprof_helper_receive. While this thread waits, other
// threads may interrupt it to read its stack.
static long await_reply(int fd, void *data, size_t len, int timeout_ms) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(fd, data, len, timeout_ms);
  mprof_thread_set_interruptible(false);
  return n;
}

static bool get_memory(void) {
  if (state.reply == NULL)
    state.reply = mprof_os_map(REPLY_SIZE + sizeof(*state.question));
  if (state.reply == NULL)
    return false;
  state.question = (union question *)(state.reply + REPLY_SIZE);
  return true;
}

// Starts the helper, in several tries. If with_loader is true, the helper first
// takes the loader's lock. If another thread held this lock when the process
// was copied (forked), the helper hangs. In this case the next try copies the
// process again, because the lock may be free by then.
static void start_helper(bool with_loader) {
  state.has_loader = with_loader;
  for (int wait_ms = FIRST_READY_MS; wait_ms <= LAST_READY_MS; wait_ms *= 2) {
    int error =
        mprof_helper_start(&state.helper, serve, mprof_flags.verbosity > 0);
    if (error != 0) {
      state.has_no_names = true;
      report_no_process(error);
      return;
    }
    char ready;
    long n = await_reply(state.helper.fd, &ready, 1,
                         with_loader ? wait_ms : MPROF_SYMBOLIZER_TIMEOUT_MS);
    if (n == 1)
      return;
    mprof_helper_kill(&state.helper);
    if (n != -ETIMEDOUT) {
      state.has_no_names = true;
      mprof_symbolizer_missing(ended_early, "", "");
      return;
    }
  }
  state.has_no_loader = true;
  mprof_symbolizer_missing(
      "another thread holds the lock of the dynamic loader, so MProf cannot "
      "start llvm-symbolizer",
      "", "");
}

// Returns whether questions to the helper are allowed. Searches for
// llvm-symbolizer before the first question.
static bool may_ask(void) {
  if (state.has_timed_out || state.has_no_names)
    return false;
  if (state.path == NULL && !mprof_symbolizer_find(&state.path))
    state.has_no_names = true;
  return !state.has_no_names;
}

// Returns whether a helper runs that can answer the next question. with_loader:
// the question needs the loader's lock. Starts a helper if none runs, or if the
// running helper cannot take the loader's lock.
static bool has_helper(bool with_loader) {
  if (with_loader && state.has_no_loader)
    return false;
  if (state.helper.pid != 0 && with_loader && !state.has_loader)
    mprof_helper_stop(&state.helper);
  if (state.helper.pid == 0 && get_memory())
    start_helper(with_loader);
  return state.helper.pid != 0;
}

// --- asking the helper ---

static const char *give_up(const char *why) {
  state.has_no_names = true;
  mprof_helper_stop(&state.helper);
  mprof_symbolizer_missing(why, "", "");
  return NULL;
}

// Returns whether m maps a file. Other mappings have names such as [anon], or
// names of shared memory, which look like paths. A program may copy its code
// into shared memory.
static bool is_file(const struct mprof_mapping *m) {
  static const char *const memory[] = {"/memfd:", "/dev/zero", "/SYSV",
                                       "/anon_hugepage"};
  for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
    if (strncmp(m->file, memory[i], strlen(memory[i])) == 0)
      return false;
  return m->file[0] == '/';
}

// Returns whether only sanitizer_common can symbolize addresses in m, so that
// the helper needs the loader's lock. True if the program has sanitizer_common,
// m is still mapped, and one of these conditions holds: the code in m is in no
// file, the path of its file is too long for m->file, or only the program's
// sanitizer can run llvm-symbolizer.
static bool needs_loader(const struct mprof_mapping *m, bool is_mapped) {
  return mprof_symbolize_pc_works && is_mapped &&
         (!is_file(m) || state.path[0] == '\0');
}

// Stores in state.question the question about the return address pc in the
// mapping m, and returns the question's length. If with_loader is true, the
// question is pc itself. Otherwise the question has the file and the address in
// the file.
static size_t make_question(mprof_pc pc, const struct mprof_mapping *m,
                            bool with_loader) {
  union question *q = state.question;
  if (with_loader) {
    q->pc = pc;
    return sizeof(q->pc);
  }
  q->file = (struct mprof_file_query){.address = pc - 1 - m->bias,
                                      .noted_ns = m->noted_ns};
  memcpy(q->file.file, m->file, sizeof(m->file));
  memcpy(q->file.build_id, m->build_id, sizeof(m->build_id));
  return sizeof(q->file);
}

const char *mprof_symbolize_ask(mprof_pc pc, const struct mprof_mapping *m,
                                bool is_mapped) {
  if (strncmp(m->file, "[v", 2) == 0 || !may_ask())
    return NULL;
  const bool with_loader = needs_loader(m, is_mapped);
  // Without llvm-symbolizer's path, only the program's sanitizer can answer.
  if ((!with_loader && state.path[0] == '\0') || !has_helper(with_loader))
    return NULL;
  size_t len = make_question(pc, m, with_loader);
  if (mprof_helper_send(state.helper.fd, state.question, len) < 0)
    return give_up(ended_early);
  long n = await_reply(state.helper.fd, state.reply, REPLY_SIZE,
                       MPROF_SYMBOLIZER_TIMEOUT_MS);
  if (n == -ETIMEDOUT) {
    state.has_timed_out = true;
    return give_up("llvm-symbolizer took more than 30 s to look up an address, "
                   "and is not asked again");
  }
  if (n <= 0 || state.reply[n - 1] != '\0')
    return give_up(ended_early);
  return state.reply;
}

void mprof_symbolize_helper_stop(void) {
  mprof_helper_stop(&state.helper);
  if (state.reply != NULL)
    mprof_os_unmap(state.reply, REPLY_SIZE + sizeof(*state.question));
  state.reply = NULL;
  state.path = NULL;
  state.has_no_names = state.has_no_loader = false;
}

void mprof_symbolize_helper_forget(void) {
  const bool has_timed_out = state.has_timed_out;
  mprof_helper_forget(&state.helper);
  memset(&state, 0, sizeof(state));
  state.has_timed_out = has_timed_out;
  mprof_symbolizer_forget();
}
