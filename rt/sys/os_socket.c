// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes system calls for sockets and files in memory; see os_socket.h.

#define _GNU_SOURCE 1

#include "sys/os_socket.h"

#include "sys/kernel_call.h"
#include "sys/os_linux.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

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
