// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/child.h"

#include "common/helper_fork.h"
#include "process/helper_environment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// --- the watcher of the process group ---
//
// Tells signals that were sent to mprof alone from signals that were sent to
// its process group. A signal does not tell that itself. The watcher is another
// process of the group: it gets the second kind only.

struct group_watcher {
  pid_t pid;
  int ask, answer; // pipes; -1: there is no watcher
};

// An answer takes microseconds. A watcher without an answer is given up.
enum { PATIENCE_MS = 1000 };

// The watcher blocks all signals, so they stay pending until it takes them. It
// ends when mprof ends, because then nobody can ask it.
_Noreturn static void watch(int questions, int answers) {
  static const struct timespec now = {0, 0};
  unsigned char number;
  sigset_t asked;
  while (read(questions, &number, 1) == 1) {
    sigemptyset(&asked);
    sigaddset(&asked, number);
    const unsigned char has_seen = sigtimedwait(&asked, NULL, &now) == number;
    if (write(answers, &has_seen, 1) != 1)
      break;
  }
  _exit(0);
}

static void group_watcher_end(struct group_watcher *w) {
  if (w->ask >= 0)
    close(w->ask);
  if (w->answer >= 0)
    close(w->answer);
  if (w->pid > 0) {
    // It ends by itself, unless it is stopped.
    kill(w->pid, SIGKILL);
    while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
      ;
  }
  *w = (struct group_watcher){.ask = -1, .answer = -1};
}

// Starts the watcher. Call it while all signals are blocked.
static void group_watcher_start(struct group_watcher *w) {
  int questions[2], answers[2];
  *w = (struct group_watcher){.ask = -1, .answer = -1};
  if (pipe2(questions, O_CLOEXEC) != 0)
    return;
  if (pipe2(answers, O_CLOEXEC) != 0) {
    close(questions[0]);
    close(questions[1]);
    return;
  }
  w->pid = helper_fork();
  if (w->pid == 0) {
    close(questions[1]);
    close(answers[0]);
    watch(questions[0], answers[1]);
  }
  close(questions[0]);
  close(answers[1]);
  w->ask = questions[1];
  w->answer = answers[0];
  if (w->pid < 0)
    group_watcher_end(w);
}

// Returns whether the whole group got the signal that mprof is handling.
// Returns false if there is no watcher. Signal handlers may call it if they do
// not interrupt each other.
static bool group_watcher_has_seen(struct group_watcher *w, int number) {
  if (w->ask < 0)
    return false;
  // The kernel may not have sent the signal to the watcher yet. setpgid changes
  // nothing, but it waits for a kernel lock (tasklist_lock) that kill holds
  // until the whole group has the signal.
  setpgid(0, getpgrp());
  // It may be stopped, if the whole group was.
  kill(w->pid, SIGCONT);
  const unsigned char question = (unsigned char)number;
  unsigned char has_seen;
  struct pollfd from = {.fd = w->answer, .events = POLLIN};
  if (write(w->ask, &question, 1) == 1 && poll(&from, 1, PATIENCE_MS) == 1 &&
      read(w->answer, &has_seen, 1) == 1)
    return has_seen;
  close(w->ask);
  w->ask = -1;
  return false;
}

// --- the child ---

enum { SIGNALS = 65 };

static volatile sig_atomic_t receiver; // the program's process, or 0
static struct sigaction former[SIGNALS];

// Only signal handlers use it while the program runs, one at a time.
static struct group_watcher watcher;

// Returns whether the program got the signal itself, because it was sent to the
// whole process group. The program may have left the group. Only kill can send
// a signal to a group. It does no harm to send SIGCONT twice, which also wakes
// the watcher.
static bool has_it_already(int number, const siginfo_t *info) {
  return info->si_code == SI_USER && number != SIGCONT &&
         group_watcher_has_seen(&watcher, number) &&
         getpgid((pid_t)receiver) == getpgrp();
}

// A signal of the terminal goes to the program, too. Pass on other signals
// unless they were sent to the program, too.
static void pass_on(int number, siginfo_t *info, void *context) {
  (void)context;
  const int error = errno;
  if (receiver > 0 && info->si_code > 0)
    // The terminal has sent the signal to the watcher, too. The watcher forgets
    // it now, and does not take the next signal for one to the whole group.
    group_watcher_has_seen(&watcher, number);
  // SIGPIPE of a watcher that somebody has killed comes from mprof itself.
  else if (receiver > 0 && info->si_pid != getpid() &&
           !has_it_already(number, info))
    kill((pid_t)receiver, number);
  errno = error;
}

// Returns whether mprof passes the signal on. It does not if the signal cannot
// be caught, if an error of mprof itself causes the signal, or if the kernel
// sends it because of mprof's own children or use of the terminal.
static bool is_passed(int number) {
  switch (number) {
  case SIGKILL:
  case SIGSTOP:
  case SIGCHLD:
  case SIGTTIN:
  case SIGTTOU:
  case SIGSEGV:
  case SIGBUS:
  case SIGFPE:
  case SIGILL:
  case SIGTRAP:
  case SIGABRT:
  case SIGSYS:
    return false;
  default:
    return true;
  }
}

// What the caller ignores, such as SIGHUP under nohup, stays ignored.
static void catch_signals(void) {
  struct sigaction action = {.sa_sigaction = pass_on,
                             .sa_flags = SA_SIGINFO | SA_RESTART};
  sigfillset(&action.sa_mask); // only one handler may ask the watcher
  for (int i = 1; i < SIGNALS; i++)
    if (is_passed(i) && sigaction(i, NULL, &former[i]) == 0 &&
        former[i].sa_handler != SIG_IGN)
      sigaction(i, &action, NULL);
}

static void restore_signals(void) {
  receiver = 0;
  for (int i = 1; i < SIGNALS; i++)
    if (is_passed(i))
      sigaction(i, &former[i], NULL);
}

// In the new process: runs the program, or sends errno through the pipe.
_Noreturn static void exec_program(char *const *argv, const char *options,
                                   const char *preload, const sigset_t *mask,
                                   const struct sigaction *on_child,
                                   int failure) {
  // mprof may run in a shell that a pager of mprof has started.
  unsetenv(MPROF_HELPER_VARIABLE);
  setenv("MPROF_OPTIONS", options, 1);
  if (preload)
    setenv("LD_PRELOAD", preload, 1);
  sigaction(SIGCHLD, on_child, NULL);
  sigprocmask(SIG_SETMASK, mask, NULL);
  execvp(argv[0], argv);
  const int error = errno;
  // If the pipe is broken, mprof has ended.
  _exit(write(failure, &error, sizeof error) < 0);
}

// Starts the program. Returns 0 or an errno value.
static int start(char *const *argv, const char *options, const char *preload,
                 pid_t *pid) {
  const struct sigaction by_default = {.sa_handler = SIG_DFL};
  struct sigaction on_child;
  sigset_t all, mask;
  int ends[2], sent;
  // If the caller ignores SIGCHLD, the kernel would drop the exit status.
  sigaction(SIGCHLD, &by_default, &on_child);
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &mask);
  // The watcher must not have the pipe, whose end tells that the program runs.
  group_watcher_start(&watcher);
  if (pipe2(ends, O_CLOEXEC) != 0) {
    const int error = errno;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return error;
  }
  *pid = fork();
  int error = *pid < 0 ? errno : 0;
  if (*pid == 0)
    exec_program(argv, options, preload, &mask, &on_child, ends[1]);
  receiver = *pid;
  catch_signals();
  sigprocmask(SIG_SETMASK, &mask, NULL);
  close(ends[1]);
  ssize_t n = -1;
  while (!error && (n = read(ends[0], &sent, sizeof sent)) < 0 &&
         errno == EINTR)
    ;
  if (!error && n == sizeof sent)
    error = sent;
  close(ends[0]);
  return error;
}

// Waits for the end of the program. Whenever the program stops, mprof stops, so
// that a shell sees a stopped job.
static int wait_for(struct child *child) {
  for (;;) {
    if (waitpid(child->pid, &child->status, WUNTRACED) >= 0) {
      if (!WIFSTOPPED(child->status))
        return 0;
      raise(SIGSTOP);
    } else if (errno != EINTR) {
      return errno;
    }
  }
}

int child_run(char *const *argv, const char *options, const char *preload,
              struct child *child) {
  *child = (struct child){0};
  int error = start(argv, options, preload, &child->pid);
  const int waited = child->pid > 0 ? wait_for(child) : 0;
  restore_signals();
  group_watcher_end(&watcher);
  return error ? error : waited;
}

int child_end_as(const struct child *child) {
  if (!WIFSIGNALED(child->status))
    return WEXITSTATUS(child->status);
  // The program has written the core file.
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  signal(WTERMSIG(child->status), SIG_DFL);
  raise(WTERMSIG(child->status));
  return 128 + WTERMSIG(child->status);
}
