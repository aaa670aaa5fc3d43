// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls for sockets and for files in memory. As those of os_linux.h, the
// functions bypass libc, take no lock and are no cancellation points. A
// negative result is -errno.

#ifndef MPROF_RT_SYS_OS_SOCKET_H
#define MPROF_RT_SYS_OS_SOCKET_H

#include "sys/base.h"

struct pollfd;

// Creates a stream socket (AF_UNIX, AF_INET or AF_INET6). The socket is closed
// by exec, and its calls never block.
long mprof_sys_socket(int family);
long mprof_sys_bind(int fd, const void *address, size_t len);
long mprof_sys_listen(int fd, int backlog);
long mprof_sys_connect(int fd, const void *address, size_t len);
// Accepts a connection. The new descriptor is closed by exec, and its calls
// never block.
long mprof_sys_accept(int fd);
// Stores the socket's own address, of at most len bytes.
long mprof_sys_own_address(int fd, void *address, size_t len);
// Sets the integer option `name` of `level` (SOL_SOCKET, IPPROTO_TCP, ...).
long mprof_sys_set_option(int fd, int level, int name, int value);
// Stores in *uid the effective user id of the process at the other end of a
// Unix socket.
long mprof_sys_peer_uid(int fd, unsigned *uid);
// how: SHUT_WR or SHUT_RDWR.
long mprof_sys_shutdown(int fd, int how);
// Send and receive without blocking, and without SIGPIPE.
long mprof_sys_send(int fd, const void *data, size_t len);
long mprof_sys_receive(int fd, void *data, size_t len);
// Sends up to len bytes of the file, from *offset on, to the socket, and adds
// the number of sent bytes to *offset. The caller must block SIGPIPE.
long mprof_sys_send_file(int socket, int file, uint64_t *offset, size_t len);
// Waits until one of n descriptors is ready, at most timeout_ms milliseconds;
// -1: no limit. Returns the number of ready descriptors.
long mprof_sys_poll(struct pollfd *fds, size_t n, int64_t timeout_ms);
long mprof_sys_fchmod(int fd, unsigned mode);
// Creates a file in memory, which ends when its last descriptor is closed. The
// file can grow up to max_bytes; a write beyond this size fails with -EPERM.
long mprof_sys_memory_file(const char *name, uint64_t max_bytes);
// Returns the present position in the file, in bytes from its start.
long mprof_sys_position(int fd);
unsigned mprof_sys_effective_uid(void);

#endif // MPROF_RT_SYS_OS_SOCKET_H
