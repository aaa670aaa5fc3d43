// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The socket at which the HTTP server (server.h) accepts connections.

#ifndef MPROF_RT_HTTP_LISTENER_H
#define MPROF_RT_HTTP_LISTENER_H

#include "file/path.h"
#include "http/reply.h"

struct mprof_listener {
  struct mprof_own_fd fd;
  bool is_unix;
  bool is_loopback; // a TCP address that only this machine can reach
  bool has_pid;     // the path of the Unix socket contains the pattern %p
  // A Unix socket: its path, and the device and inode number of the file at the
  // path. The program may replace the file, and the file is then not removed.
  char path[MPROF_PATH_MAX];
  uint64_t path_dev, path_ino;
  unsigned short port;       // TCP: the port, never 0 after mprof_listener_open
  char name[MPROF_PATH_MAX]; // the address as text, for messages
};

// Opens the socket at `address`: "unix:PATTERN" with a path as in log_path, or
// an IPv4 or IPv6 address and a port, such as "127.0.0.1:6060" or "[::1]:6060".
// Port 0 chooses a free port. Prints the reason of an error on stderr.
// Returns 0 or -errno.
int mprof_listener_open(struct mprof_listener *l, const char *address);
// Opens the socket anew at the same address, because the program has closed
// its descriptor. Prints no message. Returns 0 or -errno.
int mprof_listener_reopen(struct mprof_listener *l);
// Accepts a connection. Sets *is_allowed to whether the client may read
// profiles: at a Unix socket, it must run as root or as the same user as this
// process. Returns the descriptor, which never blocks, or -errno. Returns
// -EBADF if the program has closed the descriptor.
long mprof_listener_accept(struct mprof_listener *l, bool *is_allowed);
// Removes the file of the Unix socket, unless the file was replaced.
void mprof_listener_remove_path(struct mprof_listener *l);
// The file of the Unix socket of another process.
struct mprof_listener_file {
  char path[108]; // "": none (Linux: sun_path)
  uint64_t dev, ino;
};
// Returns the file of the Unix socket of l, or none.
struct mprof_listener_file mprof_listener_file(const struct mprof_listener *l);
// Removes the file if the process that listened there has ended. Returns false
// if it still listens.
bool mprof_listener_remove_dead(const struct mprof_listener_file *f);
// Closes the descriptor. Does not remove the file of the Unix socket.
void mprof_listener_close(struct mprof_listener *l);

#endif // MPROF_RT_HTTP_LISTENER_H
