// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes Linux system calls directly, without libc. The wrappers of
// libc set errno, and some are cancellation points. But a hook must neither
// change errno nor be cancelled.

#include "sys/os.h"

#include "sys/stats.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#ifndef STATX_TYPE // musl before 1.2.4
#include <linux/stat.h>
#endif

long mprof_sys_open(const char *path, int flags, int mode) {
  return mprof_syscall(SYS_openat, AT_FDCWD, (long)path, flags, mode, 0, 0);
}

long mprof_sys_read(int fd, void *buf, size_t len) {
  return mprof_syscall3(SYS_read, fd, (long)buf, (long)len);
}

long mprof_sys_pread(int fd, void *buf, size_t len, uint64_t offset) {
  return mprof_syscall4(SYS_pread64, fd, (long)buf, (long)len, (long)offset);
}

long mprof_sys_write(int fd, const void *buf, size_t len) {
  return mprof_syscall3(SYS_write, fd, (long)buf, (long)len);
}

long mprof_sys_close(int fd) { return mprof_syscall3(SYS_close, fd, 0, 0); }

long mprof_sys_fcntl(int fd, int cmd, long arg) {
  return mprof_syscall3(SYS_fcntl, fd, cmd, arg);
}

long mprof_sys_rename(const char *from, const char *to) {
  return mprof_syscall(SYS_renameat, AT_FDCWD, (long)from, AT_FDCWD, (long)to,
                       0, 0);
}

// --- calls that a seccomp filter may refuse ---

// Returns whether a system call failed because a seccomp filter refuses the
// call, or because the kernel does not have the call. EPERM and EACCES may have
// other reasons, too.
static bool is_refused(long result) {
  return result == -EPERM || result == -EACCES || result == -ENOSYS;
}

// Counts, in the statistic `unchecked`, that a seccomp filter has kept the
// runtime from checking an output file.
static void leave_out_check(void) { mprof_stat_add(MPROF_STAT_unchecked, 1); }

// Stores mode, device, inode, number of links, size and time of the last change
// of a file in *st. An empty
// path means the file of descriptor fd. Tries three system calls that read
// these values, because a seccomp filter may allow only some of the calls.
// Returns 0 or -errno.
static long stat_at(int fd, const char *path, int flags, struct stat *st) {
  flags |= *path == '\0' ? AT_EMPTY_PATH : 0;
  long r = *path == '\0' ? mprof_syscall3(SYS_fstat, fd, (long)st, 0) : -ENOSYS;
  if (is_refused(r))
    r = mprof_syscall(SYS_newfstatat, fd, (long)path, (long)st, flags, 0, 0);
  if (!is_refused(r))
    return r;
  struct statx x;
  if (mprof_syscall(SYS_statx, fd, (long)path, flags,
                    STATX_TYPE | STATX_INO | STATX_NLINK | STATX_CTIME |
                        STATX_SIZE,
                    (long)&x, 0) != 0)
    return r;
  st->st_mode = x.stx_mode;
  st->st_ino = x.stx_ino;
  st->st_nlink = x.stx_nlink;
  st->st_dev = makedev(x.stx_dev_major, x.stx_dev_minor);
  st->st_size = (off_t)x.stx_size;
  st->st_ctim = (struct timespec){x.stx_ctime.tv_sec, x.stx_ctime.tv_nsec};
  return 0;
}

// Some file systems do not support RENAME_NOREPLACE, and some seccomp filters
// refuse renameat2. The fallback is link, because link also fails if the new
// name exists. If neither works, the function checks whether the new name
// exists and then uses a plain rename. Another process may create the file
// between the check and the rename.
long mprof_sys_rename_new(const char *from, const char *to) {
  long first = mprof_syscall(SYS_renameat2, AT_FDCWD, (long)from, AT_FDCWD,
                             (long)to, 1 /*RENAME_NOREPLACE*/, 0);
  if (first != -EINVAL && !is_refused(first))
    return first;
  long r =
      mprof_syscall(SYS_linkat, AT_FDCWD, (long)from, AT_FDCWD, (long)to, 0, 0);
  if (r == 0)
    return mprof_sys_unlink(from);
  if (r == -EEXIST || mprof_sys_exists(to))
    return -EEXIST;
  r = mprof_sys_rename(from, to);
  if (r == 0 && first != -EINVAL)
    leave_out_check();
  return r;
}

// Returns true for a symbolic link even if its target does not exist.
bool mprof_sys_exists(const char *path) {
  struct stat st;
  long r = stat_at(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, &st);
  if (!is_refused(r))
    return r == 0;
  r = mprof_sys_open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
  if (r >= 0)
    mprof_sys_close((int)r);
  return r >= 0;
}

long mprof_sys_ftruncate(int fd, long len) {
  return mprof_syscall3(SYS_ftruncate, fd, len, 0);
}

long mprof_sys_flock(int fd) {
  return mprof_syscall3(SYS_flock, fd, LOCK_EX | LOCK_NB, 0);
}

long mprof_sys_unlink(const char *path) {
  return mprof_syscall3(SYS_unlinkat, AT_FDCWD, (long)path, 0);
}

long mprof_sys_readlink(const char *path, char *buf, size_t len) {
  return mprof_syscall(SYS_readlinkat, AT_FDCWD, (long)path, (long)buf,
                       (long)len, 0, 0);
}

// Returns whether the descriptor is open. Called if a seccomp filter refuses
// all system calls that identify the descriptor's file.
static bool is_open(int fd) {
  leave_out_check();
  return mprof_sys_fcntl(fd, F_GETFD, 0) >= 0;
}

long mprof_sys_fstat_id(int fd, uint64_t *dev, uint64_t *ino) {
  struct stat st = {.st_dev = 0, .st_ino = 0};
  long r = stat_at(fd, "", 0, &st);
  if (mprof_unlikely(r != 0) && !(is_refused(r) && is_open(fd)))
    return r;
  *dev = st.st_dev;
  *ino = st.st_ino;
  return 0;
}

long mprof_sys_path_id(const char *path, uint64_t *dev, uint64_t *ino) {
  struct stat st;
  long r = stat_at(AT_FDCWD, path, 0, &st);
  if (r == 0) {
    *dev = st.st_dev;
    *ino = st.st_ino;
  }
  return r;
}

long mprof_sys_file_state(const char *path, struct mprof_file_state *s) {
  struct stat st;
  const long r = stat_at(AT_FDCWD, path, 0, &st);
  if (r == 0) {
    s->changed_ns =
        st.st_ctim.tv_sec * INT64_C(1000000000) + st.st_ctim.tv_nsec;
    s->size = (uint64_t)st.st_size;
    s->inode = st.st_ino;
  }
  return r;
}

bool mprof_sys_has_id(int fd, uint64_t dev, uint64_t ino) {
  struct stat st;
  long r = stat_at(fd, "", 0, &st);
  return is_refused(r) ? is_open(fd)
                       : r == 0 && st.st_dev == dev && st.st_ino == ino;
}

long mprof_sys_mode(int fd, const char *path) {
  struct stat st;
  long r = stat_at(fd, path, 0, &st);
  return r == 0 ? (long)st.st_mode : r;
}

bool mprof_sys_is_terminal(int fd) {
  char termios[64]; // at least as large as the kernel's struct termios
  return mprof_syscall3(SYS_ioctl, fd, TCGETS, (long)termios) == 0;
}

uint64_t mprof_sys_links(int fd, const char *path) {
  struct stat st = {.st_nlink = 0};
  return stat_at(fd, path, 0, &st) == 0 ? st.st_nlink : 0;
}

long mprof_sys_reserve(int fd, uint64_t offset, uint64_t bytes) {
  enum { KEEP_SIZE = 1 }; // value of FALLOC_FL_KEEP_SIZE
  return mprof_syscall(SYS_fallocate, fd, KEEP_SIZE, (long)offset, (long)bytes,
                       0, 0);
}

long mprof_sys_rewind(int fd) {
  return mprof_syscall3(SYS_lseek, fd, 0, SEEK_SET);
}

long mprof_sys_seek(int fd, uint64_t offset) {
  const long at = mprof_syscall3(SYS_lseek, fd, (long)offset, SEEK_SET);
  return at < 0 ? at : 0;
}

long mprof_sys_poll_out(int fd, int timeout_ms) {
  struct pollfd p = {.fd = fd, .events = POLLOUT};
  const struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  long r;
  do
    r = mprof_syscall(SYS_ppoll, (long)&p, 1, (long)&t, 0, 0, 0);
  while (r == -EINTR);
  return r;
}

int mprof_sys_getpid(void) { return (int)mprof_syscall3(SYS_getpid, 0, 0, 0); }

int mprof_sys_gettid(void) { return (int)mprof_syscall3(SYS_gettid, 0, 0, 0); }

void mprof_sys_own_name(char *name) {
  mprof_syscall3(SYS_prctl, PR_GET_NAME, (long)name, 0);
}

void mprof_sys_set_own_name(const char *name) {
  mprof_syscall3(SYS_prctl, PR_SET_NAME, (long)name, 0);
}

void mprof_sys_sleep_ms(unsigned ms) {
  const struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};
  mprof_syscall3(SYS_nanosleep, (long)&ts, 0, 0);
}

void mprof_sys_doze(void) {
  const struct timespec ts = {0, 10000}; // the kernel adds 50 us of timer slack
  mprof_syscall3(SYS_nanosleep, (long)&ts, 0, 0);
}

void mprof_sys_yield(void) { mprof_syscall3(SYS_sched_yield, 0, 0, 0); }

uint64_t mprof_sys_set_signal_mask(uint64_t mask) {
  uint64_t before = 0;
  mprof_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, (long)&before,
                sizeof(mask), 0, 0);
  return before;
}

long mprof_sys_queue(int tid, int sig, uint64_t value) {
  siginfo_t info = {.si_signo = sig, .si_code = SI_QUEUE};
  info.si_pid = mprof_sys_getpid();
  info.si_value.sival_ptr = (void *)(uintptr_t)value;
  return mprof_syscall(SYS_rt_tgsigqueueinfo, info.si_pid, tid, sig,
                       (long)&info, 0, 0);
}

long mprof_sys_getdents(int fd, void *buf, size_t len) {
  return mprof_syscall3(SYS_getdents64, fd, (long)buf, (long)len);
}

long mprof_sys_resend(int sig, void *info) {
  return mprof_syscall(SYS_rt_tgsigqueueinfo, mprof_sys_getpid(),
                       mprof_sys_gettid(), sig, (long)info, 0, 0);
}

bool mprof_sys_thread_alive(int tid) {
  return mprof_sys_thread_of(mprof_sys_getpid(), tid);
}

bool mprof_sys_thread_of(int pid, int tid) {
  return mprof_syscall3(SYS_tgkill, pid, tid, 0) != -ESRCH;
}

static uint64_t ns_of_timeval(struct timeval t) {
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

struct mprof_thread_switches mprof_sys_own_switches(void) {
  struct rusage u;
  memset(&u, 0, sizeof(u));
  mprof_syscall3(SYS_getrusage, RUSAGE_THREAD, (long)&u, 0);
  return (struct mprof_thread_switches){.waits = (uint64_t)u.ru_nvcsw,
                                        .preemptions = (uint64_t)u.ru_nivcsw,
                                        .cpu_ns = ns_of_timeval(u.ru_utime) +
                                                  ns_of_timeval(u.ru_stime)};
}

// Returns the id of the clock of a thread's processor time. 6 is
// CPUCLOCK_PERTHREAD_MASK | CPUCLOCK_SCHED.
static int clock_of(int tid) { return (int)(~(unsigned)tid << 3 | 6); }

static uint64_t ns_of(struct timespec ts) {
  return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

uint64_t mprof_sys_thread_ran_ns(int tid) {
  struct timespec ts = {0, 0};
  mprof_syscall3(SYS_clock_gettime, clock_of(tid), (long)&ts, 0);
  return ns_of(ts);
}

long mprof_sys_timer_create(int tid, int sig, uint64_t value, int *timer) {
  // libc's struct sigevent has no portable names for the thread's id.
  enum { THREAD_ID = 4 }; // SIGEV_THREAD_ID
  const struct {
    uint64_t value;
    int signal, notify, tid;
    char unused[44];
  } event = {.value = value, .signal = sig, .notify = THREAD_ID, .tid = tid};
  _Static_assert(sizeof(event) == 64, "the size of the kernel's sigevent");
  return mprof_syscall3(SYS_timer_create, clock_of(tid), (long)&event,
                        (long)timer);
}

static struct timespec timespec_of(uint64_t ns) {
  return (struct timespec){.tv_sec = (time_t)(ns / 1000000000),
                           .tv_nsec = (long)(ns % 1000000000)};
}

long mprof_sys_timer_set(int timer, uint64_t first_ns, uint64_t period_ns) {
  const struct itimerspec times = {.it_interval = timespec_of(period_ns),
                                   .it_value = timespec_of(first_ns)};
  return mprof_syscall4(SYS_timer_settime, timer, 0, (long)&times, 0);
}

void mprof_sys_timer_delete(int timer) {
  mprof_syscall3(SYS_timer_delete, timer, 0, 0);
}

bool mprof_sys_affinity(int tid, uint64_t *mask, size_t bytes) {
  return mprof_syscall3(SYS_sched_getaffinity, tid, (long)bytes, (long)mask) >
         0;
}

// Passes addr to rt_sigprocmask as the new signal set, and an invalid `how`.
// The kernel copies the set before it checks `how`. So the result is EINVAL if
// addr is readable, and EFAULT otherwise. The mask never changes. The kernel
// does not read a null address, so this function excludes addresses in the
// first page. Any other result comes from a seccomp filter, so the address may
// be unreadable.
bool mprof_sys_readable(uintptr_t addr) {
  return addr >= MPROF_PAGE && mprof_syscall(SYS_rt_sigprocmask, -1, (long)addr,
                                             0, 8, 0, 0) == -EINVAL;
}

bool mprof_sys_alt_stack(struct mprof_alt_stack *s) {
  stack_t now;
  if (mprof_syscall3(SYS_sigaltstack, 0, (long)&now, 0) != 0)
    return false;
  *s = (struct mprof_alt_stack){
      .start = (uintptr_t)now.ss_sp,
      .bytes = (now.ss_flags & SS_DISABLE) != 0 ? 0 : now.ss_size,
      .is_active = (now.ss_flags & SS_ONSTACK) != 0};
  return true;
}

long mprof_sys_try_copy(void *to, uintptr_t from, size_t len) {
  const struct iovec local = {to, len}, remote = {(void *)from, len};
  return mprof_syscall(SYS_process_vm_readv, mprof_sys_gettid(), (long)&local,
                       1, (long)&remote, 1, 0);
}

size_t mprof_sys_copy(void *to, uintptr_t from, size_t len) {
  const long n = mprof_sys_try_copy(to, from, len);
  return n < 0 ? 0 : (size_t)n;
}

uint64_t mprof_sys_random(void) {
  uint64_t v = 0;
  if (mprof_syscall3(SYS_getrandom, (long)&v, sizeof(v), 1 /*GRND_NONBLOCK*/) !=
      (long)sizeof(v)) {
    struct timespec ts = {0, 0};
    mprof_syscall3(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0);
    v = (uint64_t)ts.tv_nsec * 0x9e3779b97f4a7c15u ^ (uint64_t)ts.tv_sec;
  }
  return v;
}

int64_t mprof_sys_realtime_ns(void) {
  struct timespec ts = {0, 0};
  mprof_syscall3(SYS_clock_gettime, CLOCK_REALTIME, (long)&ts, 0);
  return (int64_t)ns_of(ts);
}

static uint64_t soft_limit(int resource) {
  struct rlimit limit;
  limit.rlim_cur = RLIM_INFINITY;
  mprof_syscall(SYS_prlimit64, 0, resource, 0, (long)&limit, 0, 0);
  return limit.rlim_cur; // UINT64_MAX if there is no limit (RLIM_INFINITY)
}

uint64_t mprof_sys_memory_limit(void) {
  const uint64_t space = soft_limit(RLIMIT_AS), data = soft_limit(RLIMIT_DATA);
  return space < data ? space : data;
}

uint64_t mprof_sys_file_size_limit(void) { return soft_limit(RLIMIT_FSIZE); }

long mprof_sys_membarrier(void) {
  long err =
      mprof_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  if (err == -EPERM) {
    mprof_syscall3(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0,
                   0);
    err =
        mprof_syscall3(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  }
  return err;
}

void mprof_sys_futex_wait(atomic_uint *word, unsigned value) {
  mprof_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, 0, 0,
                0);
}

void mprof_sys_futex_wait_ms(atomic_uint *word, unsigned value, uint64_t ms) {
  const struct timespec ts = {(time_t)(ms / 1000),
                              (long)(ms % 1000) * 1000000L};
  mprof_syscall(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value,
                (long)&ts, 0, 0);
}

void mprof_sys_futex_wake(atomic_uint *word) {
  mprof_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1);
}

void mprof_sys_futex_wake_all(atomic_uint *word) {
  mprof_syscall3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX);
}

void mprof_sys_futex_wake_shared(atomic_uint *word) {
  mprof_syscall3(SYS_futex, (long)word, FUTEX_WAKE, INT_MAX);
}

int mprof_os_write(int fd, const void *buf, size_t *left) {
  enum { SET_SIZE = sizeof(uint64_t) };
  const uint64_t pipe = 1ull << (SIGPIPE - 1), size = 1ull << (SIGXFSZ - 1);
  const uint64_t both = pipe | size;
  uint64_t mask = 0, before = 0;
  mprof_syscall(SYS_rt_sigprocmask, SIG_BLOCK, (long)&both, (long)&mask,
                SET_SIZE, 0, 0);
  mprof_syscall3(SYS_rt_sigpending, (long)&before, SET_SIZE, 0);
  const char *p = buf;
  int error = 0;
  while (*left > 0 && error == 0) {
    long n = mprof_sys_write(fd, p, *left);
    if (n == -EINTR)
      continue;
    if (n <= 0) {
      error = n < 0 ? (int)n : -EIO;
    } else {
      p += n;
      *left -= (size_t)n;
    }
  }
  // A failed write sends SIGPIPE or SIGXFSZ to this thread. The signal is
  // pending, because this function has blocked it. The code below removes the
  // pending signal, unless the signal was already pending before the write.
  uint64_t raised = error == -EPIPE ? pipe : error == -EFBIG ? size : 0;
  raised &= ~before;
  const struct timespec now = {0, 0};
  if (raised != 0)
    mprof_syscall(SYS_rt_sigtimedwait, (long)&raised, 0, (long)&now, SET_SIZE,
                  0, 0);
  mprof_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, SET_SIZE, 0,
                0);
  return error;
}

int mprof_os_write_all(int fd, const void *buf, size_t len) {
  return mprof_os_write(fd, buf, &len);
}

long mprof_sys_new_user(void) {
  const long user = mprof_syscall(SYS_geteuid, 0, 0, 0, 0, 0, 0);
  return user == (long)getauxval(AT_EUID) ? -1 : user;
}

void mprof_sys_lower_own_priority(int nice) {
  // The kernel's getpriority returns 20 minus the nice value.
  const long now = 20 - mprof_syscall4(SYS_getpriority, PRIO_PROCESS, 0, 0, 0);
  mprof_syscall4(SYS_setpriority, PRIO_PROCESS, 0, now + nice, 0);
}

// --- sockets and files in memory ---

enum { MEMFD_CLOSES_ON_EXEC = 1, MEMFD_ALLOWS_SEALING = 2 };
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_SEAL_GROW 4
#endif

long mprof_sys_socket(int family) {
  return mprof_syscall3(SYS_socket, family,
                        SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

long mprof_sys_bind(int fd, const void *address, size_t len) {
  return mprof_syscall3(SYS_bind, fd, (long)address, (long)len);
}

long mprof_sys_listen(int fd, int backlog) {
  return mprof_syscall3(SYS_listen, fd, backlog, 0);
}

long mprof_sys_connect(int fd, const void *address, size_t len) {
  return mprof_syscall3(SYS_connect, fd, (long)address, (long)len);
}

long mprof_sys_accept(int fd) {
  return mprof_syscall(SYS_accept4, fd, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                       0);
}

long mprof_sys_own_address(int fd, void *address, size_t len) {
  socklen_t size = (socklen_t)len;
  return mprof_syscall3(SYS_getsockname, fd, (long)address, (long)&size);
}

long mprof_sys_set_option(int fd, int level, int name, int value) {
  return mprof_syscall(SYS_setsockopt, fd, level, name, (long)&value,
                       sizeof(value), 0);
}

long mprof_sys_peer_uid(int fd, unsigned *uid) {
  struct ucred peer;
  socklen_t size = sizeof(peer);
  const long r = mprof_syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PEERCRED,
                               (long)&peer, (long)&size, 0);
  if (r == 0)
    *uid = peer.uid;
  return r;
}

long mprof_sys_shutdown(int fd, int how) {
  return mprof_syscall3(SYS_shutdown, fd, how, 0);
}

long mprof_sys_send(int fd, const void *data, size_t len) {
  return mprof_syscall(SYS_sendto, fd, (long)data, (long)len,
                       MSG_NOSIGNAL | MSG_DONTWAIT, 0, 0);
}

long mprof_sys_receive(int fd, void *data, size_t len) {
  return mprof_syscall(SYS_recvfrom, fd, (long)data, (long)len, MSG_DONTWAIT, 0,
                       0);
}

long mprof_sys_send_file(int socket, int file, uint64_t *offset, size_t len) {
  return mprof_syscall(SYS_sendfile, socket, file, (long)offset, (long)len, 0,
                       0);
}

long mprof_sys_poll(struct pollfd *fds, size_t n, int64_t timeout_ms) {
  const struct timespec t = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};
  return mprof_syscall(SYS_ppoll, (long)fds, (long)n,
                       timeout_ms < 0 ? 0 : (long)&t, 0, 0, 0);
}

long mprof_sys_fchmod(int fd, unsigned mode) {
  return mprof_syscall3(SYS_fchmod, fd, mode, 0);
}

long mprof_sys_memory_file(const char *name, uint64_t max_bytes) {
  const long fd =
      mprof_syscall3(SYS_memfd_create, (long)name,
                     MEMFD_CLOSES_ON_EXEC | MEMFD_ALLOWS_SEALING, 0);
  if (fd < 0)
    return fd;
  // The size is set first and then sealed. Memory is used only for the pages
  // that are written.
  long r = mprof_sys_ftruncate((int)fd, (long)max_bytes);
  if (r == 0)
    r = mprof_sys_fcntl((int)fd, F_ADD_SEALS, F_SEAL_GROW);
  if (r == 0)
    return fd;
  mprof_sys_close((int)fd);
  return r;
}

long mprof_sys_position(int fd) {
  return mprof_syscall3(SYS_lseek, fd, 0, 1 /* SEEK_CUR */);
}

unsigned mprof_sys_effective_uid(void) {
  return (unsigned)mprof_syscall3(SYS_geteuid, 0, 0, 0);
}
