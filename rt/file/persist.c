// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the file of the option persist, and lets it grow; see persist.h.

#define _GNU_SOURCE 1

#include "file/persist.h"

#include "bucket/bucket.h"
#include "file/outfile.h"
#include "options/flags.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "thread/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

_Static_assert((int)MPROF_STAT_COUNT <= MPROF_PERSIST_STATS,
               "the head has room for all statistics");
_Static_assert((int)MPROF_BUCKET_TYPES <= MPROF_PERSIST_NOTES,
               "the head has room for the roots of all buckets");

enum { NAMES_MAX = 100, ZEROS = 1024 };

// Guarded by persistent_lock. The end of the process only reads it.
static struct {
  struct mprof_own_fd fd; // none: there is no file, or it cannot grow
  bool is_child;
  bool has_lease; // used only by mprof_persist_look
  char path[MPROF_PATH_MAX];
} file = {.fd = MPROF_NO_FD};

static void say(const char *what, const char *path, int error,
                const char *result) {
  char text[MPROF_PATH_MAX + 256];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_text_str(&t, "persist: ");
  mprof_text_str(&t, what);
  mprof_text_str(&t, path);
  if (error != 0) {
    mprof_text_str(&t, ": ");
    mprof_text_errno(&t, error);
  }
  mprof_text_str(&t, result);
  mprof_message(text);
}

// --- making the file ---

// Opens a new file at the path in file.path, or at this path with a number.
static long open_new(void) {
  const size_t len = strlen(file.path);
  for (unsigned n = 0; n < NAMES_MAX; n++) {
    struct mprof_text t = {
        .buf = file.path, .cap = sizeof(file.path), .len = len};
    if (n > 0) {
      mprof_text_str(&t, ".");
      mprof_text_dec(&t, n);
    }
    if (t.len + 1 >= t.cap)
      return -ENAMETOOLONG;
    const long fd = mprof_sys_open(
        file.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd != -EEXIST) {
      if (fd >= 0 && n > 0 && !file.is_child)
        say("the path exists, perhaps because a process was killed (mprof "
            "recover reads it); this process uses ",
            file.path, 0, "");
      return fd;
    }
  }
  file.path[len] = '\0';
  return -EEXIST;
}

// Makes the path absolute, because the program may change its directory.
static void make_absolute(void) {
  char link[64], path[MPROF_PATH_MAX];
  struct mprof_text t = MPROF_TEXT(link);
  mprof_text_str(&t, "/proc/self/fd/");
  mprof_text_dec(&t, (unsigned)file.fd.fd);
  const long n = mprof_sys_readlink(link, path, sizeof(path) - 1);
  if (n <= 0 || path[0] != '/')
    return;
  path[n] = '\0';
  memcpy(file.path, path, (size_t)n + 1);
}

static bool open_file(void) {
  bool has_pid;
  const char *pattern = mprof_flags.persist;
  int error = mprof_path_fill(file.path, sizeof(file.path), "persist", pattern,
                              &has_pid);
  const bool has_path = error != -EPERM;
  if (error == 0)
    error = mprof_own_fd_set(&file.fd, open_new());
  if (error == 0) {
    make_absolute();
    return true;
  }
  say("cannot make ", has_path ? file.path : pattern, error,
      "; a killed process will leave nothing");
  return false;
}

// --- growth ---

// Opens the file again if the program has closed its descriptor. Returns 0 or
// -errno.
static long check_descriptor(void) {
  struct mprof_own_fd again;
  if (mprof_own_fd_is_open(&file.fd))
    return 0;
  const int error = mprof_own_fd_set(
      &again, mprof_sys_open(file.path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0));
  if (error != 0)
    return error;
  if (again.dev != file.fd.dev || again.ino != file.fd.ino) {
    mprof_own_fd_close(&again);
    return -ENOENT;
  }
  file.fd = again; // the program now uses the old number, if anyone does
  return 0;
}

// Fills len bytes from `offset` on, where the file ends, with zeros, for file
// systems that cannot reserve space.
static long write_zeros(uint64_t offset, size_t len) {
  const char zeros[ZEROS] = {0};
  long error = mprof_sys_seek(file.fd.fd, offset);
  for (size_t n = 0; error == 0 && n < len; n += ZEROS)
    error = mprof_os_write_all(file.fd.fd, zeros, ZEROS);
  return error;
}

static long grow(char *base, size_t offset, size_t len) {
  long error = check_descriptor();
  if (error == 0 && offset + len > mprof_sys_file_size_limit())
    error = -EFBIG;
  if (error == 0) {
    error = mprof_sys_reserve(file.fd.fd, offset, len);
    if (error == 0)
      error = mprof_sys_ftruncate(file.fd.fd, (long)(offset + len));
    else if (error == -EOPNOTSUPP || error == -ENOSYS || error == -EPERM)
      error = write_zeros(offset, len);
  }
  if (error == 0)
    error = mprof_os_map_file(base + offset, len, file.fd.fd, offset, true);
  return error;
}

static void fill_head(struct mprof_persist_head *h) {
  memcpy(h->magic, MPROF_PERSIST_MAGIC, sizeof(h->magic));
  h->head_size = sizeof(*h);
  h->bucket_size = sizeof(struct mprof_bucket);
  h->cell_size = sizeof(struct mprof_cell);
  h->stats_len = MPROF_STAT_COUNT;
  h->base = (uintptr_t)h;
  h->begin_ns = mprof_sys_realtime_ns();
  h->heap_rate = mprof_flags.heap ? mprof_flags.heap_rate : 0;
  h->block_rate = mprof_flags.block_rate;
  h->mutex_fraction = mprof_flags.mutex_fraction;
  h->pid = mprof_sys_getpid();
  h->is_child = file.is_child;
  h->has_heapx = mprof_flags.heapx;
  h->has_peak = mprof_flags.peak;
  h->trace_tick_div = MPROF_TRACE_TICK_DIV;
  h->begin_ticks = mprof_clock_now();
  memcpy(h->trace_format, mprof_flags.trace_format,
         sizeof(h->trace_format) - 1);
  struct mprof_text t = MPROF_TEXT(h->version);
  mprof_text_str(&t, MPROF_VERSION);
  const long n =
      mprof_sys_readlink("/proc/self/exe", h->program, sizeof(h->program) - 1);
  if (n < 0)
    h->program[0] = '\0';
  h->check = mprof_persist_check(h);
}

// Provides memory; see mprof_persistent_use_file.
static bool commit(char *base, size_t offset, size_t len) {
  struct mprof_persist_head *h = (struct mprof_persist_head *)base;
  if (offset == 0 && !open_file())
    return false;
  const long error = grow(base, offset, len);
  if (error == 0) {
    if (offset == 0)
      fill_head(h);
    __atomic_store_n(&h->bytes, offset + len, __ATOMIC_RELEASE);
    mprof_stats_copy = (_Atomic uint64_t *)h->stats;
    mprof_persist_head = h;
    return true;
  }
  say("cannot write to ", file.path, (int)error,
      offset == 0 ? "; a killed process will leave nothing"
                  : "; the file lacks what follows");
  if (offset == 0) {
    mprof_sys_unlink(file.path);
    file.path[0] = '\0';
  } else {
    __atomic_or_fetch(&h->state, MPROF_PERSIST_IS_CUT, __ATOMIC_RELAXED);
  }
  mprof_own_fd_close(&file.fd);
  return false;
}

void mprof_persist_start(void) {
  if (mprof_flags.persist[0] != '\0')
    mprof_persistent_use_file(commit);
}

// --- other programs that write to the file ---

// Bytes of memory that are moved out of the file at once.
#define MOVED_BYTES ((size_t)2 << 20)
// Milliseconds between two looks at the file, with and without a lease. The
// first is how long another program waits, the second how long the process
// lacks protection.
enum { PROTECTED_MS = 250, UNPROTECTED_MS = 10 };

static void move_out_locked(void) {
  struct mprof_persist_head *h = mprof_persist_head;
  // The file stays as it is now, if it is not truncated.
  __atomic_or_fetch(&h->state, MPROF_PERSIST_IS_CUT, __ATOMIC_RELAXED);
  long error = 0;
  for (size_t at = 0; at < h->bytes && error == 0; at += MOVED_BYTES) {
    const size_t left = h->bytes - at;
    error = mprof_os_make_private((char *)h + at,
                                  left < MOVED_BYTES ? left : MOVED_BYTES);
  }
  say("another program writes to ", file.path, (int)error,
      "; a killed process will leave nothing of what follows");
}

// Returns the lease that the process has, or that it shall have because another
// program waits: F_WRLCK, F_RDLCK or F_UNLCK.
static long lease(void) { return mprof_sys_fcntl(file.fd.fd, F_GETLEASE, 0); }

static long set_lease(long type) {
  return mprof_sys_fcntl(file.fd.fd, F_SETLEASE, type);
}

unsigned mprof_persist_look(int tid) {
  if (mprof_persist_head == NULL)
    return UNPROTECTED_MS;
  if (!mprof_own_fd_is_open(&file.fd))
    return 0;
  if (!file.has_lease) {
    // The kernel sends SIGIO if another program waits. Only the calling thread
    // gets the signal, and blocks it.
    struct f_owner_ex owner = {F_OWNER_TID, tid};
    long error = mprof_sys_fcntl(file.fd.fd, F_SETOWN_EX, (long)&owner);
    if (error == 0)
      error = set_lease(F_WRLCK);
    file.has_lease = error == 0;
    if (error == 0)
      return PROTECTED_MS;
    return error == -EAGAIN ? UNPROTECTED_MS : 0; // EAGAIN: somebody reads it
  }
  const long type = lease();
  if (type == F_WRLCK)
    return PROTECTED_MS;
  if (type == F_UNLCK) {
    mprof_threads_keep_out();
    mprof_persistent_stop_file(move_out_locked);
    mprof_threads_let_in();
  }
  set_lease(F_UNLCK);
  file.has_lease = false;
  if (type != F_UNLCK)
    return UNPROTECTED_MS;
  mprof_own_fd_close(&file.fd);
  return 0;
}

// --- the end, and forked children ---

void mprof_persist_end(void) {
  struct mprof_persist_head *h = mprof_persist_head;
  if (h == NULL || h->pid != mprof_sys_getpid())
    return;
  __atomic_or_fetch(&h->state, MPROF_PERSIST_ENDED, __ATOMIC_RELAXED);
  uint64_t dev, ino;
  if (!mprof_flags.persist_keep &&
      mprof_sys_path_id(file.path, &dev, &ino) == 0 && dev == file.fd.dev &&
      ino == file.fd.ino)
    mprof_sys_unlink(file.path);
}

// A private mapping of the file has the parent's data. If there is no
// descriptor, copies them.
static void make_private(char *base, size_t len) {
  if (mprof_own_fd_is_open(&file.fd) &&
      mprof_os_map_file(base, len, file.fd.fd, 0, false) == 0)
    return;
  char *copy = mprof_os_map(len);
  if (copy == NULL)
    return;
  memcpy(copy, base, len);
  mprof_os_reserve_again(base, len);
  if (mprof_os_commit(base, len, false))
    memcpy(base, copy, len);
  mprof_os_unmap(copy, len);
}

void mprof_persist_begin_child(void) {
  mprof_stats_copy = NULL;
  mprof_persistent_leave_file(make_private);
  mprof_own_fd_close(&file.fd);
  file.is_child = true;
  file.has_lease = false;
}
