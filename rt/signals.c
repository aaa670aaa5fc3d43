// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles when a signal comes, if the option dump_on_signal asks for it; else
// no handler is ever installed. After the profile is written the signal does
// what it would have done: the handler that there was before runs, or the
// process ends by the same signal.
//
// The interrupted code may be anything, on a stack that is full or damaged. So
// the writer, which allocates nothing and takes no lock but the runtime's own,
// runs on a stack of its own, starts no symbolizer, and waits for another
// thread's writing some seconds at most.

#include "signals.h"
#include "flags.h"
#include "init.h"
#include "thread_wait.h"
#include "writer.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <ucontext.h>

enum { SIGNALS = 65, STACK_SIZE = 256 << 10, WAIT_MS = 5000 };

static struct {
  // Written before the handler is installed, but for a handler that only runs
  // once.
  struct sigaction previous[SIGNALS];
  char *stack; // for one dump at a time: guarded by writer_lock
} signals;

// --- names ---

static const struct {
  const char *name;
  int number;
} names[] = {
    {"KILL", SIGKILL},     {"STOP", SIGSTOP}, {"TSTP", SIGTSTP},
    {"TTIN", SIGTTIN},     {"TTOU", SIGTTOU}, {"HUP", SIGHUP},
    {"INT", SIGINT},       {"QUIT", SIGQUIT}, {"ILL", SIGILL},
    {"TRAP", SIGTRAP},     {"ABRT", SIGABRT}, {"BUS", SIGBUS},
    {"FPE", SIGFPE},       {"USR1", SIGUSR1}, {"SEGV", SIGSEGV},
    {"USR2", SIGUSR2},     {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},
    {"TERM", SIGTERM},     {"CHLD", SIGCHLD}, {"CONT", SIGCONT},
    {"URG", SIGURG},       {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ},
    {"VTALRM", SIGVTALRM}, {"PROF", SIGPROF}, {"WINCH", SIGWINCH},
    {"IO", SIGIO},         {"PWR", SIGPWR},   {"SYS", SIGSYS},
};

static bool equals(const char *name, const char *s, size_t len) {
  return strlen(name) == len && memcmp(name, s, len) == 0;
}

static int number_of(const char *s, size_t len) {
  int n = 0;
  size_t i = 0;
  for (; i < len && i < 3 && s[i] >= '0' && s[i] <= '9'; i++)
    n = n * 10 + (s[i] - '0');
  if (i == len && n < SIGNALS)
    return n;
  if (len > 3 && memcmp(s, "SIG", 3) == 0) {
    s += 3;
    len -= 3;
  }
  for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    if (equals(names[i].name, s, len))
      return names[i].number;
  return 0;
}

// --- what a signal does when the profile is written ---

// Faults of the interrupted code itself, which come again when it goes on.
static bool is_fault(int sig, const siginfo_t *info) {
  return info->si_code > 0 &&
         (sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL);
}

static bool is_harmless(int sig) { // by default
  return sig == SIGCHLD || sig == SIGCONT || sig == SIGURG || sig == SIGWINCH;
}

static bool ends_process(int sig, const struct sigaction *p) {
  return !(p->sa_flags & SA_SIGINFO) && p->sa_handler == SIG_DFL &&
         !is_harmless(sig);
}

static void end_process(int sig, siginfo_t *info) {
  struct sigaction by_default;
  memset(&by_default, 0, sizeof(by_default));
  by_default.sa_handler = SIG_DFL;
  sigaction(sig, &by_default, NULL);
  // Pending until the handler returns, with the registers that a core file
  // should have. A fault might not come again by itself: another thread may
  // have mended meanwhile what it was about.
  mprof_sys_resend(sig, info);
}

static void call_previous(struct sigaction *p, int sig, siginfo_t *info,
                          void *context) {
  const struct sigaction before = *p;
  const ucontext_t *interrupted = context;
  sigset_t mask;
  sigorset(&mask, &interrupted->uc_sigmask, &before.sa_mask);
  if (!(before.sa_flags & SA_NODEFER))
    sigaddset(&mask, sig);
  if (before.sa_flags & SA_RESETHAND) {
    p->sa_flags &= ~SA_SIGINFO;
    p->sa_handler = SIG_DFL;
  }
  pthread_sigmask(SIG_SETMASK, &mask, NULL);
  if (before.sa_flags & SA_SIGINFO)
    before.sa_sigaction(sig, info, context);
  else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    before.sa_handler(sig);
}

void mprof_signal_pass_on(struct sigaction *previous, int sig, siginfo_t *info,
                          void *context) {
  if (ends_process(sig, previous))
    end_process(sig, info);
  else
    call_previous(previous, sig, info, context);
}

// --- the dump ---

static void call_on_stack(void (*f)(void), char *top) {
  __asm__ volatile("movq %%rsp, %%rbx\n\t"
                   "movq %[top], %%rsp\n\t"
                   "callq *%[f]\n\t"
                   "movq %%rbx, %%rsp"
                   :
                   : [top] "r"(top), [f] "r"(f)
                   : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9",
                     "r10", "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
                     "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                     "xmm12", "xmm13", "xmm14", "xmm15", "memory", "cc");
}

// Keeps the lock if the process is about to end: another thread that a signal
// hits then waits for that, and leaves no half of a file behind.
static void dump(bool is_last, uintptr_t frame) {
  if (!mprof_lock_acquire_within(&mprof_writer_lock, WAIT_MS)) {
    mprof_message_always("wrote nothing: another thread is still writing");
    return;
  }
  mprof_symbolize_turn_off(true);
  mprof_writer_caller = (struct mprof_caller){.frame = frame};
  // This handler is no affair of the program's: a thread in a wait is shown as
  // it was before the signal.
  mprof_tls.interrupted = mprof_interrupted_wait(frame);
  call_on_stack(mprof_write_last_locked, signals.stack + STACK_SIZE);
  mprof_tls.interrupted = NULL;
  mprof_symbolize_turn_off(false);
  if (!is_last)
    mprof_lock_release(&mprof_writer_lock);
}

// --- signals that come inside the profiler ---
//
// They wait in the kernel, which has room for the data of every thread's: the
// signal is sent to the thread again, and blocked where the thread goes on,
// until that has left the profiler. Every signal is blocked in the handler
// itself. Of several real-time signals of one number, which the kernel keeps in
// order, the first one comes last. False: the kernel takes no more.

static bool put_off(int sig, siginfo_t *info, void *context) {
  ucontext_t *interrupted = context;
  if (mprof_sys_resend(sig, info) != 0)
    return false;
  sigaddset(&interrupted->uc_sigmask, sig);
  mprof_tls.put_off |= UINT64_C(1) << (sig - 1);
  return true;
}

void mprof_signals_resume(void) {
  uint64_t which = mprof_tls.put_off;
  // Before they come: each may be put off again.
  mprof_tls.put_off = 0;
  sigset_t set;
  sigemptyset(&set);
  for (; which != 0; which &= which - 1)
    sigaddset(&set, __builtin_ctzll(which) + 1);
  pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// --- the handler ---

static void on_signal(int sig, siginfo_t *info, void *context) {
  int before = errno;
  struct sigaction *previous = &signals.previous[sig];
  bool is_last = ends_process(sig, previous);
  // A child of vfork has its parent's memory, and nothing of its own to tell.
  if (mprof_is_ready && mprof_process_is_own()) {
    if (mprof_guard_enter()) {
      if (mprof_wants_files())
        dump(is_last, (uintptr_t)__builtin_frame_address(0));
      mprof_guard_leave();
    } else if (is_fault(sig, info)) {
      mprof_message_always("wrote nothing: a fault inside the profiler");
    } else if (sig != SIGABRT && put_off(sig, info, context)) {
      return; // abort does not expect it to be blocked
    } else {
      mprof_message_always("wrote nothing: the signal came inside the profiler "
                           "and could not be put off");
    }
  }
  mprof_signal_pass_on(previous, sig, info, context);
  errno = before;
}

// --- start ---

static void complain(const char *what, const char *s, size_t len) {
  char line[256];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, what);
  mprof_text_str(&t, " '");
  mprof_text_clean(&t, s, len);
  mprof_text_str(&t, "' in dump_on_signal");
  mprof_message(line);
}

static void take(int sig, const char *s, size_t len) {
  struct sigaction *p = &signals.previous[sig], now;
  if (sig == SIGKILL || sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN ||
      sig == SIGTTOU || sigaction(sig, NULL, &now) != 0) {
    complain("nothing can be done at signal", s, len);
    return;
  }
  if (now.sa_sigaction == on_signal) // named twice
    return;
  *p = now;
  bool has_function = (p->sa_flags & SA_SIGINFO) ||
                      (p->sa_handler != SIG_DFL && p->sa_handler != SIG_IGN);
  if (!has_function && p->sa_handler == SIG_IGN) {
    complain("the program ignores signal", s, len);
    return;
  }
  struct sigaction ours;
  memset(&ours, 0, sizeof(ours));
  ours.sa_sigaction = on_signal;
  ours.sa_flags = (p->sa_flags & ~(SA_RESETHAND | SA_NODEFER)) | SA_SIGINFO;
  if (!has_function)
    ours.sa_flags |= SA_ONSTACK | SA_RESTART;
  sigfillset(&ours.sa_mask);
  sigaction(sig, &ours, NULL);
}

void mprof_signals_init(void) {
  const char *s = mprof_flags.dump_on_signal;
  if (*s == '\0')
    return;
  int before = errno;
  signals.stack = mprof_os_map(STACK_SIZE);
  if (!signals.stack) {
    mprof_message("no memory for dump_on_signal");
    return;
  }
  while (*s != '\0') {
    size_t len = strcspn(s, "+");
    int sig = number_of(s, len);
    if (sig == 0)
      complain("unknown signal", s, len);
    else
      take(sig, s, len);
    s += len + (s[len] == '+');
  }
  errno = before;
}
