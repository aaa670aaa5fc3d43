// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of blocking calls: the functions __mprof_f that instrumented code
// calls in place of f. Blocking calls are file locks, direct futex system
// calls, and calls that are recorded only if the option block_kinds names their
// kind. Most of these calls cannot be tried without waiting. So the entry
// counts the whole call as a wait, and unwinds the stack only if the wait is
// sampled or traced.

#include "entry/entry_lock.h"
#include "lock_wait/contention.h"
#include "lock_wait/hooked.h"
#include "sys/abi_words.h"
#include "sys/libc.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

// Returns the outcome of a call whose return value is result. A call that fails
// with EAGAIN did not wait, because EAGAIN means that a nonblocking call would
// have to wait.
static enum mprof_outcome outcome_of(long result) {
  return result == -1 && errno == EAGAIN ? MPROF_NO_WAIT : MPROF_TIMEOUT;
}

#define CALL(Kind, Result, f, Params, Args)                                    \
  MPROF_ENTRY Result __mprof_##f Params {                                      \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_call_begin(&w, MPROF_KIND_##Kind, (uintptr_t)hooked, ENTRY_FRAME);   \
    Result r = NOTED_CANCELLATION_POINT(&w, hooked Args);                      \
    mprof_wait_end(&w, outcome_of((long)r));                                   \
    return r;                                                                  \
  }

// Defines the entry of a function f that reads or writes the file fd.
#define IO_CALL(f, Params, Args)                                               \
  MPROF_ENTRY ssize_t __mprof_##f Params {                                     \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_io_begin(&w, fd, (uintptr_t)hooked, ENTRY_FRAME);                    \
    ssize_t r = NOTED_CANCELLATION_POINT(&w, hooked Args);                     \
    mprof_wait_end(&w, outcome_of(r));                                         \
    return r;                                                                  \
  }

// Defines the entry of a library function f, which returns a negative errno
// value if it fails. The program may be linked without the library of f.
#define LIBRARY_CALL(Kind, Result, f, Params, Args)                            \
  MPROF_ENTRY Result __mprof_##f Params {                                      \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    mprof_call_begin(&w, MPROF_KIND_##Kind, (uintptr_t)hooked, ENTRY_FRAME);   \
    Result r = NOTED_CANCELLATION_POINT(&w, hooked Args);                      \
    mprof_wait_end(&w, r == -EAGAIN ? MPROF_NO_WAIT : MPROF_TIMEOUT);          \
    return r;                                                                  \
  }

typedef const struct timespec *until;

// --- read and write ---

ssize_t __read_chk(int fd, void *buf, size_t n, size_t size);
ssize_t __pread_chk(int fd, void *buf, size_t n, off_t at, size_t size);
ssize_t __pread64_chk(int fd, void *buf, size_t n, off64_t at, size_t size);
IO_CALL(read, (int fd, void *buf, size_t n), (fd, buf, n))
IO_CALL(__read_chk, (int fd, void *buf, size_t n, size_t size),
        (fd, buf, n, size))
IO_CALL(pread, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at))
IO_CALL(pread64, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at))
IO_CALL(__pread_chk, (int fd, void *buf, size_t n, off_t at, size_t size),
        (fd, buf, n, at, size))
IO_CALL(__pread64_chk, (int fd, void *buf, size_t n, off64_t at, size_t size),
        (fd, buf, n, at, size))
IO_CALL(readv, (int fd, const struct iovec *v, int n), (fd, v, n))
IO_CALL(preadv, (int fd, const struct iovec *v, int n, off_t at),
        (fd, v, n, at))
IO_CALL(preadv64, (int fd, const struct iovec *v, int n, off64_t at),
        (fd, v, n, at))
IO_CALL(write, (int fd, const void *buf, size_t n), (fd, buf, n))
IO_CALL(pwrite, (int fd, const void *buf, size_t n, off_t at), (fd, buf, n, at))
IO_CALL(pwrite64, (int fd, const void *buf, size_t n, off64_t at),
        (fd, buf, n, at))
IO_CALL(writev, (int fd, const struct iovec *v, int n), (fd, v, n))
IO_CALL(pwritev, (int fd, const struct iovec *v, int n, off_t at),
        (fd, v, n, at))
IO_CALL(pwritev64, (int fd, const struct iovec *v, int n, off64_t at),
        (fd, v, n, at))
CALL(fsync, int, fsync, (int fd), (fd))
CALL(fsync, int, fdatasync, (int fd), (fd))

// --- sockets ---

ssize_t __recv_chk(int fd, void *buf, size_t n, size_t size, int flags);
ssize_t __recvfrom_chk(int fd, void *buf, size_t n, size_t size, int flags,
                       struct sockaddr *from, socklen_t *len);
CALL(net, ssize_t, recv, (int fd, void *buf, size_t n, int flags),
     (fd, buf, n, flags))
CALL(net, ssize_t, __recv_chk,
     (int fd, void *buf, size_t n, size_t size, int flags),
     (fd, buf, n, size, flags))
CALL(net, ssize_t, recvfrom,
     (int fd, void *buf, size_t n, int flags, struct sockaddr *from,
      socklen_t *len),
     (fd, buf, n, flags, from, len))
CALL(net, ssize_t, __recvfrom_chk,
     (int fd, void *buf, size_t n, size_t size, int flags,
      struct sockaddr *from, socklen_t *len),
     (fd, buf, n, size, flags, from, len))
CALL(net, ssize_t, recvmsg, (int fd, struct msghdr *m, int flags),
     (fd, m, flags))
CALL(net, int, recvmmsg,
     (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
     (fd, m, n, flags, t))
CALL(net, ssize_t, send, (int fd, const void *buf, size_t n, int flags),
     (fd, buf, n, flags))
CALL(net, ssize_t, sendto,
     (int fd, const void *buf, size_t n, int flags, const struct sockaddr *to,
      socklen_t len),
     (fd, buf, n, flags, to, len))
CALL(net, ssize_t, sendmsg, (int fd, const struct msghdr *m, int flags),
     (fd, m, flags))
CALL(net, int, sendmmsg, (int fd, struct mmsghdr *m, unsigned n, int flags),
     (fd, m, n, flags))
CALL(net, int, accept, (int fd, struct sockaddr *from, socklen_t *len),
     (fd, from, len))
CALL(net, int, accept4,
     (int fd, struct sockaddr *from, socklen_t *len, int flags),
     (fd, from, len, flags))
CALL(net, int, connect, (int fd, const struct sockaddr *to, socklen_t len),
     (fd, to, len))
CALL(dns, int, getaddrinfo,
     (const char *node, const char *service, const struct addrinfo *hints,
      struct addrinfo **result),
     (node, service, hints, result))

// --- waiting for several files ---

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, until t, const sigset_t *mask,
                size_t size);
CALL(poll, int, poll, (struct pollfd * fds, nfds_t n, int timeout),
     (fds, n, timeout))
CALL(poll, int, __poll_chk,
     (struct pollfd * fds, nfds_t n, int timeout, size_t size),
     (fds, n, timeout, size))
CALL(poll, int, ppoll,
     (struct pollfd * fds, nfds_t n, until t, const sigset_t *mask),
     (fds, n, t, mask))
CALL(poll, int, __ppoll_chk,
     (struct pollfd * fds, nfds_t n, until t, const sigset_t *mask,
      size_t size),
     (fds, n, t, mask, size))
CALL(poll, int, select,
     (int n, fd_set *in, fd_set *out, fd_set *bad, struct timeval *t),
     (n, in, out, bad, t))
CALL(poll, int, pselect,
     (int n, fd_set *in, fd_set *out, fd_set *bad, until t,
      const sigset_t *mask),
     (n, in, out, bad, t, mask))
CALL(poll, int, epoll_wait,
     (int fd, struct epoll_event *events, int n, int timeout),
     (fd, events, n, timeout))
CALL(poll, int, epoll_pwait,
     (int fd, struct epoll_event *events, int n, int timeout,
      const sigset_t *mask),
     (fd, events, n, timeout, mask))
CALL(poll, int, epoll_pwait2,
     (int fd, struct epoll_event *events, int n, until t, const sigset_t *mask),
     (fd, events, n, t, mask))

// --- time and children ---

int thrd_sleep(until t, struct timespec *rest);
CALL(sleep, int, nanosleep, (until t, struct timespec *rest), (t, rest))
CALL(sleep, int, clock_nanosleep,
     (clockid_t clock, int flags, until t, struct timespec *rest),
     (clock, flags, t, rest))
CALL(sleep, int, usleep, (useconds_t us), (us))
CALL(sleep, unsigned, sleep, (unsigned s), (s))
CALL(sleep, int, thrd_sleep, (until t, struct timespec *rest), (t, rest))
CALL(child, pid_t, wait, (int *status), (status))
CALL(child, pid_t, waitpid, (pid_t pid, int *status, int options),
     (pid, status, options))
CALL(child, pid_t, wait3, (int *status, int options, struct rusage *usage),
     (status, options, usage))
CALL(child, pid_t, wait4,
     (pid_t pid, int *status, int options, struct rusage *usage),
     (pid, status, options, usage))
CALL(child, int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options),
     (type, id, info, options))

// --- messages and semaphores of System V, queues of POSIX ---

CALL(ipc, ssize_t, msgrcv, (int id, void *m, size_t n, long type, int flags),
     (id, m, n, type, flags))
CALL(ipc, int, msgsnd, (int id, const void *m, size_t n, int flags),
     (id, m, n, flags))
CALL(ipc, int, semop, (int id, struct sembuf *ops, size_t n), (id, ops, n))
CALL(ipc, int, semtimedop, (int id, struct sembuf *ops, size_t n, until t),
     (id, ops, n, t))
CALL(ipc, ssize_t, mq_receive, (mqd_t q, char *m, size_t n, unsigned *priority),
     (q, m, n, priority))
CALL(ipc, ssize_t, mq_timedreceive,
     (mqd_t q, char *restrict m, size_t n, unsigned *restrict priority,
      const struct timespec *restrict t),
     (q, m, n, priority, t))
CALL(ipc, int, mq_send, (mqd_t q, const char *m, size_t n, unsigned priority),
     (q, m, n, priority))
CALL(ipc, int, mq_timedsend,
     (mqd_t q, const char *m, size_t n, unsigned priority, until t),
     (q, m, n, priority, t))

// --- signals ---

CALL(ipc, int, sigwait, (const sigset_t *set, int *signal), (set, signal))
CALL(ipc, int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
CALL(ipc, int, sigtimedwait, (const sigset_t *set, siginfo_t *info, until t),
     (set, info, t))
CALL(ipc, int, pause, (void), ())
CALL(ipc, int, sigsuspend, (const sigset_t *mask), (mask))

// --- liburing ---

int io_uring_enter(unsigned fd, unsigned submit, unsigned complete,
                   unsigned flags, sigset_t *mask);
int io_uring_enter2(unsigned fd, unsigned submit, unsigned complete,
                    unsigned flags, sigset_t *mask, size_t size);
int io_uring_submit_and_wait(void *ring, unsigned n);
int io_uring_submit_and_wait_timeout(void *ring, void *cqe, unsigned n, void *t,
                                     sigset_t *mask);
int io_uring_wait_cqes(void *ring, void *cqe, unsigned n, void *t,
                       sigset_t *mask);
int io_uring_wait_cqe_timeout(void *ring, void *cqe, void *t);
int __io_uring_get_cqe(void *ring, void *cqe, unsigned submit, unsigned n,
                       sigset_t *mask);
LIBRARY_CALL(uring, int, io_uring_enter,
             (unsigned fd, unsigned submit, unsigned complete, unsigned flags,
              sigset_t *mask),
             (fd, submit, complete, flags, mask))
LIBRARY_CALL(uring, int, io_uring_enter2,
             (unsigned fd, unsigned submit, unsigned complete, unsigned flags,
              sigset_t *mask, size_t size),
             (fd, submit, complete, flags, mask, size))
LIBRARY_CALL(uring, int, io_uring_submit_and_wait, (void *ring, unsigned n),
             (ring, n))
LIBRARY_CALL(uring, int, io_uring_submit_and_wait_timeout,
             (void *ring, void *cqe, unsigned n, void *t, sigset_t *mask),
             (ring, cqe, n, t, mask))
LIBRARY_CALL(uring, int, io_uring_wait_cqes,
             (void *ring, void *cqe, unsigned n, void *t, sigset_t *mask),
             (ring, cqe, n, t, mask))
LIBRARY_CALL(uring, int, io_uring_wait_cqe_timeout,
             (void *ring, void *cqe, void *t), (ring, cqe, t))
LIBRARY_CALL(uring, int, __io_uring_get_cqe,
             (void *ring, void *cqe, unsigned submit, unsigned n,
              sigset_t *mask),
             (ring, cqe, submit, n, mask))

// --- file locks, which can be tried without waiting ---

static enum mprof_outcome file_outcome(int r) {
  return r == 0 ? MPROF_GOT : errno == EINTR ? MPROF_TIMEOUT : MPROF_NO_WAIT;
}

// Returns whether an attempt to take a file lock has failed because the lock is
// held. `before` is the value of errno before the attempt. Restores errno to
// this value.
static bool is_held(int before) {
  bool held = errno == EAGAIN || errno == EACCES;
  errno = before;
  return held;
}

MPROF_ENTRY int __mprof_flock(int fd, int op) {
  struct mprof_wait w;
  const HOOKED_TYPE(flock) hooked = LOAD_HOOKED(flock);
  const int before = errno;
  if ((op & (LOCK_NB | LOCK_UN)) != 0)
    return hooked(fd, op);
  if (hooked(fd, op | LOCK_NB) == 0)
    return 0;
  if (!is_held(before))
    return hooked(fd, op);
  mprof_call_begin(&w, MPROF_KIND_file, (uintptr_t)hooked, ENTRY_FRAME);
  int r = NOTED_CANCELLATION_POINT(&w, hooked(fd, op));
  mprof_wait_end(&w, file_outcome(r));
  return r;
}

#define FCNTL(f)                                                               \
  MPROF_ENTRY int __mprof_##f(int fd, int cmd, ...) {                          \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    const int before = errno;                                                  \
    va_list ap;                                                                \
    va_start(ap, cmd);                                                         \
    void *arg = va_arg(ap, void *);                                            \
    va_end(ap);                                                                \
    int try = cmd == F_SETLKW ? F_SETLK : F_OFD_SETLK;                         \
    if (cmd != F_SETLKW && cmd != F_OFD_SETLKW)                                \
      return hooked(fd, cmd, arg);                                             \
    pthread_testcancel(); /* the attempt is no cancellation point */           \
    if (hooked(fd, try, arg) == 0)                                             \
      return 0;                                                                \
    if (!is_held(before))                                                      \
      return hooked(fd, cmd, arg);                                             \
    mprof_call_begin(&w, MPROF_KIND_file, (uintptr_t)hooked, ENTRY_FRAME);     \
    int r = NOTED_CANCELLATION_POINT(&w, hooked(fd, cmd, arg));                \
    mprof_wait_end(&w, file_outcome(r));                                       \
    return r;                                                                  \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

#define LOCKF(f, Offset)                                                       \
  MPROF_ENTRY int __mprof_##f(int fd, int cmd, Offset len) {                   \
    struct mprof_wait w;                                                       \
    const HOOKED_TYPE(f) hooked = LOAD_HOOKED(f);                              \
    const int before = errno;                                                  \
    if (cmd != F_LOCK)                                                         \
      return hooked(fd, cmd, len);                                             \
    pthread_testcancel(); /* the attempt is no cancellation point */           \
    if (hooked(fd, F_TLOCK, len) == 0)                                         \
      return 0;                                                                \
    if (!is_held(before))                                                      \
      return hooked(fd, cmd, len);                                             \
    mprof_call_begin(&w, MPROF_KIND_file, (uintptr_t)hooked, ENTRY_FRAME);     \
    int r = NOTED_CANCELLATION_POINT(&w, hooked(fd, cmd, len));                \
    mprof_wait_end(&w, file_outcome(r));                                       \
    return r;                                                                  \
  }
LOCKF(lockf, off_t)
LOCKF(lockf64, off64_t)

// --- system calls by number ---

// Returns whether op is a futex operation that waits.
static bool waits(long op) {
  switch (op & FUTEX_CMD_MASK) {
  case FUTEX_WAIT:
  case FUTEX_WAIT_BITSET:
  case FUTEX_LOCK_PI:
  case FUTEX_LOCK_PI2:
  case FUTEX_WAIT_REQUEUE_PI:
    return true;
  }
  return false;
}

// Returns whether op is a futex operation that only wakes.
static bool wakes(long op) {
  const long command = op & FUTEX_CMD_MASK;
  return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET;
}

// Entry of libc's syscall function. Reads six arguments even if the system call
// has fewer, because libc's syscall also reads six. A wake of one thread is
// charged as the release of a lock if the word has fallen (waiters.h): a latch
// also counts down, but wakes all.
MPROF_ENTRY long __mprof_syscall(long nr, ...) {
  struct mprof_wait w;
  struct mprof_release release;
  const HOOKED_TYPE(syscall) hooked = LOAD_HOOKED(syscall);
  long a[6];
  va_list ap;
  va_start(ap, nr);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(ap, long);
  va_end(ap);
  if (nr == SYS_futex && waits(a[1])) {
    mprof_futex_begin(&w, (uintptr_t)hooked, ENTRY_FRAME, (uintptr_t)a[0],
                      (uint32_t)a[2]);
    const long r =
        CANCELLATION_POINT(mprof_wait_cancelled, &w,
                           hooked(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
    mprof_wait_end(&w, r == 0 ? MPROF_GOT : outcome_of(r));
    return r;
  }
  if (nr == SYS_futex && wakes(a[1]) &&
      mprof_waiters_word((const void *)a[0]) != 0) {
    mprof_release_begin(&release, (uintptr_t)a[0],
                        a[2] == 1 ? MPROF_WAKES_ONE : MPROF_WAKES_ALL,
                        (uintptr_t)hooked, ENTRY_FRAME);
    const long r = hooked(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    if (a[2] == 1 && release.charge.has_fallen)
      mprof_release_end(&release, r > 0, MPROF_KIND_futex, (uintptr_t)hooked,
                        ENTRY_FRAME);
    return r;
  }
  if (nr != SYS_io_uring_enter)
    return hooked(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
  mprof_call_begin(&w, MPROF_KIND_uring, (uintptr_t)hooked, ENTRY_FRAME);
  const long r = NOTED_CANCELLATION_POINT(
      &w, hooked(nr, a[0], a[1], a[2], a[3], a[4], a[5]));
  mprof_wait_end(&w, outcome_of(r));
  return r;
}
