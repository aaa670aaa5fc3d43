// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes profiles when a signal comes. The option dump_on_signal lists the
// signals; without it no handler is installed. After the profile is written,
// the signal has its normal effect: the previous handler runs, or the signal
// ends the process.
//
// No signal is caught by default, because the program would notice the handler.
// The default action of a signal ends a process at once, even while a thread
// waits in the kernel for a child of vfork or for a dead file server. A handler
// runs only after this wait, so such a process would ignore SIGTERM. The
// handler also needs space on the stack of the thread, and the program finds
// the handler when it asks for the signal's action.
//
// The signal may interrupt any code, on a stack that is full or damaged. So the
// writer runs on a stack of its own and starts no symbolizer. The writer
// allocates nothing and takes no lock except the runtime's own. If another
// thread is writing, the writer waits for that thread, at most WAIT_MS
// milliseconds.

#include "init.h"

#include "exit.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "process/process.h"
#include "process/signal_action.h"
#include "symbolize/symbolize.h"
#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/tls.h"
#include "thread_stacks/thread_stacks.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { SIGNALS = MPROF_SIGNAL_NUMBERS, STACK_SIZE = 256 << 10, WAIT_MS = 5000 };
// A signal that comes at most this many milliseconds after the first one is a
// copy of the first one. For example, timeout(1) sends a signal to the program
// and also to the program's process group.
#define COPY_MS 1000

static struct {
  // The program's previous action for each signal. It is stored before MProf's
  // handler is installed. Later, a stored action changes only if it has
  // SA_RESETHAND and its handler has run.
  struct sigaction previous[SIGNALS];
  char *stack; // the writer's stack, guarded by writer_lock
  // The caught signals that ask the process to end, such as SIGTERM. Their
  // default action, which the program has left in place, ends the process.
  // Signals that report an error of the program's code, such as SIGSEGV, do not
  // belong to this set. Bit s - 1 is for signal s. Written at start.
  uint64_t terminating;
  atomic_int ending; // id of the process that writes before a signal ends it
  // Time at which `ending` was set: milliseconds of CLOCK_MONOTONIC. Written
  // before `ending`.
  _Atomic int64_t ending_since;
} signals;

// --- names ---

// Words of the option dump_on_signal that stand for several signals. For such a
// word, the runtime catches only those signals that have the default action,
// because programs handle or ignore some of the signals.
static const struct {
  const char *word;
  unsigned char signals[8]; // ends with 0
} groups[] = {
    {"none", {0}},
    {"terminate", {SIGHUP, SIGINT, SIGTERM}},
    {"crash", {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP}},
};

static const unsigned char *find_group(const char *s, size_t len) {
  for (size_t i = 0; i < sizeof(groups) / sizeof(groups[0]); i++)
    if (strlen(groups[i].word) == len && memcmp(groups[i].word, s, len) == 0)
      return groups[i].signals;
  return NULL;
}

// --- the effect of a signal after the dump ---

// Returns whether the interrupted code itself caused the signal by a fault.
// Such a fault occurs again when the code continues.
static bool is_fault(int sig, const siginfo_t *info) {
  return info->si_code > 0 &&
         (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
}

// Returns whether the process ends when the handler returns. The first process
// of a container does not end by a signal with the default action, except by a
// fault.
static bool ends_process(int sig, const siginfo_t *info,
                         const struct sigaction *previous) {
  return mprof_signal_ends_process(sig, previous) &&
         (mprof_sys_getpid() != 1 || is_fault(sig, info));
}

static void on_signal(int sig, siginfo_t *info, void *context);

// Returns whether a signal that comes now is a copy of the signal that is
// already ending the process.
static bool is_copy(void) {
  return mprof_clock_ms() - atomic_load(&signals.ending_since) <= COPY_MS;
}

// Handles a signal that arrives while the first one is being handled: ends the
// process, unless the signal is a copy of the first one. A child that was
// forked meanwhile has inherited this handler, but got no signal yet.
static void on_second(int sig, siginfo_t *info, void *context) {
  const int before = errno;
  if (atomic_load(&signals.ending) != mprof_sys_getpid()) {
    on_signal(sig, info, context);
    return;
  }
  if (!is_copy())
    mprof_signal_pass_on(&signals.previous[sig], sig, info, context);
  errno = before;
}

// Installs on_second for the signals that end the process and that on_signal
// still catches. Unblocks these signals unless the program blocked them. A
// second such signal then ends the process at once, although the first one is
// still being handled. on_second does not run on the alternate stack, because
// this stack is in use.
static void let_second_signal_end(const ucontext_t *interrupted) {
  struct sigaction second;
  memset(&second, 0, sizeof(second));
  second.sa_sigaction = on_second;
  second.sa_flags = SA_SIGINFO | SA_RESTART;
  sigfillset(&second.sa_mask);
  sigset_t mask;
  sigfillset(&mask);
  for (int sig = 1; sig < SIGNALS; sig++) {
    struct sigaction now;
    if (!(signals.terminating >> (sig - 1) & 1) ||
        sigaction(sig, NULL, &now) != 0 ||
        (now.sa_sigaction != on_signal && now.sa_sigaction != on_second))
      continue; // other signal, or the program has its own handler by now
    sigaction(sig, &second, NULL);
    if (!sigismember(&interrupted->uc_sigmask, sig))
      sigdelset(&mask, sig);
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void block_all(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, NULL);
}

// --- the dump ---

// Writes the files, unless another thread has written them because the process
// exits. is_last: the process is about to end, so writer_lock stays held. If a
// signal then hits another thread, that thread waits for the lock until the
// process ends, and leaves no incomplete file behind.
static void dump(bool is_last, uintptr_t frame) {
  if (!mprof_lock_acquire_within(&mprof_writer_lock, WAIT_MS)) {
    mprof_message_always("dump_on_signal: wrote nothing, because another "
                         "thread is still writing the files");
    return;
  }
  mprof_symbolize_turn_off(true);
  mprof_writer_caller = (struct mprof_caller){.frame = frame};
  // The signal handler that runs now is the profiler's. So if the signal has
  // interrupted a wait, the profiles show the thread as waiting.
  mprof_tls.interrupted = mprof_interrupted_wait(frame);
  if (!mprof_has_written_at_end())
    mprof_call_on_stack(is_last ? mprof_write_last_locked
                                : mprof_write_snapshot_locked,
                        signals.stack + STACK_SIZE);
  mprof_tls.interrupted = NULL;
  mprof_symbolize_turn_off(false);
  if (!is_last)
    mprof_lock_release(&mprof_writer_lock);
}

// --- signals that interrupt the profiler ---

// Defers a signal until the thread leaves the profiler, because the profiler
// cannot write at this moment. To defer the signal, the handler sends it to its
// own thread again, with the same data. The handler also adds the signal to the
// mask that becomes active when the handler returns. So the signal stays
// pending in the kernel until the thread leaves the profiler, where
// mprof_tls_deliver_signals unblocks the signal. While the handler runs, every
// signal is blocked. Returns false if the kernel cannot queue the signal. If
// other real-time signals of the same number are pending, the deferred signal
// is delivered after them, because the kernel appends it to the queue.
static bool put_off(int sig, siginfo_t *info, void *context) {
  ucontext_t *interrupted = context;
  if (mprof_sys_resend(sig, info) != 0)
    return false;
  sigaddset(&interrupted->uc_sigmask, sig);
  mprof_tls.put_off |= UINT64_C(1) << (sig - 1);
  return true;
}

// --- the handler ---

// Writes the files before a signal ends the process. Writes nothing if an
// earlier signal is already ending the process and sig is in
// signals.terminating. Returns whether sig now ends the process.
static bool dump_before_end(int sig, const ucontext_t *interrupted,
                            uintptr_t frame) {
  const int pid = mprof_sys_getpid();
  const bool is_caught = signals.terminating >> (sig - 1) & 1;
  if (is_caught && atomic_load(&signals.ending) == pid)
    return !is_copy();
  atomic_store(&signals.ending_since, mprof_clock_ms());
  const bool is_second = atomic_exchange(&signals.ending, pid) == pid;
  if (is_caught && is_second)
    return false; // another thread has just begun
  let_second_signal_end(interrupted);
  dump(true, frame);
  // mprof_signal_pass_on will send the signal again. Then the signal must stay
  // pending until the handler returns.
  block_all();
  return true;
}

static void on_signal(int sig, siginfo_t *info, void *context) {
  int before = errno;
  struct sigaction *previous = &signals.previous[sig];
  // Write nothing in a child of vfork, because the child shares its parent's
  // memory and has no data of its own.
  if (mprof_is_ready && mprof_process_is_own()) {
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (mprof_guard_enter()) {
      const bool has_output = mprof_has_output();
      bool is_ignored = false;
      if (has_output && ends_process(sig, info, previous))
        is_ignored = !dump_before_end(sig, context, frame);
      else if (has_output)
        dump(false, frame);
      mprof_guard_leave();
      if (is_ignored) {
        errno = before;
        return;
      }
    } else if (is_fault(sig, info)) {
      mprof_message_always(
          "wrote nothing: a fault occurred inside the profiler");
    } else if (sig != SIGABRT && put_off(sig, info, context)) {
      // The signal was deferred. SIGABRT is never deferred, because a deferred
      // signal is blocked, and abort relies on an unblocked SIGABRT.
      return;
    } else {
      mprof_message_always("wrote nothing: the signal interrupted the profiler "
                           "and could not be handled later");
    }
  }
  if (!mprof_signal_ends_process(sig, previous) ||
      ends_process(sig, info, previous))
    mprof_signal_pass_on(previous, sig, info, context);
  errno = before;
}

// --- start ---

static void complain(const char *before, const char *s, size_t len,
                     const char *after) {
  char line[256];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "dump_on_signal: ");
  mprof_text_str(&t, before);
  mprof_text_str(&t, "signal '");
  mprof_text_clean(&t, s, len);
  mprof_text_str(&t, "'");
  mprof_text_str(&t, after);
  mprof_message(line);
}

static bool is_crash(int sig) {
  const unsigned char *crash = find_group("crash", strlen("crash"));
  return strchr((const char *)crash, sig) != NULL;
}

static bool has_function(const struct sigaction *p) {
  return (p->sa_flags & SA_SIGINFO) ||
         (p->sa_handler != SIG_DFL && p->sa_handler != SIG_IGN);
}

static void catch_signal(int sig, const struct sigaction *previous) {
  struct sigaction ours;
  signals.previous[sig] = *previous;
  memset(&ours, 0, sizeof(ours));
  ours.sa_sigaction = on_signal;
  ours.sa_flags =
      (previous->sa_flags & ~(SA_RESETHAND | SA_NODEFER)) | SA_SIGINFO;
  if (!has_function(previous))
    ours.sa_flags |= SA_ONSTACK | SA_RESTART;
  sigfillset(&ours.sa_mask);
  if (mprof_signal_ends_process(sig, previous) && !is_crash(sig))
    signals.terminating |= UINT64_C(1) << (sig - 1);
  sigaction(sig, &ours, NULL);
}

// Installs the handler for signal sig, which the option dump_on_signal names by
// the len characters at s.
static void take(int sig, const char *s, size_t len) {
  struct sigaction now;
  if (sig == SIGKILL || sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
      sig == SIGTTOU || sigaction(sig, NULL, &now) != 0) {
    complain("", s, len, " cannot be caught; choose another signal");
    return;
  }
  if (now.sa_sigaction == on_signal) // the option lists the signal twice
    return;
  if (!has_function(&now) && now.sa_handler == SIG_IGN)
    complain("the process ignores ", s, len,
             ", so nothing is written when this signal arrives");
  else
    catch_signal(sig, &now);
}

static void take_group(const unsigned char *sig) {
  struct sigaction now;
  for (; *sig != 0; sig++)
    if (sigaction(*sig, NULL, &now) == 0 &&
        mprof_signal_ends_process(*sig, &now))
      catch_signal(*sig, &now);
}

static void take_word(const char *s, size_t len) {
  const unsigned char *group = find_group(s, len);
  int sig = mprof_signal_number(s, len);
  if (group != NULL)
    take_group(group);
  else if (sig == 0)
    complain("unknown ", s, len, "; use a name such as TERM, or a number");
  else
    take(sig, s, len);
}

void mprof_signals_init(void) {
  const char *s = mprof_flags.dump_on_signal;
  if (*s == '\0' || strcmp(s, "none") == 0)
    return;
  int before = errno;
  signals.stack = mprof_os_map(STACK_SIZE);
  if (!signals.stack) {
    mprof_message("dump_on_signal has no effect: the system is out of memory");
    return;
  }
  while (*s != '\0') {
    size_t len = strcspn(s, "+");
    take_word(s, len);
    s += len + (s[len] == '+');
  }
  errno = before;
}
