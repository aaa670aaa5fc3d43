// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads data about the threads of this process from /proc/self/task. A process
// may read all files of its own threads there without ptrace. The threads keep
// running, so a thread may end between the reads of two of its files.

#include "thread/proc_threads.h"

#include "sys/arch.h"
#include "sys/message.h"
#include "sys/os.h"
#include "thread/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>

// --- the list ---

// Number of the system call futex of x86-64, where emulators of other
// processors run.
enum { MPROF_EMULATOR_FUTEX = 202 };

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Size of the buffer for one getdents call. The buffer is large so that one
// call lists as many threads as possible, because several calls are less
// reliable. If the thread at which one call stopped ends before the next call,
// the kernel loses its position in the list.
enum { LIST_BYTES = 4 << 20 };

static long read_list(int fd, char *buf, int *tids, size_t cap) {
  size_t n = 0;
  long len;
  while ((len = mprof_sys_getdents(fd, buf, LIST_BYTES)) > 0) {
    const struct mprof_dirent *e;
    for (long at = 0; at < len; at += e->length) {
      e = (const struct mprof_dirent *)(buf + at);
      if (!is_digit(e->name[0]))
        continue;
      int tid = 0;
      for (const char *p = e->name; is_digit(*p); p++)
        tid = tid * 10 + (*p - '0');
      if (n < cap)
        tids[n] = tid;
      n++;
    }
  }
  return len < 0 ? len : (long)n;
}

// Returns the number of threads of the process. fd and path: the directory
// /proc/self/task, as for mprof_sys_links.
static uint64_t count_threads(int fd, const char *path) {
  // The directory /proc/self/task itself has 2 links. Each thread adds 1 link.
  const uint64_t links = mprof_sys_links(fd, path);
  return links > 2 ? links - 2 : 0;
}

// Stores in *before and *after the numbers of threads before and after the
// list was read.
static long list_once(char *buf, int *tids, size_t cap, uint64_t *before,
                      uint64_t *after) {
  const long fd =
      mprof_sys_open("/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0)
    return fd;
  *before = count_threads((int)fd, "");
  const long n = read_list((int)fd, buf, tids, cap);
  *after = count_threads((int)fd, "");
  mprof_sys_close((int)fd);
  return n;
}

// The kernel may omit threads from the list if other threads end while the list
// is read. Therefore this function reads the list again if it has fewer entries
// than the process has threads. The threads are counted before and after the
// list is read. If the list is shorter than both counts, it lacks threads that
// existed all the time.
long mprof_proc_threads(int *tids, size_t cap, size_t *missing) {
  enum { TRIES = 8 };
  if (missing)
    *missing = 0;
  char *buf = mprof_os_map(LIST_BYTES);
  if (!buf)
    return -ENOMEM;
  long n = -1;
  uint64_t before = 0, after = 0;
  for (int i = 0; i < TRIES && (i == 0 || (n >= 0 && (uint64_t)n < after)); i++)
    n = list_once(buf, tids, cap, &before, &after);
  const uint64_t least = before < after ? before : after;
  if (missing && n >= 0 && (uint64_t)n < least)
    *missing = least - (uint64_t)n;
  mprof_os_unmap(buf, LIST_BYTES);
  return n;
}

// --- one thread ---

// Reads the beginning of the file /proc/self/task/<tid><name>, where `name`
// begins with a slash. Terminates the text in buf with a 0. Returns the number
// of bytes read, or -errno.
static long read_file(int tid, const char *name, char *buf, size_t cap) {
  char path[64];
  struct mprof_text t = MPROF_TEXT(path);
  mprof_text_str(&t, "/proc/self/task/");
  mprof_text_dec(&t, (unsigned)tid);
  mprof_text_str(&t, name);
  return mprof_procfile_begin(path, buf, cap);
}

bool mprof_proc_thread_name(int tid, char name[MPROF_THREAD_NAME]) {
  char text[MPROF_THREAD_NAME + 2];
  name[0] = '\0';
  long n = read_file(tid, "/comm", text, sizeof(text));
  if (n < 0)
    return mprof_sys_thread_alive(tid);
  if (n > 0 && text[n - 1] == '\n')
    n--;
  struct mprof_text out = {.buf = name, .cap = MPROF_THREAD_NAME};
  mprof_text_clean(&out, text, (size_t)n);
  return true;
}

static uint64_t decimal(const char *p) {
  uint64_t v = 0;
  for (; is_digit(*p); p++)
    v = v * 10 + (uint64_t)(*p - '0');
  return v;
}

static uint64_t hex(const char **p) {
  uint64_t v = 0;
  while (**p == ' ' || **p == '\t')
    ++*p;
  if ((*p)[0] == '0' && (*p)[1] == 'x')
    *p += 2;
  for (;; ++*p) {
    const char c = **p;
    if (is_digit(c))
      v = v << 4 | (uint64_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      v = v << 4 | (uint64_t)(c - 'a' + 10);
    else
      return v;
  }
}

// Returns whether the code before pc, the address of a thread that sleeps, is
// the instruction for system calls. The kernel copies the code, because the
// thread may return meanwhile, and its module may be unloaded. If the kernel
// refuses the copy, returns whether pc is an address of the program.
static bool follows_syscall(uintptr_t pc) {
  unsigned char code[MPROF_SYSCALL_BYTES];
  if (mprof_sys_copy(code, pc - sizeof(code), sizeof(code)) == sizeof(code))
    return mprof_is_syscall_code(code);
  return mprof_sys_readable(pc);
}

// Reads the file /proc/self/task/<tid>/syscall into *p. The file contains
// "running", or "-1 sp pc", or the number of the system call, its six
// arguments, sp and pc. p->state comes from the file `status`, which was read
// earlier. If the two files disagree, the file `syscall` is newer and decides.
static void read_syscall(int tid, struct mprof_proc_thread *p) {
  char text[256];
  const char *at = text;
  if (read_file(tid, "/syscall", text, sizeof(text)) <= 0)
    return;
  if (is_digit(text[0])) {
    p->syscall = 0;
    for (; is_digit(*at); at++)
      p->syscall = p->syscall * 10 + (*at - '0');
    for (int i = 0; i < 6; i++)
      p->args[i] = hex(&at);
  } else if (text[0] == '-') {
    p->syscall = MPROF_SYSCALL_NONE;
    at += 2;
  } else {
    p->state = 'R';
    return;
  }
  if (p->state == 'R')
    p->state = 'S';
  p->sp = hex(&at);
  p->pc = hex(&at);
  // Under an emulator of processors, the kernel shows the registers of the
  // emulator and the number of its own system call. The arguments are those of
  // the program.
  if (p->syscall >= 0 && p->pc != 0 && !follows_syscall(p->pc)) {
    const bool is_emulated =
        atomic_load(&mprof_own_threads[MPROF_OWN_EMULATOR]) != 0;
    p->syscall = is_emulated && p->syscall == MPROF_EMULATOR_FUTEX
                     ? SYS_futex
                     : MPROF_SYSCALL_UNKNOWN;
    if (is_emulated)
      p->sp = p->pc = 0;
  }
}

// Reads the file `status` of thread tid, and then the file `syscall`, or only
// if the file `status` shows that the thread sleeps.
static bool read_thread(int tid, struct mprof_proc_thread *p,
                        bool only_if_asleep) {
  char text[4096];
  *p = (struct mprof_proc_thread){.syscall = MPROF_SYSCALL_UNKNOWN,
                                  .ran_ns = mprof_sys_thread_ran_ns(tid)};
  if (read_file(tid, "/status", text, sizeof(text)) <= 0)
    return mprof_sys_thread_alive(tid);
  const char *state = strstr(text, "\nState:\t");
  const char *blocked = strstr(text, "\nSigBlk:\t");
  const char *sleeps = strstr(text, "\nvoluntary_ctxt_switches:\t");
  if (state)
    p->state = state[8];
  if (blocked) {
    blocked += 9;
    p->blocked = hex(&blocked);
  }
  if (sleeps)
    p->sleeps = decimal(sleeps + 26);
  if (p->state != 'R' || !only_if_asleep)
    read_syscall(tid, p);
  return p->state != 'X' && p->state != 'Z';
}

bool mprof_proc_thread(int tid, struct mprof_proc_thread *p) {
  return read_thread(tid, p, false);
}

bool mprof_proc_thread_asleep(int tid, struct mprof_proc_thread *p) {
  return read_thread(tid, p, true);
}

// The file has the two times and the number of time slices.
bool mprof_proc_times(int tid, struct mprof_proc_times *t) {
  char text[96];
  if (read_file(tid, "/schedstat", text, sizeof(text)) <= 0)
    return false;
  const char *delayed = strchr(text, ' ');
  if (!delayed)
    return false;
  *t = (struct mprof_proc_times){decimal(text), decimal(delayed + 1)};
  return true;
}

#ifdef __x86_64__
void mprof_proc_find_emulator(bool is_child) { (void)is_child; }
#else
// A thread that sleeps in a system call has the address of the call in its
// program counter. A thread of the emulator has an address in the emulator,
// which the program cannot read.
static bool is_of_emulator(int tid) {
  struct mprof_proc_thread p;
  return mprof_proc_thread(tid, &p) && p.state == 'S' && p.pc != 0 &&
         p.syscall == MPROF_SYSCALL_UNKNOWN && !mprof_sys_readable(p.pc);
}

// In a forked child, any thread but the calling one is the emulator's.
void mprof_proc_find_emulator(bool is_child) {
  enum { THREADS_MAX = 8 };
  static bool is_emulated;
  int tids[THREADS_MAX];
  const int self = mprof_sys_gettid();
  if (is_child ? !is_emulated : mprof_proc_thread_count() < 2)
    return;
  const long n = mprof_proc_threads(tids, THREADS_MAX, NULL);
  for (long i = 0; i < n && i < THREADS_MAX; i++)
    if (tids[i] != self && (is_child || is_of_emulator(tids[i]))) {
      is_emulated = true;
      atomic_store(&mprof_own_threads[MPROF_OWN_EMULATOR], tids[i]);
      return;
    }
}
#endif

uint64_t mprof_proc_all_threads_count(void) {
  return count_threads(AT_FDCWD, "/proc/self/task");
}

uint64_t mprof_proc_thread_count(void) {
  uint64_t n = mprof_proc_all_threads_count();
  for (int i = 0; i < MPROF_OWNS; i++)
    n -= n > 0 && atomic_load(&mprof_own_threads[i]) != 0;
  return n;
}
