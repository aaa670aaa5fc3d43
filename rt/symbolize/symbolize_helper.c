// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts the helper process and sends it questions; see symbolize_helper.h. In
// the helper, symbolize_file.c answers. The writer of a profile and the helper
// exchange these messages:
//
//   writer -> helper   an address in a file
//   helper -> writer   one string for each frame, and an empty string

#define _GNU_SOURCE 1

#include "symbolize/symbolize_helper.h"

#include "symbolize/name_list.h"
#include "symbolize/symbolize_file.h"
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

enum { REPLY_SIZE = 32768 };

static struct {
  struct mprof_helper helper;
  const char *path; // path of llvm-symbolizer; NULL: not searched for yet
  char *reply;      // REPLY_SIZE bytes; in the helper, the reply to send
  struct mprof_file_query *question; // directly after the buffer of the reply
  // The helper cannot give names, for example because llvm-symbolizer was not
  // found. Ask no more questions until mprof_symbolize_helper_stop.
  bool has_no_names;
  bool has_timed_out; // a helper sent no reply in time; never ask again
} state;              // guarded by writer_lock

static const char ended_early[] =
    "the helper process of llvm-symbolizer ended unexpectedly";

// --- in the helper ---

// Makes the reply to the question. Returns false if llvm-symbolizer does not
// work.
static bool answer(void) {
  memset(state.reply, 0, REPLY_SIZE);
  struct mprof_text t = {.buf = state.reply, .cap = REPLY_SIZE - 1};
  return mprof_symbolize_file(state.path, state.question, &t);
}

// Runs in the helper. Returns without a reply if llvm-symbolizer does not work.
static void serve(int fd) {
  while (mprof_helper_receive(fd, state.question, sizeof(*state.question), -1) >
         0)
    if (!answer() ||
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
static long await_reply(void) {
  mprof_thread_set_interruptible(true);
  long n = mprof_helper_receive(state.helper.fd, state.reply, REPLY_SIZE,
                                MPROF_SYMBOLIZER_TIMEOUT_MS);
  mprof_thread_set_interruptible(false);
  return n;
}

static bool get_memory(void) {
  if (state.reply == NULL)
    state.reply = mprof_os_map(REPLY_SIZE + sizeof(*state.question));
  if (state.reply == NULL)
    return false;
  state.question = (struct mprof_file_query *)(state.reply + REPLY_SIZE);
  return true;
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

// Returns whether a helper runs. Starts one if none runs.
static bool has_helper(void) {
  if (state.helper.pid != 0 || !get_memory())
    return state.helper.pid != 0;
  const int error =
      mprof_helper_start(&state.helper, serve, mprof_flags.verbosity > 0);
  if (error != 0) {
    state.has_no_names = true;
    report_no_process(error);
  }
  return error == 0;
}

// --- asking the helper ---

static const char *give_up(const char *why) {
  state.has_no_names = true;
  mprof_helper_stop(&state.helper);
  mprof_symbolizer_missing(why, "", "");
  return NULL;
}

// Stores the question about the return address pc in the mapping m.
static void make_question(mprof_pc pc, const struct mprof_mapping *m) {
  struct mprof_file_query *q = state.question;
  *q = (struct mprof_file_query){.address = pc - 1 - m->bias,
                                 .noted_ns = m->noted_ns};
  memcpy(q->file, m->file, sizeof(m->file));
  memcpy(q->build_id, m->build_id, sizeof(m->build_id));
}

const char *mprof_symbolize_ask(mprof_pc pc, const struct mprof_mapping *m) {
  if (!mprof_maps_is_file(m) || !may_ask() || !has_helper())
    return NULL;
  make_question(pc, m);
  if (mprof_helper_send(state.helper.fd, state.question,
                        sizeof(*state.question)) < 0)
    return give_up(ended_early);
  long n = await_reply();
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
  state.has_no_names = false;
}

void mprof_symbolize_helper_forget(void) {
  const bool has_timed_out = state.has_timed_out;
  mprof_helper_forget(&state.helper);
  memset(&state, 0, sizeof(state));
  state.has_timed_out = has_timed_out;
  mprof_symbolizer_forget();
}
