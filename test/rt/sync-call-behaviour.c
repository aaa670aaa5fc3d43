// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: calls that may block give the same results, the same data and the
// same errno with and without MProf, also where the C library checks sizes.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -O2 -pthread -I%src/test/Inputs %s -o plain
// RUN: %mprof_clang -fmprof -O2 -pthread -I%src/test/Inputs %s -o app
// RUN: %mprof_clang -fmprof -O2 -D_FORTIFY_SOURCE=2 -D_FILE_OFFSET_BITS=64 \
// RUN:   -pthread -I%src/test/Inputs %s -o checked
// RUN: timeout 60 ./plain > plain.txt
// RUN: FileCheck %s < plain.txt
// RUN: %run_quiet{block_rate=0:mutex_fraction=0} timeout 60 ./app > off.txt
// RUN: diff plain.txt off.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 60 ./app > on.txt
// RUN: diff plain.txt on.txt
// RUN: %run_quiet{block_rate=1:mutex_fraction=1:block_kinds=all} \
// RUN:   timeout 60 ./checked > checked.txt
// RUN: diff plain.txt checked.txt
//
// CHECK: -- files
// CHECK: read(file, buffer, 5): 5
// CHECK-NEXT: got "hello"
// CHECK: -- pipes
// CHECK: interrupted, read(p[0], c, 1): -1, errno EINTR
// CHECK: -- sockets
// CHECK: accept(listening, NULL, NULL): -1, errno EAGAIN
// CHECK: -- polls
// CHECK: poll(&f, 1, 0): 1
// CHECK: interrupted, poll(&f, 1, 60000): -1, errno EINTR
// CHECK: -- sleeps
// CHECK: sleep(0): 0
// CHECK: -- children
// CHECK: waitpid(-1, &status, 0): -1, errno ECHILD
// CHECK: -- names
// CHECK: -- queues
// CHECK: -- system calls
// CHECK: syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL): -1, errno EAGAIN
// CHECK: end

#define _GNU_SOURCE
#include "sync-observe.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>

static char buffer[100];

static void say_got(void) {
  say("got \"%.*s\"", (int)sizeof(buffer), buffer);
  memset(buffer, 0, sizeof(buffer));
}

static const struct timespec none = {0, 0}, minute = {60, 0},
                             negative = {0, -1};

static volatile int handled;
static void handle(int sig) { handled += sig == SIGUSR1; }
static void handle_with(int flags) {
  struct sigaction sa;
  memset(&sa, 0, sizeof(sa));
  sa.sa_handler = handle;
  sa.sa_flags = flags;
  NEED(sigaction(SIGUSR1, &sa, NULL) == 0);
}

// A thread is in the call when a handler runs.
static void interrupt(void (*call)(void *), long number) {
  struct thread t;
  start(&t, call, "interrupted");
  until_blocked(t.tid, number, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  finish(&t);
}

static void use_files(void) {
  say("-- files");
  int file = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
  NEED(file >= 0);
  SHOW_NUMBER(write(file, "hello world", 11));
  SHOW_NUMBER(lseek(file, 0, SEEK_SET));
  SHOW_NUMBER(read(file, buffer, 5));
  say_got();
  SHOW_NUMBER(read(file, buffer, sizeof(buffer)));
  say_got();
  SHOW_NUMBER(read(file, buffer, sizeof(buffer)));
  SHOW_NUMBER(read(file, buffer, 0));
  SHOW_NUMBER(pread(file, buffer, 5, 6));
  say_got();
  SHOW_NUMBER(pread(file, buffer, 5, -1));
  SHOW_NUMBER(pwrite(file, "W", 1, 6));
  SHOW_NUMBER(pwrite(file, "W", 1, -1));
  struct iovec in[2] = {{buffer, 2}, {buffer + 10, 9}};
  SHOW_NUMBER(lseek(file, 0, SEEK_SET));
  SHOW_NUMBER(readv(file, in, 2));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  SHOW_NUMBER(readv(file, in, -1));
  SHOW_NUMBER(preadv(file, in, 2, 4));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  struct iovec out[2] = {{"one ", 4}, {"two", 3}};
  SHOW_NUMBER(writev(file, out, 2));
  SHOW_NUMBER(pwritev(file, out, 2, 2));
  SHOW_NUMBER(pread(file, buffer, sizeof(buffer), 0));
  say_got();
  SHOW_NUMBER(read(-1, buffer, 1));
  SHOW_NUMBER(write(-1, "", 1));
  SHOW_NUMBER(readv(-1, in, 2));
  SHOW_NUMBER(writev(-1, out, 2));
  SHOW_NUMBER(read(file, (void *)1, 1));
  SHOW_NUMBER(fsync(file));
  SHOW_NUMBER(fdatasync(file));
  SHOW_NUMBER(fsync(-1));
  SHOW_NUMBER(fdatasync(-1));
  int p[2];
  NEED(pipe(p) == 0);
  SHOW_NUMBER(fsync(p[0]));
  SHOW_NUMBER(fdatasync(p[0]));
  SHOW_NUMBER(pread(p[0], buffer, 1, 0));
  close(p[0]), close(p[1]), close(file);
}

static int p[2], full[2];

static void read_pipe(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, read(p[0], c, 1));
}
static void readv_pipe(void *who) {
  char c;
  struct iovec v = {&c, 1};
  SHOW_NUMBER_AS(who, readv(p[0], &v, 1));
}
static void write_pipe(void *who) {
  SHOW_NUMBER_AS(who, write(full[1], "", 1));
}
static void writev_pipe(void *who) {
  struct iovec v = {"", 1};
  SHOW_NUMBER_AS(who, writev(full[1], &v, 1));
}

static void use_pipes(void) {
  say("-- pipes");
  NEED(pipe(p) == 0 && pipe2(full, O_NONBLOCK) == 0);
  SHOW_NUMBER(read(full[0], buffer, 1));
  while (write(full[1], buffer, sizeof(buffer)) == sizeof(buffer))
    ;
  while (write(full[1], "", 1) == 1)
    ;
  SHOW_NUMBER(write(full[1], "", 1));
  NEED(fcntl(full[1], F_SETFL, 0) == 0);
  handle_with(0);
  interrupt(read_pipe, SYS_read);
  interrupt(readv_pipe, SYS_readv);
  interrupt(write_pipe, SYS_write);
  interrupt(writev_pipe, SYS_writev);
  handle_with(SA_RESTART);
  handled = 0;
  struct thread t;
  start(&t, read_pipe, "started again");
  until_blocked(t.tid, SYS_read, NULL, 0);
  NEED(pthread_kill(t.id, SIGUSR1) == 0);
  while (!handled)
    usleep(100);
  until_blocked(t.tid, SYS_read, NULL, 0);
  NEED(write(p[1], "", 1) == 1);
  finish(&t);
  handle_with(0);
  start(&t, read_pipe, "waited");
  until_blocked(t.tid, SYS_read, NULL, 0);
  close(p[1]); // the end of what there is to read
  finish(&t);
  NEED(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
  close(full[0]);
  SHOW_NUMBER(write(full[1], "", 1));
  close(full[1]), close(p[0]);
}

static int listening, sockets[2];

static void accept_one(void *who) {
  SHOW_NUMBER_AS(who, accept(listening, NULL, NULL));
}
static void accept4_one(void *who) {
  SHOW_NUMBER_AS(who, accept4(listening, NULL, NULL, SOCK_CLOEXEC));
}
static void recv_one(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, recv(sockets[0], c, 1, 0));
}
static void recvfrom_one(void *who) {
  char c[1];
  SHOW_NUMBER_AS(who, recvfrom(sockets[0], c, 1, 0, NULL, NULL));
}
static struct msghdr message_of(struct iovec *v) {
  struct msghdr m;
  memset(&m, 0, sizeof(m));
  m.msg_iov = v;
  m.msg_iovlen = 1;
  return m;
}
static void recvmsg_one(void *who) {
  struct iovec v = {buffer, 1};
  struct msghdr m = message_of(&v);
  SHOW_NUMBER_AS(who, recvmsg(sockets[0], &m, 0));
}
static void accept_waiting(void *unused) {
  (void)unused;
  struct sockaddr_in peer;
  socklen_t size = sizeof(peer);
  int got = accept(listening, (struct sockaddr *)&peer, &size);
  NEED(got >= 0);
  say("accepted, size %d, family %d", (int)size, peer.sin_family == AF_INET);
  NEED(write(got, "welcome", 7) == 7);
  close(got);
}

static void use_streams(void) {
  SHOW_NUMBER(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
  SHOW_NUMBER(send(sockets[1], "stream", 6, 0));
  SHOW_NUMBER(recv(sockets[0], buffer, 3, MSG_PEEK));
  say_got();
  SHOW_NUMBER(recv(sockets[0], buffer, sizeof(buffer), 0));
  say_got();
  SHOW_NUMBER(recv(sockets[0], buffer, 1, MSG_DONTWAIT));
  SHOW_NUMBER(recvfrom(sockets[0], buffer, 1, MSG_DONTWAIT, NULL, NULL));
  SHOW_NUMBER(recv(-1, buffer, 1, 0));
  SHOW_NUMBER(send(-1, "", 1, 0));
  SHOW_NUMBER(recvfrom(-1, buffer, 1, 0, NULL, NULL));
  SHOW_NUMBER(sendto(-1, "", 1, 0, NULL, 0));
  handle_with(0);
  interrupt(recv_one, SYS_recvfrom);
  interrupt(recvfrom_one, SYS_recvfrom);
  interrupt(recvmsg_one, SYS_recvmsg);
  struct thread t;
  start(&t, recv_one, "waited");
  until_blocked(t.tid, SYS_recvfrom, NULL, 0);
  NEED(send(sockets[1], "", 1, 0) == 1);
  finish(&t);
  // With a file in the message.
  char control[CMSG_SPACE(sizeof(int))];
  memset(control, 0, sizeof(control));
  struct iovec v = {"fd", 2};
  struct msghdr m = message_of(&v);
  m.msg_control = control;
  m.msg_controllen = sizeof(control);
  struct cmsghdr *c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(c), &sockets[1], sizeof(int));
  SHOW_NUMBER(sendmsg(sockets[1], &m, 0));
  memset(control, 0, sizeof(control));
  v.iov_base = buffer;
  SHOW_NUMBER(recvmsg(sockets[0], &m, 0));
  c = CMSG_FIRSTHDR(&m);
  say("a file came: %d", c && c->cmsg_type == SCM_RIGHTS);
  if (c) {
    int came;
    memcpy(&came, CMSG_DATA(c), sizeof(came));
    close(came);
  }
  say_got();
  SHOW_NUMBER(sendmsg(-1, &m, 0));
  SHOW_NUMBER(recvmsg(-1, &m, 0));
  close(sockets[1]);
  SHOW_NUMBER(recv(sockets[0], buffer, 1, 0));
  SHOW_NUMBER(send(sockets[0], "", 1, MSG_NOSIGNAL));
  close(sockets[0]);
}

static void use_datagrams(void) {
  int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in to, from;
  memset(&to, 0, sizeof(to));
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(to);
  NEED(bind(a, (struct sockaddr *)&to, size) == 0);
  NEED(getsockname(a, (struct sockaddr *)&to, &size) == 0);
  SHOW_NUMBER(sendto(b, "datagram", 8, 0, (struct sockaddr *)&to, size));
  size = sizeof(from);
  SHOW_NUMBER(
      recvfrom(a, buffer, sizeof(buffer), 0, (struct sockaddr *)&from, &size));
  say_got();
  say("size %d, from here: %d", (int)size,
      from.sin_addr.s_addr == htonl(INADDR_LOOPBACK));
  SHOW_NUMBER(sendto(b, "", 1, 0, NULL, 0));
  SHOW_NUMBER(connect(b, (struct sockaddr *)&to, sizeof(to)));
  struct iovec out[2] = {{"one", 3}, {"two", 3}};
  struct mmsghdr m[2];
  memset(m, 0, sizeof(m));
  for (int i = 0; i < 2; i++)
    m[i].msg_hdr = message_of(&out[i]);
  SHOW_NUMBER(sendmmsg(b, m, 2, 0));
  struct iovec in[2] = {{buffer, 5}, {buffer + 10, 5}};
  for (int i = 0; i < 2; i++)
    m[i].msg_hdr = message_of(&in[i]);
  SHOW_NUMBER(recvmmsg(a, m, 2, 0, NULL));
  say("got \"%s\", \"%s\"", buffer, buffer + 10);
  memset(buffer, 0, sizeof(buffer));
  SHOW_NUMBER(recvmmsg(a, m, 2, MSG_DONTWAIT, NULL));
  SHOW_NUMBER(sendmmsg(-1, m, 2, 0));
  close(a), close(b);
}

static void use_connections(void) {
  struct sockaddr_in to;
  memset(&to, 0, sizeof(to));
  to.sin_family = AF_INET;
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(to);
  listening = socket(AF_INET, SOCK_STREAM, 0);
  NEED(bind(listening, (struct sockaddr *)&to, size) == 0);
  NEED(listen(listening, 5) == 0);
  NEED(getsockname(listening, (struct sockaddr *)&to, &size) == 0);
  handle_with(0);
  interrupt(accept_one, SYS_accept);
  interrupt(accept4_one, SYS_accept4);
  struct thread t;
  start(&t, accept_waiting, NULL);
  until_blocked(t.tid, SYS_accept, NULL, 0);
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  NEED(connect(fd, (struct sockaddr *)&to, size) == 0);
  finish(&t);
  SHOW_NUMBER(recv(fd, buffer, 7, MSG_WAITALL));
  say_got();
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&to, size)); // once more
  close(fd);
  NEED(fcntl(listening, F_SETFL, O_NONBLOCK) == 0);
  SHOW_NUMBER(accept(listening, NULL, NULL));
  SHOW_NUMBER(accept4(listening, NULL, NULL, 0));
  SHOW_NUMBER(accept(-1, NULL, NULL));
  SHOW_NUMBER(accept4(listening, NULL, NULL, 123456789));
  close(listening);
  fd = socket(AF_INET, SOCK_STREAM, 0);
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&to, size)); // nobody listens
  close(fd);
  SHOW_NUMBER(connect(-1, (struct sockaddr *)&to, size));
  struct sockaddr_un nowhere = {AF_UNIX, "nowhere"};
  fd = socket(AF_UNIX, SOCK_STREAM, 0);
  SHOW_NUMBER(connect(fd, (struct sockaddr *)&nowhere, sizeof(nowhere)));
  close(fd);
}

static int epoll;

static void poll_long(void *who) {
  struct pollfd f = {p[0], POLLIN, 0};
  SHOW_NUMBER_AS(who, poll(&f, 1, 60000));
}
static void ppoll_long(void *who) {
  struct pollfd f = {p[0], POLLIN, 0};
  SHOW_NUMBER_AS(who, ppoll(&f, 1, &minute, NULL));
}
static void select_long(void *who) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(p[0], &set);
  struct timeval t = {60, 0};
  SHOW_NUMBER_AS(who, select(p[0] + 1, &set, NULL, NULL, &t));
}
static void pselect_long(void *who) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(p[0], &set);
  SHOW_NUMBER_AS(who, pselect(p[0] + 1, &set, NULL, NULL, &minute, NULL));
}
static void epoll_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_wait(epoll, &e, 1, 60000));
}
static void epoll_pwait_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_pwait(epoll, &e, 1, 60000, NULL));
}
static void epoll_pwait2_long(void *who) {
  struct epoll_event e;
  SHOW_NUMBER_AS(who, epoll_pwait2(epoll, &e, 1, &minute, NULL));
}

static const struct {
  void (*call)(void *);
  long number;
} polls[] = {
    {poll_long, SYS_poll},
    {ppoll_long, SYS_ppoll},
    {select_long, SYS_pselect6},
    {pselect_long, SYS_pselect6},
    {epoll_long, SYS_epoll_wait},
    {epoll_pwait_long, SYS_epoll_pwait},
    {epoll_pwait2_long, SYS_epoll_pwait2},
};

static void use_polls(void) {
  say("-- polls");
  NEED(pipe(p) == 0);
  struct pollfd f = {p[0], POLLIN, 0};
  fd_set set;
  struct timeval now = {0, 0}, wrong = {-1, 0};
  struct epoll_event e = {EPOLLIN, {.u64 = 1234567890123}};
  epoll = epoll_create1(0);
  NEED(epoll_ctl(epoll, EPOLL_CTL_ADD, p[0], &e) == 0);
  for (int ready = 0; ready < 2; ready++) {
    if (ready)
      NEED(write(p[1], "x", 1) == 1);
    f.revents = 0;
    SHOW_NUMBER(poll(&f, 1, 0));
    say("events %d", f.revents);
    SHOW_NUMBER(poll(&f, 1, 10));
    SHOW_NUMBER(ppoll(&f, 1, &none, NULL));
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    SHOW_NUMBER(select(p[0] + 1, &set, NULL, NULL, &now));
    say("set %d", FD_ISSET(p[0], &set) != 0);
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    SHOW_NUMBER(pselect(p[0] + 1, &set, NULL, NULL, &none, NULL));
    say("set %d", FD_ISSET(p[0], &set) != 0);
    e.data.u64 = 0;
    SHOW_NUMBER(epoll_wait(epoll, &e, 1, 0));
    say("data %llu", (unsigned long long)e.data.u64);
    e.data.u64 = 0;
    SHOW_NUMBER(epoll_pwait(epoll, &e, 1, 10, NULL));
    say("data %llu", (unsigned long long)e.data.u64);
    SHOW_NUMBER(epoll_pwait2(epoll, &e, 1, &none, NULL));
    if (ready)
      NEED(read(p[0], buffer, 1) == 1);
  }
  memset(buffer, 0, sizeof(buffer));
  // A timeout that is waited for; select counts it down.
  struct timeval soon = {0, 10000};
  SHOW_NUMBER(select(0, NULL, NULL, NULL, &soon));
  say("left %ld %ld", (long)soon.tv_sec, (long)soon.tv_usec);
  f.fd = 999;
  SHOW_NUMBER(poll(&f, 1, 0));
  say("events %d", f.revents);
  f.fd = -1;
  SHOW_NUMBER(poll(&f, 1, 0));
  SHOW_NUMBER(poll(NULL, 0, 0));
  struct pollfd *volatile of_unknown_size = &f;
  SHOW_NUMBER(poll(of_unknown_size, 0xffffffff, 0));
  SHOW_NUMBER(ppoll(&f, 1, &negative, NULL));
  SHOW_NUMBER(select(-1, NULL, NULL, NULL, &now));
  SHOW_NUMBER(select(0, NULL, NULL, NULL, &wrong));
  SHOW_NUMBER(pselect(0, NULL, NULL, NULL, &negative, NULL));
  SHOW_NUMBER(epoll_wait(epoll, &e, 0, 0));
  SHOW_NUMBER(epoll_wait(-1, &e, 1, 0));
  SHOW_NUMBER(epoll_wait(p[0], &e, 1, 0));
  handle_with(SA_RESTART); // does not help these
  for (size_t i = 0; i < sizeof(polls) / sizeof(polls[0]); i++) {
    interrupt(polls[i].call, polls[i].number);
    struct thread t;
    start(&t, polls[i].call, "waited");
    until_blocked(t.tid, polls[i].number, NULL, 0);
    NEED(write(p[1], "x", 1) == 1);
    finish(&t);
    NEED(read(p[0], buffer, 1) == 1);
  }
  // A signal that only the call lets in.
  sigset_t blocked, old;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  NEED(pthread_sigmask(SIG_BLOCK, &blocked, &old) == 0);
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(ppoll(NULL, 0, &minute, &old));
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(pselect(0, NULL, NULL, NULL, &minute, &old));
  NEED(raise(SIGUSR1) == 0);
  SHOW_NUMBER(epoll_pwait(epoll, &e, 1, 60000, &old));
  NEED(pthread_sigmask(SIG_SETMASK, &old, NULL) == 0);
  close(epoll), close(p[0]), close(p[1]);
}

static void nanosleep_long(void *who) {
  struct timespec left = none;
  SHOW_NUMBER_AS(who, nanosleep(&minute, &left));
  say("most of it is left: %d", left.tv_sec > 30 && left.tv_sec <= 60);
}
static void clock_nanosleep_long(void *who) {
  struct timespec left = none;
  SHOW_AS(who, clock_nanosleep(CLOCK_MONOTONIC, 0, &minute, &left));
  say("most of it is left: %d", left.tv_sec > 30 && left.tv_sec <= 60);
}
static void clock_nanosleep_until(void *who) {
  struct timespec late = after_on(CLOCK_MONOTONIC, 60000);
  SHOW_AS(who, clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &late, NULL));
}
static void usleep_long(void *who) { SHOW_NUMBER_AS(who, usleep(60000000)); }
static void sleep_long(void *who) {
  errno = UNTOUCHED;
  unsigned left = sleep(60);
  int error = errno;
  say_result(who, "sleep(60)", left > 30 && left <= 60 ? "most" : "other",
             error);
}

static void use_sleeps(void) {
  say("-- sleeps");
  struct timespec ms = {0, 1000000}, left = {77, 77};
  SHOW_NUMBER(nanosleep(&none, NULL));
  SHOW_NUMBER(nanosleep(&ms, &left));
  say("left %ld", (long)left.tv_sec);
  SHOW_NUMBER(nanosleep(&negative, &left));
  SHOW(clock_nanosleep(CLOCK_REALTIME, 0, &ms, NULL));
  SHOW(clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &ms, NULL));
  SHOW(clock_nanosleep(CLOCK_REALTIME, 0, &negative, NULL));
  SHOW(clock_nanosleep(CLOCK_THREAD_CPUTIME_ID, 0, &ms, NULL));
  SHOW(clock_nanosleep(12345, 0, &ms, NULL));
  SHOW_NUMBER(usleep(0));
  SHOW_NUMBER(usleep(1000));
  SHOW_NUMBER(sleep(0));
  handle_with(SA_RESTART); // does not help these
  interrupt(nanosleep_long, SYS_clock_nanosleep);
  interrupt(clock_nanosleep_long, SYS_clock_nanosleep);
  interrupt(usleep_long, SYS_clock_nanosleep);
  interrupt(sleep_long, SYS_clock_nanosleep);
  handle_with(0);
  interrupt(clock_nanosleep_until, SYS_clock_nanosleep);
}

// Sizes that are not known before are checked by the library, by functions of
// their own.
static void use_unknown_sizes(void) {
  say("-- unknown sizes");
  volatile size_t five = 5, one = 1;
  NEED(pipe(p) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  struct pollfd f[1] = {{p[0], POLLIN, 0}};
  SHOW_NUMBER(poll(f, one, 0));
  SHOW_NUMBER(ppoll(f, one, &none, NULL));
  SHOW_NUMBER(write(p[1], "fifth column", five));
  SHOW_NUMBER(poll(f, one, -1));
  SHOW_NUMBER(ppoll(f, one, NULL, NULL));
  SHOW_NUMBER(read(p[0], buffer, five));
  say_got();
  SHOW_NUMBER(send(sockets[1], "fifth column", 12, 0));
  SHOW_NUMBER(recv(sockets[0], buffer, five, 0));
  say_got();
  SHOW_NUMBER(recvfrom(sockets[0], buffer, five, 0, NULL, NULL));
  say_got();
  int file = open("file", O_RDWR);
  NEED(file >= 0 && pwrite(file, "hello world", 11, 0) == 11);
  SHOW_NUMBER(pread(file, buffer, five, 6));
  say_got();
  SHOW_NUMBER(read(-1, buffer, five));
  SHOW_NUMBER(recv(-1, buffer, five, 0));
  SHOW_NUMBER(recvfrom(-1, buffer, five, 0, NULL, NULL));
  close(file), close(p[0]), close(p[1]), close(sockets[0]), close(sockets[1]);
}

static pid_t child;
static void waitpid_child(void *who) {
  SHOW_NUMBER_AS(who, waitpid(child, NULL, 0));
}
static void waitid_child(void *who) {
  siginfo_t info;
  SHOW_NUMBER_AS(who, waitid(P_PID, (id_t)child, &info, WEXITED));
}

static pid_t fork_to_exit(int status) {
  pid_t pid = fork();
  NEED(pid >= 0);
  if (pid == 0)
    _exit(status);
  return pid;
}

#define SHOW_CHILD(call)                                                       \
  do {                                                                         \
    errno = UNTOUCHED;                                                         \
    pid_t got_ = (call);                                                       \
    int errno_ = errno;                                                        \
    say_result("", #call, got_ == pid ? "the child" : "another", errno_);      \
  } while (0)

static void use_children(void) {
  say("-- children");
  int status = 0;
  pid_t pid = fork_to_exit(3);
  SHOW_CHILD(waitpid(pid, &status, 0));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(4);
  SHOW_CHILD(wait(&status));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(5);
  struct rusage usage;
  SHOW_CHILD(wait4(pid, &status, 0, &usage));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(6);
  SHOW_CHILD(wait3(&status, 0, NULL));
  say("status %d", WEXITSTATUS(status));
  pid = fork_to_exit(7);
  siginfo_t info;
  SHOW_NUMBER(waitid(P_PID, (id_t)pid, &info, WEXITED));
  say("the child: %d, status %d", info.si_pid == pid, info.si_status);
  pid = fork_to_exit(8);
  SHOW_CHILD(waitpid(-1, NULL, 0));
  SHOW_NUMBER(waitpid(-1, &status, 0));
  SHOW_NUMBER(waitpid(pid, &status, WNOHANG));
  SHOW_NUMBER(waitpid(pid, &status, 123456));
  SHOW_NUMBER(wait(NULL));
  SHOW_NUMBER(wait4(-1, NULL, 0, NULL));
  SHOW_NUMBER(waitid(P_ALL, 0, &info, WEXITED));
  SHOW_NUMBER(waitid(P_ALL, 0, &info, 0));
  child = pid = fork();
  NEED(pid >= 0);
  if (pid == 0)
    for (;;)
      pause();
  SHOW_NUMBER(waitpid(pid, &status, WNOHANG));
  handle_with(0);
  interrupt(waitpid_child, SYS_wait4);
  interrupt(waitid_child, SYS_waitid);
  NEED(kill(pid, SIGKILL) == 0);
  SHOW_CHILD(waitpid(pid, &status, 0));
  say("signal %d", WTERMSIG(status));
}

static void use_names(void) {
  say("-- names");
  struct addrinfo hints, *found = NULL;
  memset(&hints, 0, sizeof(hints));
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  int got = getaddrinfo("127.0.0.1", "80", &hints, &found);
  say("getaddrinfo: %d, family %d, port %d", got, found->ai_family == AF_INET,
      ntohs(((struct sockaddr_in *)found->ai_addr)->sin_port));
  freeaddrinfo(found);
  got = getaddrinfo("::1", "80", &hints, &found);
  say("getaddrinfo: %d, family %d", got, found->ai_family == AF_INET6);
  freeaddrinfo(found);
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("no number", "80", &hints, &found)));
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("127.0.0.1", "http", &hints, &found)));
  say("getaddrinfo: %s", gai_strerror(getaddrinfo(NULL, NULL, &hints, &found)));
  hints.ai_family = 12345;
  say("getaddrinfo: %s",
      gai_strerror(getaddrinfo("127.0.0.1", "80", &hints, &found)));
}

static int queue = -1, semaphores = -1;
static mqd_t posix = (mqd_t)-1;
static struct {
  long type;
  char text[8];
} message;

static void msgrcv_one(void *who) {
  SHOW_NUMBER_AS(who, msgrcv(queue, &message, 8, 0, 0));
}
static void semop_one(void *who) {
  struct sembuf take = {0, -1, 0};
  SHOW_NUMBER_AS(who, semop(semaphores, &take, 1));
}
static void semtimedop_one(void *who) {
  struct sembuf take = {0, -1, 0};
  SHOW_NUMBER_AS(who, semtimedop(semaphores, &take, 1, &minute));
}
static void mq_receive_one(void *who) {
  char text[8];
  SHOW_NUMBER_AS(who, mq_receive(posix, text, sizeof(text), NULL));
}
static void mq_timedreceive_one(void *who) {
  char text[8];
  struct timespec late = after(60000);
  SHOW_NUMBER_AS(who, mq_timedreceive(posix, text, sizeof(text), NULL, &late));
}

static void use_messages(void) {
  queue = msgget(IPC_PRIVATE, 0600);
  if (queue < 0) {
    say("msgget: errno %s", error_name(errno));
    return;
  }
  message.type = 3;
  memcpy(message.text, "three", 6);
  SHOW_NUMBER(msgsnd(queue, &message, 6, 0));
  message.type = 2;
  memcpy(message.text, "two", 4);
  SHOW_NUMBER(msgsnd(queue, &message, 4, IPC_NOWAIT));
  SHOW_NUMBER(msgrcv(queue, &message, 8, 2, 0));
  say("type %ld, text %s", message.type, message.text);
  SHOW_NUMBER(msgrcv(queue, &message, 2, 0, 0));
  SHOW_NUMBER(msgrcv(queue, &message, 2, 0, MSG_NOERROR));
  say("type %ld, text %.2s", message.type, message.text);
  SHOW_NUMBER(msgrcv(queue, &message, 8, 0, IPC_NOWAIT));
  SHOW_NUMBER(msgrcv(-1, &message, 8, 0, 0));
  SHOW_NUMBER(msgsnd(-1, &message, 8, 0));
  message.type = 0;
  SHOW_NUMBER(msgsnd(queue, &message, 8, 0));
  handle_with(0);
  interrupt(msgrcv_one, SYS_msgrcv);
  struct thread t;
  start(&t, msgrcv_one, "queue removed");
  until_blocked(t.tid, SYS_msgrcv, NULL, 0);
  NEED(msgctl(queue, IPC_RMID, NULL) == 0);
  finish(&t);
}

static void use_semaphores(void) {
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  if (semaphores < 0) {
    say("semget: errno %s", error_name(errno));
    return;
  }
  struct sembuf give = {0, 2, 0}, take = {0, -1, 0}, try = {0, -1, IPC_NOWAIT};
  struct timespec soon = {0, 10000000};
  SHOW_NUMBER(semop(semaphores, &give, 1));
  SHOW_NUMBER(semop(semaphores, &take, 1));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &soon));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &soon));
  SHOW_NUMBER(semtimedop(semaphores, &take, 1, &negative));
  SHOW_NUMBER(semop(semaphores, &try, 1));
  SHOW_NUMBER(semop(-1, &take, 1));
  handle_with(SA_RESTART); // does not help these
  interrupt(semop_one, SYS_semtimedop);
  interrupt(semtimedop_one, SYS_semtimedop);
  struct thread t;
  start(&t, semop_one, "waited");
  until_blocked(t.tid, SYS_semtimedop, NULL, 0);
  give.sem_op = 1;
  NEED(semop(semaphores, &give, 1) == 0);
  finish(&t);
  NEED(semctl(semaphores, 0, IPC_RMID) == 0);
}

static void use_posix_messages(void) {
  char name[40];
  unsigned priority = 0;
  snprintf(name, sizeof(name), "/mprof.test.%d", getpid());
  struct mq_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.mq_maxmsg = 1;
  attr.mq_msgsize = 8;
  posix = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attr);
  if (posix == (mqd_t)-1) {
    say("mq_open: errno %s", error_name(errno));
    return;
  }
  mq_unlink(name);
  struct timespec past = {1, 0}, soon = after(10);
  SHOW_NUMBER(mq_send(posix, "message", 8, 5));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &past));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &soon));
  SHOW_NUMBER(mq_timedsend(posix, "message", 8, 5, &negative));
  SHOW_NUMBER(mq_send(posix, "too long a message", 18, 5));
  SHOW_NUMBER(mq_receive(posix, buffer, 8, &priority));
  say("priority %u", priority);
  say_got();
  SHOW_NUMBER(mq_receive(posix, buffer, 1, NULL));
  SHOW_NUMBER(mq_timedreceive(posix, buffer, 8, NULL, &past));
  SHOW_NUMBER(mq_timedreceive(posix, buffer, 8, NULL, &negative));
  SHOW_NUMBER(mq_receive(-1, buffer, 8, NULL));
  SHOW_NUMBER(mq_send(-1, "", 1, 0));
  handle_with(0);
  interrupt(mq_receive_one, SYS_mq_timedreceive);
  interrupt(mq_timedreceive_one, SYS_mq_timedreceive);
  mq_close(posix);
}

static int word = 0;
static void futex_wait(void *who) {
  SHOW_NUMBER_AS(who, syscall(SYS_futex, &word, FUTEX_WAIT, 0, &minute));
}

static void use_syscalls(void) {
  say("-- system calls");
  struct timespec soon = {0, 10000000};
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 1, NULL));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &soon));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT, 0, &negative));
  SHOW_NUMBER(syscall(SYS_futex, NULL, FUTEX_WAIT, 0, NULL));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAKE, 1));
  SHOW_NUMBER(syscall(SYS_futex, &word, 123456, 0));
  soon = after_on(CLOCK_MONOTONIC, 10);
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &soon, NULL,
                      FUTEX_BITSET_MATCH_ANY));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_WAIT_BITSET, 0, &soon, NULL, 0));
  handle_with(0);
  interrupt(futex_wait, SYS_futex);
  struct thread t;
  start_waiting(&t, futex_wait, "waited", &word, sizeof(word));
  SHOW_NUMBER(syscall(SYS_futex, &word, FUTEX_CMP_REQUEUE, 0, 0, &handled, 7));
  NEED(syscall(SYS_futex, &word, FUTEX_WAKE, 1) == 1);
  finish(&t);
  // Others than futex, with none to six arguments.
  say("getpid: %d", syscall(SYS_getpid) == getpid());
  say("gettid: %d", syscall(SYS_gettid) == getpid());
  SHOW_NUMBER(syscall(SYS_close, -1));
  SHOW_NUMBER(syscall(SYS_kill, getpid(), 0));
  NEED(pipe(p) == 0);
  SHOW_NUMBER(syscall(SYS_write, p[1], "by hand", 7));
  SHOW_NUMBER(syscall(SYS_read, p[0], buffer, sizeof(buffer)));
  say_got();
  SHOW_NUMBER(syscall(SYS_openat, AT_FDCWD, "nowhere", O_RDONLY, 0));
  SHOW_NUMBER(syscall(SYS_mremap, NULL, 1, 1, 77, NULL));
  long at = syscall(SYS_mmap, NULL, 4096, PROT_READ,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  say("mapped: %d", at != -1 && *(char *)at == 0);
  SHOW_NUMBER(syscall(SYS_munmap, at, 4096));
  SHOW_NUMBER(syscall(99999));
  SHOW_NUMBER(syscall(SYS_pread64, p[0], buffer, 1, 0x123456789abcdefLL));
  close(p[0]), close(p[1]);
}

int main(void) {
  use_files();
  use_pipes();
  say("-- sockets");
  use_streams();
  use_datagrams();
  use_connections();
  use_polls();
  use_unknown_sizes();
  use_sleeps();
  use_children();
  use_names();
  say("-- queues");
  use_messages();
  use_semaphores();
  use_posix_messages();
  use_syscalls();
  say("end");
  return 0;
}
