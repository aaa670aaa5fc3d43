// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "live/live_client.h"

#include "common/memory.h"
#include "live/process_mprof.h"
#include "live/process_use.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static const char unix_prefix[] = "unix:";

static bool is_number(const char *text) {
  return *text != '\0' && text[strspn(text, "0123456789")] == '\0';
}

static bool is_socket(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

// Returns the colon before the port of ADDRESS:PORT, or NULL.
static const char *find_port(const char *text) {
  const char *colon = strrchr(text, ':');
  return colon && colon != text && is_number(colon + 1) ? colon : NULL;
}

bool live_is_target(const char *text) {
  return strncmp(text, unix_prefix, strlen(unix_prefix)) == 0 ||
         is_socket(text) ||
         (access(text, F_OK) != 0 && (is_number(text) || find_port(text)));
}

// --- connections ---

// Gives up after some seconds: a program that is stopped does not accept, and
// its queue may be full. Returns -1 and sets errno on failure.
static int connect_to(const void *address, socklen_t length) {
  const struct timeval limit = {.tv_sec = 10};
  const int family = ((const struct sockaddr *)address)->sa_family;
  const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return -1;
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (connect(fd, address, length) == 0)
    return fd;
  const int error = errno;
  close(fd);
  errno = error;
  return -1;
}

static int connect_unix(const char *path) {
  struct sockaddr_un a = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof a.sun_path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  strcpy(a.sun_path, path);
  return connect_to(&a, sizeof a);
}

static int connect_tcp(const char *text) {
  char host[256];
  const char *colon = find_port(text);
  const bool has_brackets = text[0] == '[' && colon > text + 1;
  const size_t length = (size_t)(colon - text) - 2 * has_brackets;
  struct addrinfo *found,
      hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
  if (length >= sizeof host) {
    errno = ENAMETOOLONG;
    return -1;
  }
  memcpy(host, text + has_brackets, length);
  host[length] = '\0';
  if (getaddrinfo(host, colon + 1, &hints, &found) != 0) {
    errno = EADDRNOTAVAIL;
    return -1;
  }
  // A name may have several addresses, of which the server has one: localhost
  // is often ::1 and 127.0.0.1.
  int fd = -1;
  for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
    fd = connect_to(a->ai_addr, a->ai_addrlen);
  const int error = errno;
  freeaddrinfo(found);
  errno = error;
  return fd;
}

// --- the HTTP server of a process ---

// Searches the process for a thread whose name begins with `begin`, and stores
// the rest of the name in `rest`. Returns its id, or 0 if there is none.
static int find_thread(const char *pid, const char *begin,
                       char rest[PROCESS_THREAD_NAME]) {
  char path[64], name[PROCESS_THREAD_NAME];
  snprintf(path, sizeof path, "/proc/%.20s/task", pid);
  DIR *d = opendir(path);
  int found = 0;
  for (struct dirent *e; d && !found && (e = readdir(d));) {
    if (e->d_name[0] == '.' || !process_thread_name(pid, e->d_name, name) ||
        strncmp(name, begin, strlen(begin)) != 0)
      continue;
    found = atoi(e->d_name);
    strcpy(rest, name + strlen(begin));
  }
  if (d)
    closedir(d);
  return found;
}

static bool has_server(const char *pid) {
  char rest[PROCESS_THREAD_NAME];
  return find_thread(pid, "mprof-http\n", rest) != 0;
}

bool live_has_server(const char *pid) {
  char rest[32];
  return has_server(pid) || find_thread(pid, "mprof-signal-", rest) != 0;
}

// Returns whether the process has a handler for the signal.
static bool catches(const char *pid, int number) {
  char path[64], line[256];
  unsigned long long caught = 0;
  snprintf(path, sizeof path, "/proc/%.20s/status", pid);
  FILE *f = fopen(path, "r");
  while (f && fgets(line, sizeof line, f) &&
         sscanf(line, "SigCgt: %llx", &caught) != 1)
    ;
  if (f)
    fclose(f);
  return number > 0 && number <= 64 && (caught >> (number - 1) & 1) != 0;
}

// Returns why the process has no HTTP server, and what profiles it.
static const char *no_server(const char *pid) {
  static char text[400];
  if (!process_has_mprof(pid))
    return "it has no HTTP server for commands; start it with "
           "MPROF_OPTIONS=listen=unix:/tmp/%p.sock or control_signal=USR2, or "
           "with mprof run -O listen=unix:/tmp/%p.sock; mprof attach profiles "
           "processes without MProf";
  char *how = process_how_to_ask(pid);
  snprintf(text, sizeof text, "it has no HTTP server for commands; %s", how);
  free(how);
  return text;
}

// Sends the signal of the option control_signal, by which the program opens its
// HTTP server, to the thread that waits for it, so that it interrupts no other
// thread. Returns NULL if the HTTP server opens, or why not.
static const char *open_server(const char *pid) {
  enum { STEP_US = 10000, STEPS = 200 };
  char number[PROCESS_THREAD_NAME];
  const int tid = find_thread(pid, "mprof-signal-", number);
  if (tid == 0)
    return no_server(pid);
  // Without a handler, the signal would end the program.
  if (!catches(pid, atoi(number)))
    return "it has no HTTP server, and no longer catches the signal of "
           "control_signal";
  if (syscall(SYS_tgkill, atoi(pid), tid, atoi(number)) != 0)
    return strerror(errno);
  for (int i = 0; i < STEPS; i++) {
    if (has_server(pid))
      return NULL;
    usleep(STEP_US);
  }
  return "it has not started its HTTP server at the signal of control_signal; "
         "it may "
         "handle the signal itself, or the socket cannot be made";
}

// Returns the highest descriptor of the process below `below` that is a socket,
// and stores the number of the socket's inode. Returns -1 if there is none. The
// HTTP server's socket has a higher descriptor than the program's own sockets.
static int next_socket(const char *pid, int below, unsigned long *inode) {
  char path[320], target[64];
  int found = -1;
  snprintf(path, sizeof path, "/proc/%.20s/fd", pid);
  DIR *d = opendir(path);
  for (struct dirent *e; d && (e = readdir(d));) {
    const int fd = atoi(e->d_name);
    snprintf(path, sizeof path, "/proc/%.20s/fd/%.20s", pid, e->d_name);
    const ssize_t n = readlink(path, target, sizeof target - 1);
    if (n <= 0 || fd <= found || fd >= below)
      continue;
    target[n] = '\0';
    unsigned long number;
    if (sscanf(target, "socket:[%lu]", &number) == 1) {
      found = fd;
      *inode = number;
    }
  }
  if (d)
    closedir(d);
  return found;
}

// Stores the address of the listening socket with this inode in `address`, as
// live_connect accepts it. Returns whether there is one.
static bool find_unix(const char *pid, unsigned long inode,
                      char address[LIVE_ADDRESS]) {
  char file[64], line[512], path[128];
  snprintf(file, sizeof file, "/proc/%.20s/net/unix", pid);
  FILE *f = fopen(file, "r");
  bool is_found = false;
  while (f && !is_found && fgets(line, sizeof line, f)) {
    unsigned long flags, number;
    if (sscanf(line, "%*s %*s %*s %lx %*s %*s %lu %127s", &flags, &number,
               path) == 3 &&
        number == inode && (flags & 0x10000) != 0) {
      snprintf(address, LIVE_ADDRESS, "%s", path);
      is_found = path[0] == '/';
    }
  }
  if (f)
    fclose(f);
  return is_found;
}

// Writes the address of a line of /proc/net/tcp or tcp6. The address is in
// words of 32 bits, each in the order of the machine.
static void print_address(const char *hex, unsigned port,
                          char address[LIVE_ADDRESS]) {
  uint32_t words[4] = {0};
  char text[INET6_ADDRSTRLEN] = "";
  const int n =
      sscanf(hex, "%8x%8x%8x%8x", &words[0], &words[1], &words[2], &words[3]);
  if (n == 1)
    inet_ntop(AF_INET, words, text, sizeof text);
  else
    inet_ntop(AF_INET6, words, text, sizeof text);
  snprintf(address, LIVE_ADDRESS, n == 1 ? "%s:%u" : "[%s]:%u", text, port);
}

// Searches a table of the kernel, tcp or tcp6, for the listening socket.
static bool find_tcp(const char *pid, const char *table, unsigned long inode,
                     char address[LIVE_ADDRESS]) {
  enum { LISTENS = 10 };
  char file[64], line[512], hex[40];
  snprintf(file, sizeof file, "/proc/%.20s/net/%s", pid, table);
  FILE *f = fopen(file, "r");
  bool is_found = false;
  while (f && !is_found && fgets(line, sizeof line, f)) {
    unsigned port, state;
    unsigned long number;
    if (sscanf(line, "%*s %32[0-9A-F]:%x %*s %x %*s %*s %*s %*s %*s %lu", hex,
               &port, &state, &number) != 4 ||
        number != inode || state != LISTENS)
      continue;
    print_address(hex, port, address);
    is_found = true;
  }
  if (f)
    fclose(f);
  return is_found;
}

// Returns whether an HTTP server answers at the address.
static bool is_server(const char *address) {
  char why[128];
  const int fd = live_connect(address, why, sizeof why);
  FILE *null = fd < 0 ? NULL : fopen("/dev/null", "w");
  struct live_reply reply = {.out = null, .most = HTTP_MEMORY_MAX};
  const bool is = null && live_ask(fd, "GET", "/debug/mprof/get?name=listen",
                                   &reply, NULL) == 200;
  if (null)
    fclose(null);
  return is;
}

static bool find_server(const char *pid, char address[LIVE_ADDRESS]) {
  unsigned long inode;
  for (int fd = next_socket(pid, 1 << 30, &inode); fd >= 0;
       fd = next_socket(pid, fd, &inode))
    if ((find_unix(pid, inode, address) ||
         find_tcp(pid, "tcp", inode, address) ||
         find_tcp(pid, "tcp6", inode, address)) &&
        is_server(address))
      return true;
  return false;
}

__attribute__((format(printf, 3, 4))) static bool
fail(char *why, size_t size, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(why, size, format, args);
  va_end(args);
  return false;
}

bool live_find(const char *target, char address[LIVE_ADDRESS], char *why,
               size_t why_size) {
  if (!is_number(target)) {
    if (strncmp(target, unix_prefix, strlen(unix_prefix)) == 0)
      target += strlen(unix_prefix);
    return snprintf(address, LIVE_ADDRESS, "%s", target) < LIVE_ADDRESS ||
           fail(why, why_size, "the address %s is too long", target);
  }
  snprintf(address, LIVE_ADDRESS, "/proc/%.20s", target);
  if (access(address, F_OK) != 0)
    return fail(why, why_size, "there is no process %s", target);
  const char *shut = has_server(target) ? NULL : open_server(target);
  if (shut)
    return fail(why, why_size, "process %s: %s", target, shut);
  return find_server(target, address) ||
         fail(why, why_size,
              "cannot find the socket of process %s; give its path instead",
              target);
}

int live_connect(const char *target, char *why, size_t why_size) {
  char address[LIVE_ADDRESS];
  if (!live_find(target, address, why, why_size))
    return -1;
  const int fd = address[0] != '/' && !is_socket(address) && find_port(address)
                     ? connect_tcp(address)
                     : connect_unix(address);
  if (fd < 0)
    fail(why, why_size, "cannot connect to %s: %s", address, strerror(errno));
  return fd;
}

// --- requests ---

// A socket from which a reply is read.
struct source {
  int fd;
  bool (*must_give_up)(void); // NULL: never
};

// Waits until the socket is ready. Returns false if the request is given up.
static bool wait_for(const struct source *s, short events) {
  enum { LOOK_MS = 100 };
  struct pollfd p = {.fd = s->fd, .events = events};
  if (!s->must_give_up)
    return true;
  while (!s->must_give_up())
    if (poll(&p, 1, LOOK_MS) > 0)
      return true;
  return false;
}

// (fopencookie)
static ssize_t read_source(void *arg, char *buffer, size_t size) {
  const struct source *s = arg;
  return wait_for(s, POLLIN) ? recv(s->fd, buffer, size, 0) : -1;
}

static bool send_all(const struct source *s, const char *data, size_t len) {
  while (len > 0) {
    const ssize_t n =
        wait_for(s, POLLOUT) ? send(s->fd, data, len, MSG_NOSIGNAL) : -1;
    if (n <= 0)
      return false;
    data += n;
    len -= (size_t)n;
  }
  return true;
}

// Reads the head of the reply. Returns its status code, or 0 if the reply is
// not that of MProf's HTTP server. *length receives the length of the body.
static int read_head(FILE *in, unsigned long long *length) {
  enum { LINES_MAX = 64 };
  char line[1024];
  int status = 0, lines = 0;
  bool is_server = false;
  if (!fgets(line, sizeof line, in) ||
      sscanf(line, "HTTP/1.1 %d", &status) != 1)
    return 0;
  *length = 0;
  while (fgets(line, sizeof line, in) && line[0] != '\r') {
    if (++lines > LINES_MAX)
      return 0;
    sscanf(line, "Content-Length: %llu", length);
    is_server |= strncmp(line, "Server: MProf/", strlen("Server: MProf/")) == 0;
  }
  return is_server ? status : 0;
}

// Copies the body. Returns whether all of it has arrived.
static bool copy_body(FILE *in, FILE *out, unsigned long long length) {
  char buffer[16384];
  while (length > 0 && !feof(in) && !ferror(in)) {
    const size_t n = fread(
        buffer, 1, length < sizeof buffer ? (size_t)length : sizeof buffer, in);
    if (n == 0 || fwrite(buffer, 1, n, out) != n)
      return false;
    length -= n;
  }
  return length == 0 && fflush(out) == 0;
}

// Reads the first line of the body, which explains a status other than 200.
static void read_text(FILE *in, unsigned long long length, int status,
                      struct live_reply *r) {
  const size_t room = sizeof r->text - 1;
  const size_t n = fread(r->text, 1, length < room ? (size_t)length : room, in);
  r->text[n] = '\0';
  r->text[strcspn(r->text, "\r\n")] = '\0';
  if (r->text[0] == '\0')
    snprintf(r->text, sizeof r->text, "status %d", status);
}

// Reads the reply. Returns its status, or 0.
static int read_reply(FILE *in, struct live_reply *r) {
  unsigned long long length;
  const int status = read_head(in, &length);
  if (status == 0)
    return 0;
  if (status != 200) {
    read_text(in, length, status, r);
    return status;
  }
  if (length > r->most) {
    snprintf(r->text, sizeof r->text,
             "sends %llu bytes, and mprof takes at most %llu into memory",
             length, (unsigned long long)r->most);
    return 0;
  }
  errno = 0;
  if (copy_body(in, r->out, length))
    return status;
  if (ferror(r->out))
    snprintf(r->text, sizeof r->text, "sends bytes that cannot be written: %s",
             strerror(errno));
  return 0;
}

int live_ask(int fd, const char *method, const char *path,
             struct live_reply *reply, bool (*must_give_up)(void)) {
  char request[2048];
  struct source source = {fd, must_give_up};
  const int n = snprintf(request, sizeof request,
                         "%s %s HTTP/1.1\r\nHost: localhost\r\n"
                         "Content-Length: 0\r\nConnection: close\r\n\r\n",
                         method, path);
  strcpy(reply->text, "does not answer as an HTTP server of MProf does");
  FILE *in = n < (int)sizeof request && send_all(&source, request, (size_t)n)
                 ? fopencookie(&source, "r",
                               (cookie_io_functions_t){.read = read_source})
                 : NULL;
  int status = 0;
  if (in) {
    status = read_reply(in, reply);
    fclose(in);
  }
  close(fd);
  return status;
}

char *live_fetch(const char *target, const char *method, const char *path,
                 size_t *size, int *status, struct live_reply *reply,
                 bool (*must_give_up)(void)) {
  char *body = NULL;
  *status = 0;
  *reply = (struct live_reply){.out = open_memstream(&body, size),
                               .most = HTTP_MEMORY_MAX,
                               .text = "out of memory"};
  if (!reply->out)
    return NULL;
  const int fd = live_connect(target, reply->text, sizeof reply->text);
  if (fd >= 0 && !(*status = live_ask(fd, method, path, reply, must_give_up))) {
    char *text = text_of("%s %s", target, reply->text);
    snprintf(reply->text, sizeof reply->text, "%s", text);
    free(text);
  }
  fclose(reply->out);
  if (*status == 200)
    return body;
  free(body);
  return NULL;
}
