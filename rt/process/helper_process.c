// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Starts, reaches and ends the helper process; see helper_process.h. This file
// calls the kernel directly for two reasons. libc's fork would run the
// program's pthread_atfork handlers, and libc's waitpid is a cancellation
// point.

#define _GNU_SOURCE 1

#include "process/helper_process.h"

#include "process/helper_environment.h"
#include "sys/arch.h"
#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#ifndef __WALL
#define __WALL 0x40000000 // also waits for children that raise no SIGCHLD
#endif

enum { HELPER_STACK = 1 << 20 };

// Closes all descriptors from first to last that are listed in /proc/self/fd.
// For kernels before 5.9, which lack close_range.
static void close_listed(unsigned first, unsigned last) {
  enum { SIZE = 4096 };
  char buf[SIZE] __attribute__((aligned(8)));
  const int dir = (int)mprof_sys_open("/proc/self/fd",
                                      O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  long n;
  if (dir < 0)
    return;
  while ((n = mprof_sys_getdents(dir, buf, sizeof(buf))) > 0)
    for (long at = 0; at < n;) {
      const struct mprof_dirent *e = (const void *)(buf + at);
      unsigned fd = 0;
      for (const char *p = e->name; *p >= '0' && *p <= '9'; p++)
        fd = fd * 10 + (unsigned)(*p - '0');
      if (e->name[0] != '.' && fd >= first && fd <= last && fd != (unsigned)dir)
        mprof_sys_close((int)fd);
      at += e->length;
    }
  mprof_sys_close(dir);
}

static void close_from(unsigned first, unsigned last) {
  if (mprof_syscall4(SYS_close_range, first, last, 0, 0) != 0)
    close_listed(first, last);
}

// Makes descriptor `as` a copy of fd that stays open on exec. (dup2, which
// arm64 lacks)
static void become(int fd, int as) {
  if (fd != as)
    mprof_syscall4(SYS_dup3, fd, as, 0, 0);
}

// Separates the helper from the program's files. Redirects descriptors 0 to 2
// to /dev/null and closes all other descriptors except fd. keep_stderr:
// descriptor 2 stays unchanged. Also disables core dumps, so that a crash of
// the helper leaves no core file.
static void isolate(int fd, bool keep_stderr) {
  mprof_syscall4(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0);
  long null = mprof_sys_open("/dev/null", O_RDWR | O_CLOEXEC, 0);
  for (int i = 0; i <= 2; i++)
    if (null >= 0 && !(i == 2 && keep_stderr))
      mprof_syscall4(SYS_dup3, null, i, 0, 0);
  if (fd > 3)
    close_from(3, (unsigned)fd - 1);
  close_from((unsigned)fd + 1, ~0u);
}

static void set_signal_mask(const uint64_t *set, uint64_t *old) {
  mprof_syscall4(SYS_rt_sigprocmask, SIG_SETMASK, (long)set, (long)old,
                 sizeof(*set));
}

// Creates a pair of connected sockets. Stores their descriptors in fd[0] and
// fd[1]. The descriptors are above 2 and are closed on exec. Returns 0 or
// -errno.
static int connect_pair(int fd[2]) {
  long r = mprof_syscall4(SYS_socketpair, AF_UNIX,
                          SOCK_SEQPACKET | SOCK_CLOEXEC, 0, (long)fd);
  if (r < 0)
    return (int)r;
  for (int i = 0; i < 2; i++) {
    if (fd[i] > 2)
      continue;
    r = mprof_sys_fcntl(fd[i], F_DUPFD_CLOEXEC, 3);
    mprof_sys_close(fd[i]);
    fd[i] = (int)r;
    if (r < 0) {
      mprof_sys_close(fd[1 - i]);
      return (int)r;
    }
  }
  return 0;
}

struct rseq_area {
  uint32_t fields[8];
} __attribute__((aligned(32)));

static bool gives_memory_back; // used in the helper only

void mprof_helper_give_memory_back(void) { gives_memory_back = true; }

// Moves the area that the kernel writes at each change of the processor (rseq)
// to `area`. Returns false if the present area was not found. The area of glibc
// is near the thread pointer. Its exact place differs between versions, and the
// symbol that tells it would make programs depend on glibc 2.35.
static bool move_rseq(struct rseq_area *area) {
  enum { SIGNATURE = 0x53053053, UNREGISTER = 1, NEAR = 4096 };
  const long middle = (long)__builtin_thread_pointer();
  const long step = sizeof(*area);
  for (long at = middle - NEAR; at < middle + NEAR; at += step)
    if (mprof_syscall4(SYS_rseq, at, step, UNREGISTER, SIGNATURE) != -EINVAL)
      break;
  return mprof_syscall4(SYS_rseq, (long)area, step, 0, SIGNATURE) == 0;
}

// Unmaps all memory except this function and the stack, waits for the helper's
// children, and ends the helper, as leave does. The function has less than 4096
// bytes, calls no other function and uses no variables. page: size of a page.
__attribute__((noinline)) static void wait_alone(char *stack, uintptr_t page) {
  const uintptr_t end = (UINT64_C(1) << MPROF_ADDRESS_BITS) - page;
  const uintptr_t code = (uintptr_t)wait_alone & -page;
  const bool is_low = code < (uintptr_t)stack;
  const uintptr_t low = is_low ? code : (uintptr_t)stack;
  const uintptr_t high = is_low ? (uintptr_t)stack : code;
  const uintptr_t low_end = low + (is_low ? 2 * page : HELPER_STACK);
  const uintptr_t high_end = high + (is_low ? HELPER_STACK : 2 * page);
  mprof_syscall_here(SYS_munmap, 0, (long)low, 0, 0, 0, 0);
  mprof_syscall_here(SYS_munmap, (long)low_end, (long)(high - low_end), 0, 0, 0,
                     0);
  mprof_syscall_here(SYS_munmap, (long)high_end, (long)(end - high_end), 0, 0,
                     0, 0);
  int status = 0;
  long r;
  do
    r = mprof_syscall_here(SYS_wait4, -1, (long)&status, __WALL, 0, 0, 0);
  while (r >= 0 || r == -EINTR);
  for (;;)
    mprof_syscall_here(SYS_exit_group, WEXITSTATUS(status), 0, 0, 0, 0, 0);
}

// Ends the helper after its own children have ended, with the exit status of
// the last one. First closes all descriptors, so that each child reaches the
// end of its input and ends. The helper must wait for its children. If the
// program is a subreaper, a remaining child of the helper would become a child
// of the program.
static void leave(char *stack) {
  close_from(0, ~0u);
  struct rseq_area area = {{0}};
  if (gives_memory_back && move_rseq(&area))
    wait_alone(stack, mprof_sys_page_size());
  int status = 0;
  long r;
  do
    r = mprof_syscall4(SYS_wait4, -1, (long)&status, __WALL, 0);
  while (r >= 0 || r == -EINTR);
  for (;;)
    mprof_syscall4(SYS_exit_group, WEXITSTATUS(status), 0, 0, 0);
}

struct start {
  void (*main)(int fd);
  int fd;
  bool keep_stderr;
  char *stack;
};

// Restores the effect of SIGCHLD in the helper. If the program ignores this
// signal, a child that has ended leaves no exit status.
static void heed_children(void) {
  const struct {
    long handler;
    unsigned long flags, restorer;
    uint64_t mask;
  } action = {.handler = (long)SIG_DFL}; // as the kernel has it
  mprof_syscall4(SYS_rt_sigaction, SIGCHLD, (long)&action, 0,
                 sizeof(action.mask));
}

static void run(void *start) {
  const struct start *s = start;
  isolate(s->fd, s->keep_stderr);
  heed_children();
  s->main(s->fd);
  leave(s->stack);
}

// Calls run(s) on a separate stack, because the stack of the calling thread may
// be too small.
static void run_on(char *stack, struct start *s) {
  mprof_leave_to_stack(run, s, stack + HELPER_STACK);
}

int mprof_helper_start(struct mprof_helper *h, void (*main)(int fd),
                       bool keep_stderr) {
  int fd[2];
  int error = connect_pair(fd);
  if (error != 0)
    return error;
  char *stack = mprof_os_map(HELPER_STACK);
  if (stack == NULL) {
    mprof_sys_close(fd[0]);
    mprof_sys_close(fd[1]);
    return -ENOMEM;
  }
  // Blocks all signals before the helper is forked, because the program's
  // handlers must not run in the helper. The helper may get signals, too. For
  // example, Ctrl-C in the terminal sends a signal to every process of the
  // process group.
  uint64_t all = ~0ull, old = 0;
  set_signal_mask(&all, &old);
  // The helper is created with exit signal 0, so that wait() in the program
  // does not report the helper.
  long pid = mprof_syscall4(SYS_clone, 0, 0, 0, 0);
  if (pid == -EINVAL) // an emulator of processors that knows only fork
    pid = mprof_syscall4(SYS_clone, SIGCHLD, 0, 0, 0);
  if (pid == 0) {
    struct start s = {main, fd[1], keep_stderr, stack};
    run_on(stack, &s);
  }
  set_signal_mask(&old, NULL);
  mprof_os_unmap(stack, HELPER_STACK);
  mprof_sys_close(fd[1]);
  if (pid < 0) {
    mprof_sys_close(fd[0]);
    return (int)pid;
  }
  *h = (struct mprof_helper){.pid = (int)pid, .fd = fd[0]};
  return 0;
}

long mprof_helper_send(int fd, const void *data, size_t len) {
  long r;
  do
    r = mprof_syscall(SYS_sendto, fd, (long)data, (long)len, MSG_NOSIGNAL, 0,
                      0);
  while (r == -EINTR);
  return r;
}

long mprof_helper_receive(int fd, void *data, size_t len, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = POLLIN};
  const struct timespec timeout = {timeout_ms / 1000,
                                   timeout_ms % 1000 * 1000000L};
  long r;
  // After a signal, the poll starts again with the whole timeout. The longer
  // wait is acceptable, because the timeout only has to prevent waiting
  // forever.
  do {
    struct timespec left = timeout; // the kernel changes it
    r = mprof_syscall(SYS_ppoll, (long)&p, 1, timeout_ms < 0 ? 0 : (long)&left,
                      0, 0, 0);
  } while (r == -EINTR);
  if (r == 0)
    return -ETIMEDOUT;
  if (r < 0)
    return r;
  do
    r = mprof_syscall(SYS_recvfrom, fd, (long)data, (long)len, 0, 0, 0);
  while (r == -EINTR);
  return r;
}

// Closes the connection to the helper. Sets h->fd to -1 before closing the
// descriptor. So if another thread forks in between, h->fd in the child is not
// the number of a closed descriptor.
static void disconnect(struct mprof_helper *h) {
  int fd = h->fd;
  h->fd = -1;
  if (fd >= 0)
    mprof_sys_close(fd);
}

// Tells the helper that there are no more messages, and waits until the helper
// and its children have closed the connection. They do this right before they
// end. An empty message tells it, because a closed connection could not be
// waited for. pidfd_open could wait for the end of the helper itself, but a
// seccomp filter of the program may end the process for a system call that it
// does not know.
static void say_end(const struct mprof_helper *h) {
  enum { TIMEOUT_MS = 200 };
  char late; // begin of a reply that nobody has waited for
  if (h->fd >= 0 && mprof_helper_send(h->fd, "", 0) == 0)
    while (mprof_helper_receive(h->fd, &late, sizeof(late), TIMEOUT_MS) > 0)
      ;
}

int mprof_helper_stop(struct mprof_helper *h, int patience_ms) {
  enum { FIRST_NS = 50000, LAST_NS = 50000000, NS_PER_MS = 1000000 };
  if (h->pid == 0)
    return -1;
  say_end(h);
  disconnect(h);
  const int64_t most = (int64_t)patience_ms * NS_PER_MS;
  int64_t waited = 0;
  for (long ns = FIRST_NS; waited < most; ns = ns < LAST_NS ? 2 * ns : ns) {
    int status = 0;
    const long r =
        mprof_syscall4(SYS_wait4, h->pid, (long)&status, __WALL | WNOHANG, 0);
    if (r != 0) {
      h->pid = 0;
      return r > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }
    struct timespec t = {.tv_nsec = ns};
    mprof_syscall4(SYS_nanosleep, (long)&t, 0, 0, 0);
    waited += ns;
  }
  mprof_helper_kill(h);
  return -1;
}

void mprof_helper_kill(struct mprof_helper *h) {
  if (h->pid == 0)
    return;
  disconnect(h);
  // If the helper has ended, or the program has waited for it, its number may
  // belong to another process.
  if (mprof_syscall4(SYS_wait4, h->pid, 0, __WALL | WNOHANG, 0) == 0) {
    mprof_syscall4(SYS_kill, h->pid, SIGKILL, 0, 0);
    while (mprof_syscall4(SYS_wait4, h->pid, 0, __WALL, 0) == -EINTR)
      ;
  }
  h->pid = 0;
}

void mprof_helper_forget(struct mprof_helper *h) {
  if (h->pid == 0)
    return;
  disconnect(h);
  h->pid = 0;
}

// --- in the helper ---

void mprof_helper_look_at_itself(bool may) {
  mprof_syscall4(SYS_prctl, PR_SET_DUMPABLE, may, 0, 0);
}

// The child shares the memory of the helper until it executes the program, and
// the helper waits until then (vfork). The function is not inlined, so that the
// child does not change variables of the helper.
__attribute__((noinline)) void mprof_helper_execute(int fd, const char *path,
                                                    const char *const args[]) {
  enum { ARGS_MAX = 8 };
  static char mark[] = MPROF_HELPER_MARK;
  char *const variables[] = {mark, NULL};
  const char *argv[ARGS_MAX + 2] = {path};
  for (int i = 0; i < ARGS_MAX && args[i] != NULL; i++)
    argv[i + 1] = args[i];
  if (mprof_syscall4(SYS_clone, CLONE_VM | CLONE_VFORK | SIGCHLD, 0, 0, 0) != 0)
    return;
  // If the helper is killed because of a timeout, the program ends, too.
  mprof_syscall4(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0);
  become(fd, 0);
  mprof_syscall4(SYS_execve, (long)path, (long)argv, (long)variables, 0);
  for (;;)
    mprof_syscall4(SYS_exit_group, MPROF_HELPER_CANNOT_RUN, 0, 0, 0);
}
