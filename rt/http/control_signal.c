// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the HTTP server when a signal arrives; see control_signal.h.

#include "http/control_signal.h"

#include "http/server.h"
#include "options/flags.h"
#include "process/signal_action.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/tls.h"
#include "thread/threads.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

enum { STACK_BYTES = 128 << 10, NAME_SIZE = 16 };

static int signal_number; // written before the thread starts

// Number of signals that have arrived. A futex.
static atomic_uint arrived;

static void on_signal(int sig) {
  (void)sig;
  atomic_fetch_add(&arrived, 1);
  mprof_sys_futex_wake_all(&arrived); // does not change errno
}

// The name of the thread tells `mprof ctl` which signal to send.
static void *run(void *arg) {
  char name[NAME_SIZE];
  struct mprof_text t = MPROF_TEXT(name);
  mprof_text_str(&t, "mprof-signal-");
  mprof_text_dec(&t, (uint64_t)signal_number);
  mprof_own_thread_begin(MPROF_OWN_CONTROL, name);
  // `mprof ctl` sends the signal to this thread, so that no thread of the
  // program is interrupted.
  mprof_sys_set_signal_mask(mprof_own_thread_mask() &
                            ~(UINT64_C(1) << (signal_number - 1)));
  for (unsigned seen = 0;; seen++) {
    while (atomic_load(&arrived) == seen)
      mprof_sys_futex_wait(&arrived, seen);
    mprof_http_open();
  }
  return arg;
}

static void complain(const char *what) {
  char line[128];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "control_signal has no effect: ");
  mprof_text_str(&t, what);
  mprof_message(line);
}

// Installs the handler. Returns NULL, or why it cannot.
static const char *install(int sig) {
  struct sigaction now,
      ours = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
  if (sig == 0)
    return "unknown signal; use a name such as USR2, or a number";
  if (sig == SIGKILL || sig == SIGSTOP || sigaction(sig, NULL, &now) != 0)
    return "this signal cannot be caught; choose another signal";
  if (now.sa_handler == on_signal) // inherited by a forked child
    return NULL;
  if ((now.sa_flags & SA_SIGINFO) != 0 || now.sa_handler != SIG_DFL)
    return "the program handles or ignores this signal, or dump_on_signal "
           "names it; choose another signal";
  sigfillset(&ours.sa_mask);
  sigaction(sig, &ours, NULL);
  return NULL;
}

void mprof_control_signal_start(void) {
  const char *name = mprof_flags.control_signal;
  const int before = errno;
  if (name[0] == '\0' || !mprof_guard_enter())
    return;
  atomic_store(&arrived, 0);
  signal_number = mprof_signal_number(name, strlen(name));
  const char *why = install(signal_number);
  if (why == NULL && mprof_own_thread_start(run, STACK_BYTES) != 0)
    why = "cannot create a thread";
  if (why != NULL)
    complain(why);
  mprof_guard_leave();
  errno = before;
}
