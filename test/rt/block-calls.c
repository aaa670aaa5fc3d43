// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a blocking call is in the block profile, with its time and the
// function's name, if block_kinds names the kind of call. Without block_kinds,
// the profile has only the waits for file locks and futex system calls. A call
// on a non-blocking descriptor is never in the profile.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %mprof_clang -fmprof -O2 -I%src/test/Inputs %s -o app
// RUN: %run_quiet{block_rate=1:block_kinds=all} ./app all
// RUN: %run_quiet{block_rate=1} ./app sync
// RUN: %run_quiet ./app none

#include "waited.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { MS = 10 };
static int pipe_fd[2], listener, epoll, file, file2, queue, sems;
static int pair[2];
static mqd_t mq;
static pid_t child;
static unsigned futex_word;
static struct sockaddr_in address;
static char byte;
static struct {
  long type;
  char text[1];
} message = {1, "x"};

// The main thread makes one of these calls MS after a call was seen to block.
static void write_pipe(void) { NEED(write(pipe_fd[1], "x", 1) == 1); }
static void send_byte(void) { NEED(send(pair[1], "x", 1, 0) == 1); }
static void connect_now(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  NEED(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
  close(fd);
}
static void send_message(void) { NEED(msgsnd(queue, &message, 1, 0) == 0); }
static void up(void) {
  struct sembuf op = {0, 1, 0};
  NEED(semop(sems, &op, 1) == 0);
}
static void mq_post(void) { NEED(mq_send(mq, "x", 1, 0) == 0); }
static void wake(void) {
  futex_word = 1;
  syscall(SYS_futex, &futex_word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static void unlock_file(void) { NEED(flock(file2, LOCK_UN) == 0); }
static void end_child(void) { NEED(kill(child, SIGKILL) == 0); }

#define CALL(Name, ...)                                                        \
  OWN_CODE(do_##Name) static void do_##Name(void) {                            \
    __VA_ARGS__;                                                               \
    __asm__ volatile("" ::: "memory");                                         \
  }                                                                            \
  DECLARE_CODE(do_##Name);
static struct timespec ten_ms = {0, MS * 1000000};
CALL(read, NEED(read(pipe_fd[0], &byte, 1) == 1))
CALL(readv, {
  struct iovec v = {&byte, 1};
  NEED(readv(pipe_fd[0], &v, 1) == 1);
})
CALL(recv, NEED(recv(pair[0], &byte, 1, 0) == 1))
CALL(accept, close(accept(listener, NULL, NULL)))
CALL(poll, {
  struct pollfd p = {pipe_fd[0], POLLIN, 0};
  NEED(poll(&p, 1, MS) == 0);
})
CALL(select, {
  struct timeval t = {0, MS * 1000};
  NEED(select(0, NULL, NULL, NULL, &t) == 0);
})
CALL(epoll_wait, {
  struct epoll_event e;
  NEED(epoll_wait(epoll, &e, 1, MS) == 0);
})
CALL(nanosleep, NEED(nanosleep(&ten_ms, NULL) == 0))
CALL(clock_nanosleep,
     NEED(clock_nanosleep(CLOCK_MONOTONIC, 0, &ten_ms, NULL) == 0))
CALL(usleep, NEED(usleep(MS * 1000) == 0))
CALL(waitpid, NEED(waitpid(child, NULL, 0) == child))
CALL(fsync, NEED(fsync(file) == 0))
CALL(getaddrinfo, {
  struct addrinfo *a = NULL;
  struct addrinfo hints = {.ai_flags = AI_NUMERICHOST};
  NEED(getaddrinfo("127.0.0.1", NULL, &hints, &a) == 0);
  freeaddrinfo(a);
})
CALL(msgrcv, NEED(msgrcv(queue, &message, 1, 0, 0) == 1))
CALL(semop, {
  struct sembuf op = {0, -1, 0};
  NEED(semop(sems, &op, 1) == 0);
})
CALL(mq_receive, {
  char text[16];
  NEED(mq_receive(mq, text, sizeof(text), NULL) == 1);
})
CALL(futex,
     syscall(SYS_futex, &futex_word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0))
CALL(flock, NEED(flock(file, LOCK_EX) == 0))
CALL(no_block, NEED(read(epoll, &byte, 1) == -1))

// fcntl and lockf lock only against other processes.
static void locked_by_child(void) {
  int ready[2];
  NEED(pipe(ready) == 0);
  child = fork();
  if (child == 0) {
    struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    NEED(fcntl(file2, F_SETLK, &l) == 0);
    NEED(write(ready[1], "x", 1) == 1);
    for (;;)
      pause();
  }
  NEED(read(ready[0], &byte, 1) == 1);
  close(ready[0]);
  close(ready[1]);
}
static void end_and_reap(void) {
  end_child();
  waitpid(child, NULL, 0);
}
CALL(fcntl, {
  struct flock l = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  NEED(fcntl(file, F_SETLKW, &l) == 0);
  l.l_type = F_UNLCK;
  NEED(fcntl(file, F_SETLK, &l) == 0);
})
CALL(lockf, {
  NEED(lseek(file, 0, SEEK_SET) == 0);
  NEED(lockf(file, F_LOCK, 0) == 0);
  NEED(lockf(file, F_ULOCK, 0) == 0);
})

static void fork_child(void) {
  child = fork();
  if (child == 0)
    for (;;)
      pause();
}
static void lock_file(void) { NEED(flock(file2, LOCK_EX) == 0); }

static const struct row {
  const char *name;
  void (*before)(void);
  void (*call)(void);
  void (*end)(void); // NULL: the call ends by itself
  long number;
  int is_sync; // in the profile by default
  const void *op;
  struct code code;
} *row;

static void run(void *arg) {
  (void)arg;
  row->call();
}

static int wants_all, wants_none;

static void check(const struct row *r) {
  struct thread t;
  if (r->before)
    r->before();
  row = r;
  double first = now(), least = 0;
  start(&t, run, NULL);
  if (r->end) {
    until_blocked(t.tid, r->number, NULL, 0);
    least = now();
    struct timespec ms = ten_ms;
    nanosleep(&ms, NULL);
    least = now() - least;
    r->end();
  }
  finish(&t);
  double most = now() - first;
  int expected = !wants_none && (wants_all || r->is_sync) && r->op != NULL;
  check_waited(r->name, "block",
               waited_in(mprof_block_profile, &r->code, SECOND),
               (struct expected){expected, r->op, least, most});
}

int main(int argc, char **argv) {
  NEED(argc == 2);
  wants_all = strcmp(argv[1], "all") == 0;
  wants_none = strcmp(argv[1], "none") == 0;
  NEED(pipe(pipe_fd) == 0);
  NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  listener = socket(AF_INET, SOCK_STREAM, 0);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t len = sizeof(address);
  NEED(bind(listener, (struct sockaddr *)&address, len) == 0);
  NEED(listen(listener, 1) == 0);
  NEED(getsockname(listener, (struct sockaddr *)&address, &len) == 0);
  epoll = epoll_create1(0);
  file = open("file", O_RDWR | O_CREAT, 0600);
  file2 = open("file", O_RDWR);
  NEED(file >= 0 && file2 >= 0);
  queue = msgget(IPC_PRIVATE, 0600);
  sems = semget(IPC_PRIVATE, 1, 0600);
  NEED(queue >= 0 && sems >= 0);
  struct mq_attr attr = {.mq_maxmsg = 1, .mq_msgsize = 16};
  char name[40];
  snprintf(name, sizeof(name), "/mprof-test-%d", (int)getpid());
  mq = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
  int has_mq = mq != (mqd_t)-1; // not every container has message queues
  if (has_mq)
    mq_unlink(name);
#define ROW(Name, Before, End, Number, IsSync, Op)                             \
  {#Name,  Before, do_##Name,        End,                                      \
   Number, IsSync, (const void *)Op, CODE(do_##Name)}
  const struct row rows[] = {
      ROW(read, NULL, write_pipe, SYS_read, 0, read),
      ROW(readv, NULL, write_pipe, SYS_readv, 0, readv),
      ROW(recv, NULL, send_byte, SYS_recvfrom, 0, recv),
      ROW(accept, NULL, connect_now, SYS_accept, 0, accept),
      ROW(poll, NULL, NULL, 0, 0, poll),
      ROW(select, NULL, NULL, 0, 0, select),
      ROW(epoll_wait, NULL, NULL, 0, 0, epoll_wait),
      ROW(nanosleep, NULL, NULL, 0, 0, nanosleep),
      ROW(clock_nanosleep, NULL, NULL, 0, 0, clock_nanosleep),
      ROW(usleep, NULL, NULL, 0, 0, usleep),
      ROW(waitpid, fork_child, end_child, SYS_wait4, 0, waitpid),
      ROW(fsync, NULL, NULL, 0, 0, fsync),
      ROW(getaddrinfo, NULL, NULL, 0, 0, getaddrinfo),
      ROW(msgrcv, NULL, send_message, SYS_msgrcv, 0, msgrcv),
      ROW(semop, NULL, up, SYS_semtimedop, 0, semop),
      ROW(futex, NULL, wake, SYS_futex, 1, syscall),
      ROW(flock, lock_file, unlock_file, SYS_flock, 1, flock),
      ROW(fcntl, locked_by_child, end_and_reap, SYS_fcntl, 1, fcntl),
      ROW(lockf, locked_by_child, end_and_reap, SYS_fcntl, 1, lockf),
      ROW(mq_receive, NULL, mq_post, SYS_mq_timedreceive, 0, mq_receive),
  };
  const size_t n = sizeof(rows) / sizeof(rows[0]);
  for (size_t i = 0; i < (has_mq ? n : n - 1); i++)
    check(&rows[i]);
  // A pipe in non-blocking mode: no wait is recorded.
  NEED(fcntl(pipe_fd[0], F_SETFL, O_NONBLOCK) == 0);
  epoll = pipe_fd[0];
  const struct row not_blocking = ROW(no_block, NULL, NULL, 0, 0, NULL);
  check(&not_blocking);
  msgctl(queue, IPC_RMID, NULL);
  semctl(sems, 0, IPC_RMID);
  return failures != 0;
}
