// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of the tests http-*.test. It executes commands from its standard
// input, one in a line, and answers each with a line. http_app.py sends the
// commands.

#define _GNU_SOURCE 1

#include "mprof/mprof.h"

#include "../../Inputs/cpu_work.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BLOCKS = 100000, LAST_FD = 2000 };

static void *blocks[BLOCKS];
static int blocks_len;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static char *const *arguments;

__attribute__((noinline)) static void *grow(size_t size) {
  return malloc(size);
}

static void allocate(int n, int size) {
  for (int i = 0; i < n && blocks_len < BLOCKS; i++)
    blocks[blocks_len++] = grow((size_t)size);
}

static void release(int n) {
  for (int i = 0; i < n && blocks_len > 0; i++)
    free(blocks[--blocks_len]);
}

static void *lock_once(void *unused) {
  pthread_mutex_lock(&lock);
  pthread_mutex_unlock(&lock);
  return unused;
}

// Makes n threads wait for a lock, one after the other.
static void contend(int n) {
  for (int i = 0; i < n; i++) {
    pthread_t t;
    pthread_mutex_lock(&lock);
    pthread_create(&t, NULL, lock_once, NULL);
#ifdef __GLIBC__
    // glibc sets the word to 2 when a thread begins to wait.
    while (__atomic_load_n(&lock.__data.__lock, __ATOMIC_RELAXED) != 2)
      usleep(100);
#else
    usleep(20000);
#endif
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
  }
}

static int waiting; // guarded by lock

static void *wait_for_ever(void *unused) {
  pthread_mutex_lock(&lock);
  waiting++;
  for (;;)
    pthread_cond_wait(&never, &lock);
  return unused;
}

// Returns when the n new threads wait.
static void start_threads(int n) {
  static int all;
  all += n;
  for (int i = 0; i < n; i++) {
    pthread_t t;
    pthread_create(&t, NULL, wait_for_ever, NULL);
  }
  for (bool do_wait = false; !do_wait;) {
    pthread_mutex_lock(&lock);
    do_wait = waiting == all;
    pthread_mutex_unlock(&lock);
    usleep(100);
  }
}

static void *work(void *unused) {
  for (;;) {
    pthread_mutex_lock(&lock);
    free(grow(100));
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

static void start_workers(int n) {
  for (int i = 0; i < n; i++) {
    pthread_t t;
    pthread_create(&t, NULL, work, NULL);
  }
}

// Opens /dev/null at each descriptor up to LAST_FD that is closed.
static void fill_descriptors(void) {
  for (int fd = 3; fd < LAST_FD; fd++)
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0)
      break;
}

// Returns how many descriptors are /dev/null.
static int count_filled(void) {
  struct stat null, st;
  int n = 0;
  stat("/dev/null", &null);
  for (int fd = 3; fd < LAST_FD; fd++)
    n += fstat(fd, &st) == 0 && st.st_rdev == null.st_rdev;
  return n;
}

static int make_child(void) {
  const pid_t pid = fork();
  if (pid != 0)
    return pid;
  for (;;) // the parent kills it
    pause();
}

static void fork_often(int n) {
  for (int i = 0; i < n; i++) {
    const pid_t pid = fork();
    if (pid == 0)
      _exit(0);
    waitpid(pid, NULL, 0);
  }
}

// Permits only the system calls that docs/processes.md and docs/live.md list
// for the HTTP server and for profiles without names, and those of this
// program. Others fail with EPERM.
static int filter(void) {
  static const int allowed[] = {
      // this program
      SYS_read, SYS_write, SYS_exit_group, SYS_exit, SYS_futex,
      SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_brk, SYS_unlinkat,
#ifdef SYS_unlink
      SYS_unlink,
#endif
      // the HTTP server
      SYS_accept4, SYS_getsockopt, SYS_recvfrom, SYS_sendto, SYS_sendfile,
      SYS_memfd_create, SYS_ftruncate, SYS_ppoll, SYS_fstat, SYS_shutdown,
      // profiles
      SYS_close, SYS_fcntl, SYS_getpid, SYS_lseek, SYS_madvise, SYS_mmap,
      SYS_munmap, SYS_openat, SYS_newfstatat, SYS_readlinkat, SYS_nanosleep,
      SYS_mincore};
  enum { N = sizeof(allowed) / sizeof(allowed[0]) };
  struct sock_filter code[2 * N + 2];
  int n = 0;
  code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
                                           offsetof(struct seccomp_data, nr));
  for (int i = 0; i < N; i++) {
    code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
                                             (unsigned)allowed[i], 0, 1);
    code[n++] =
        (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  code[n++] =
      (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
  const struct sock_fprog program = {(unsigned short)n, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return errno;
  // All threads get the filter.
  return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_TSYNC, &program) == 0
             ? 0
             : errno;
}

// Loads and unloads a library n times. Each time, the library allocates a block
// and keeps it.
static int load(int n) {
  for (int i = 0; i < n; i++) {
    void *library = dlopen("./lib.so", RTLD_NOW);
    void (*keep)(void) =
        library == NULL ? NULL : (void (*)(void))dlsym(library, "keep");
    if (keep == NULL)
      return 1;
    keep();
    dlclose(library);
  }
  return 0;
}

BURNER(use_processor)

static int execute(const char *name, int a, int b) {
  if (strcmp(name, "alloc") == 0)
    allocate(a, b);
  else if (strcmp(name, "free") == 0)
    release(a);
  else if (strcmp(name, "burn") == 0)
    use_processor((unsigned)a);
  else if (strcmp(name, "contend") == 0)
    contend(a);
  else if (strcmp(name, "threads") == 0)
    start_threads(a);
  else if (strcmp(name, "workers") == 0)
    start_workers(a);
  else if (strcmp(name, "cycle") == 0)
    mprof_next_cycle();
  else if (strcmp(name, "fork") == 0)
    return make_child();
  else if (strcmp(name, "daemon") == 0)
    return daemon(1, 1) == 0 ? getpid() : -1;
  else if (strcmp(name, "forks") == 0)
    fork_often(a);
  else if (strcmp(name, "kill") == 0)
    return kill(a, SIGKILL) + waitpid(a, NULL, 0) - a;
  else if (strcmp(name, "close") == 0)
    for (int fd = 3; fd < LAST_FD; fd++)
      close(fd);
  else if (strcmp(name, "fill") == 0)
    fill_descriptors();
  else if (strcmp(name, "filled") == 0)
    return count_filled();
  else if (strcmp(name, "nofile") == 0)
    return setrlimit(RLIMIT_NOFILE,
                     &(struct rlimit){(rlim_t)a, (rlim_t)LAST_FD});
  else if (strcmp(name, "space") == 0)
    return setrlimit(RLIMIT_AS,
                     &(struct rlimit){(rlim_t)a << 20, RLIM_INFINITY});
  else if (strcmp(name, "chroot") == 0)
    return chdir("/proc/self/fdinfo") + chroot(".");
  else if (strcmp(name, "setuid") == 0)
    return setuid((uid_t)a);
  else if (strcmp(name, "filter") == 0)
    return filter();
  else if (strcmp(name, "load") == 0)
    return load(a);
  else if (strcmp(name, "exec") == 0)
    return execv(arguments[0], arguments);
  else if (strcmp(name, "_exit") == 0)
    _exit(a);
  else
    return -1;
  return 0;
}

int main(int argc, char **argv) {
  char line[1024], name[1024], text[1024];
  (void)argc;
  arguments = argv;
  setvbuf(stdout, NULL, _IOLBF, 0);
  puts("ready");
  while (fgets(line, sizeof(line), stdin) != NULL) {
    int a = 0, b = 0;
    sscanf(line, "%1023s %d %d", name, &a, &b);
    if (strcmp(name, "exit") == 0)
      return a;
    if (sscanf(line, "listen %1023s", text) == 1)
      a = mprof_listen(strcmp(text, "-") == 0 ? NULL : text);
    else
      a = execute(name, a, b);
    printf("%d\n", a);
  }
  return 0;
}
