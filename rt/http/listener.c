// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The socket at which the HTTP server accepts connections; see http.h.

#include "http/http.h"

#include "sys/message.h"
#include "sys/os.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

enum { BACKLOG = 128, SOCKET_MODE = 0600, AT_CWD = -100 };

static const char unix_prefix[] = "unix:";

// --- messages ---

static void say(const char *address, const char *what, const char *why,
                int error) {
  char line[2 * MPROF_PATH_MAX];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "cannot listen at '");
  mprof_text_str(&t, address);
  mprof_text_str(&t, "': ");
  mprof_text_str(&t, what);
  mprof_text_str(&t, why);
  if (error != 0)
    mprof_text_errno(&t, error);
  mprof_message_always(line);
}

// --- Unix sockets ---

static size_t make_address(struct sockaddr_un *a, const char *path) {
  memset(a, 0, sizeof(*a));
  a->sun_family = AF_UNIX;
  memcpy(a->sun_path, path, strlen(path) + 1);
  return offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1;
}

// Returns the result of connecting to the socket at the address.
static long try_connect(const struct sockaddr_un *a, size_t len) {
  const long fd = mprof_sys_socket(AF_UNIX);
  if (fd < 0)
    return fd;
  const long r = mprof_sys_connect((int)fd, a, len);
  mprof_sys_close((int)fd);
  return r;
}

// Returns whether a process listens at a socket. r: the result of connecting.
static bool has_listener(long r) { return r == 0 || r == -EAGAIN; }

// Returns the result of connecting to the socket at the address. If the path
// has the number of this process (has_pid), a listener there can only be this
// process before exec: a child that it was just creating has a copy of its
// socket for a moment. Then waits for the end of the listener, at most half a
// second.
static long try_to_meet(const struct sockaddr_un *a, size_t len, bool has_pid) {
  enum { TRIES = 50, PAUSE_MS = 10 };
  long r = try_connect(a, len);
  for (int i = 0; i < TRIES && has_pid && has_listener(r); i++) {
    mprof_sys_sleep_ms(PAUSE_MS);
    r = try_connect(a, len);
  }
  return r;
}

// Decides what to do with the file that exists at the path. Removes the socket
// of a process that has ended, and returns NULL. Otherwise returns the reason
// why the path cannot be used.
static const char *free_path(const struct sockaddr_un *a, size_t len,
                             bool has_pid) {
  char target[1];
  const char *path = a->sun_path;
  if (mprof_sys_readlink(path, target, sizeof(target)) >= 0)
    return "the path is a symbolic link";
  const long mode = mprof_sys_mode(AT_CWD, path);
  if (mode < 0 || !S_ISSOCK(mode))
    return "the path exists and is not a socket";
  const long r = try_to_meet(a, len, has_pid);
  if (has_listener(r))
    return "another process listens there";
  if (r != -ECONNREFUSED || mprof_sys_unlink(path) != 0)
    return "the path is the socket of another user";
  return NULL;
}

// Binds the socket fd. The kernel gives the file of the socket the mode of the
// socket's own inode, so that at no time another user can connect.
static int bind_unix(struct mprof_listener *l, int fd, const char **why) {
  struct sockaddr_un a;
  const size_t len = make_address(&a, l->path);
  long r = mprof_sys_fchmod(fd, SOCKET_MODE);
  if (r == 0)
    r = mprof_sys_bind(fd, &a, len);
  if (r == -EADDRINUSE && (*why = free_path(&a, len, l->has_pid)) == NULL)
    r = mprof_sys_bind(fd, &a, len);
  if (r == 0)
    r = mprof_sys_path_id(l->path, &l->path_dev, &l->path_ino);
  return (int)r;
}

static int parse_unix(struct mprof_listener *l, const char *address,
                      const char **why) {
  const char *pattern = address + sizeof(unix_prefix) - 1;
  const int error =
      mprof_path_fill(l->path, sizeof(l->path), "listen", pattern, &l->has_pid);
  if (error == -EPERM)
    return error;
  if (error != 0 ||
      strlen(l->path) >= sizeof(((struct sockaddr_un *)0)->sun_path)) {
    *why = "the path is longer than 107 bytes";
    return -ENAMETOOLONG;
  }
  if (l->path[0] != '/') {
    *why = "the path must be absolute, as in unix:/run/app.%p.sock";
    return -EINVAL;
  }
  l->is_unix = true;
  struct mprof_text t = MPROF_TEXT(l->name);
  mprof_text_str(&t, unix_prefix);
  mprof_text_str(&t, l->path);
  return 0;
}

// --- TCP sockets ---

union inet_address {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
};

static bool parse_port(const char *s, unsigned short *port) {
  unsigned n = 0;
  const char *p = s;
  for (; *p >= '0' && *p <= '9' && n <= UINT16_MAX; p++)
    n = 10 * n + (unsigned)(*p - '0');
  *port = (unsigned short)n;
  return p != s && *p == '\0' && n <= UINT16_MAX;
}

// Parses "A.B.C.D:PORT" or "[IPV6]:PORT". Returns the size of the socket
// address, or 0 if the text is malformed.
static size_t parse_inet(const char *address, union inet_address *a) {
  enum { HOST = 64 };
  char host[HOST];
  const bool is_v6 = address[0] == '[';
  const char *colon = strrchr(address, ':');
  unsigned short port;
  memset(a, 0, sizeof(*a));
  if (colon == NULL || !parse_port(colon + 1, &port))
    return 0;
  const char *begin = address + is_v6, *end = colon - is_v6;
  if (end < begin || end - begin >= HOST || (is_v6 && *end != ']'))
    return 0;
  memcpy(host, begin, (size_t)(end - begin));
  host[end - begin] = '\0';
  if (is_v6 && inet_pton(AF_INET6, host, &a->v6.sin6_addr) == 1) {
    a->v6.sin6_family = AF_INET6;
    a->v6.sin6_port = htons(port);
    return sizeof(a->v6);
  }
  if (!is_v6 &&
      inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
                &a->v4.sin_addr) == 1) {
    a->v4.sin_family = AF_INET;
    a->v4.sin_port = htons(port);
    return sizeof(a->v4);
  }
  return 0;
}

static bool is_loopback(const union inet_address *a) {
  return a->any.sa_family == AF_INET ? ntohl(a->v4.sin_addr.s_addr) >> 24 == 127
                                     : IN6_IS_ADDR_LOOPBACK(&a->v6.sin6_addr);
}

// Stores the port that the kernel has chosen, and the address as text.
static int note_address(struct mprof_listener *l, int fd) {
  enum { HOST = 64 };
  char host[HOST];
  union inet_address a;
  const long r = mprof_sys_own_address(fd, &a, sizeof(a));
  if (r != 0)
    return (int)r;
  const bool is_v6 = a.any.sa_family == AF_INET6;
  l->port = ntohs(is_v6 ? a.v6.sin6_port : a.v4.sin_port);
  inet_ntop(a.any.sa_family,
            is_v6 ? (const void *)&a.v6.sin6_addr
                  : (const void *)&a.v4.sin_addr,
            host, sizeof(host));
  struct mprof_text t = MPROF_TEXT(l->name);
  mprof_text_str(&t, is_v6 ? "[" : "");
  mprof_text_str(&t, host);
  mprof_text_str(&t, is_v6 ? "]:" : ":");
  mprof_text_dec(&t, l->port);
  return 0;
}

// Binds the socket fd to the address in l->name, which parse_inet accepts.
static int bind_inet(struct mprof_listener *l, int fd) {
  union inet_address a;
  const size_t len = parse_inet(l->name, &a);
  // Otherwise a restarted program could not listen while the kernel still
  // remembers connections of the former process.
  mprof_sys_set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  const long r = mprof_sys_bind(fd, &a, len);
  return r != 0 ? (int)r : note_address(l, fd);
}

static int parse_tcp(struct mprof_listener *l, const char *address,
                     const char **why) {
  union inet_address a;
  if (parse_inet(address, &a) == 0) {
    *why = "not an address; use unix:/PATH or 127.0.0.1:PORT";
    return -EINVAL;
  }
  l->is_loopback = is_loopback(&a);
  struct mprof_text t = MPROF_TEXT(l->name);
  mprof_text_str(&t, address);
  return 0;
}

// --- both ---

// Creates the socket at the address in *l. *why receives a better reason of an
// error than the error number, or NULL.
static int open_socket(struct mprof_listener *l, const char **why) {
  *why = NULL;
  const bool is_v6 = l->name[0] == '[';
  int error = mprof_own_fd_set(&l->fd, mprof_sys_socket(l->is_unix ? AF_UNIX
                                                        : is_v6    ? AF_INET6
                                                                   : AF_INET));
  if (error == 0)
    error = l->is_unix ? bind_unix(l, l->fd.fd, why) : bind_inet(l, l->fd.fd);
  if (error == 0)
    error = (int)mprof_sys_listen(l->fd.fd, BACKLOG);
  if (error != 0)
    mprof_own_fd_close(&l->fd);
  return error;
}

int mprof_listener_open(struct mprof_listener *l, const char *address) {
  const char *why = NULL;
  memset(l, 0, sizeof(*l));
  l->fd.fd = -1;
  int error = strncmp(address, unix_prefix, sizeof(unix_prefix) - 1) == 0
                  ? parse_unix(l, address, &why)
                  : parse_tcp(l, address, &why);
  if (error == 0)
    error = open_socket(l, &why);
  if (error != 0)
    say(l->name[0] != '\0' ? l->name : address, why != NULL ? why : "", "",
        why != NULL ? 0 : error);
  return error;
}

int mprof_listener_reopen(struct mprof_listener *l) {
  const char *why;
  mprof_own_fd_close(&l->fd);
  return open_socket(l, &why);
}

long mprof_listener_accept(struct mprof_listener *l, bool *is_allowed) {
  if (!mprof_own_fd_is_open(&l->fd))
    return -EBADF;
  const long fd = mprof_sys_accept(l->fd.fd);
  unsigned uid;
  *is_allowed = fd >= 0 && (!l->is_unix ||
                            (mprof_sys_peer_uid((int)fd, &uid) == 0 &&
                             (uid == 0 || uid == mprof_sys_effective_uid())));
  return fd;
}

void mprof_listener_remove_path(struct mprof_listener *l) {
  uint64_t dev, ino;
  if (l->is_unix && mprof_sys_path_id(l->path, &dev, &ino) == 0 &&
      dev == l->path_dev && ino == l->path_ino)
    mprof_sys_unlink(l->path);
}

struct mprof_listener_file mprof_listener_file(const struct mprof_listener *l) {
  struct mprof_listener_file f = {.dev = l->path_dev, .ino = l->path_ino};
  if (l->is_unix && strlen(l->path) < sizeof(f.path))
    strcpy(f.path, l->path);
  return f;
}

bool mprof_listener_remove_dead(const struct mprof_listener_file *f) {
  struct sockaddr_un a;
  uint64_t dev, ino;
  if (f->path[0] == '\0' || mprof_sys_path_id(f->path, &dev, &ino) != 0 ||
      dev != f->dev || ino != f->ino)
    return true;
  if (try_connect(&a, make_address(&a, f->path)) != -ECONNREFUSED)
    return false;
  mprof_sys_unlink(f->path);
  return true;
}

void mprof_listener_close(struct mprof_listener *l) {
  mprof_own_fd_close(&l->fd);
}
