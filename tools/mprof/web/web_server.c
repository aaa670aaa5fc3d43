// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "web/web_server.h"

#include "common/clock.h"
#include "common/memory.h"
#include "http/http_request.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  READ_MS = 5000,   // for a whole request
  WRITE_MS = 30000, // without any progress
  DRAIN_MS = 1000,  // until the client closes the connection
  BUSY_MS = 20      // while a page is being made
};

enum state { READING, WAITING, WRITING, DRAINING };

struct web_connection {
  int fd;
  enum state state;
  int64_t deadline_ms;
  bool is_head;
  char in[MPROF_HTTP_HEAD_MAX];
  size_t in_length;
  char *out; // head, and body of short replies
  size_t out_length, out_at;
  struct web_page *page; // the body behind `out`, or NULL
  size_t page_at;
};

// --- secrets ---

static bool make_secret(char secret[WEB_SECRET]) {
  unsigned char bytes[WEB_SECRET / 2];
  // Without random bytes, there is no secret.
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    return false;
  for (size_t i = 0; i < sizeof bytes; i++)
    snprintf(secret + 2 * i, 3, "%02x", bytes[i]);
  return true;
}

// Compares in a time that does not depend on the text.
static bool is_secret(const char *secret, const char *text) {
  const size_t length = strlen(text);
  unsigned char differs = length != WEB_SECRET - 1 || secret[0] == '\0';
  for (size_t i = 0; i < WEB_SECRET - 1; i++)
    differs |= (unsigned char)(secret[i] ^ text[i < length ? i : 0]);
  return differs == 0;
}

static bool has_secret(const struct mprof_http_request *r, const char *name,
                       const char *secret) {
  char value[2 * WEB_SECRET];
  return mprof_http_parameter(r->query, name, value, sizeof value) ==
             MPROF_PARAMETER_GOOD &&
         is_secret(secret, value);
}

// --- the socket ---

const char *web_server_open(struct web_server *s, unsigned short port) {
  struct sockaddr_in a = {.sin_family = AF_INET,
                          .sin_port = htons(port),
                          .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof a;
  const int on = 1;
  if (!make_secret(s->token))
    return "the kernel gives no random numbers for the token";
  s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (s->fd < 0)
    return strerror(errno);
  setsockopt(s->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (bind(s->fd, (struct sockaddr *)&a, sizeof a) != 0 ||
      listen(s->fd, 16) != 0 ||
      getsockname(s->fd, (struct sockaddr *)&a, &length) != 0) {
    const char *error = strerror(errno);
    close(s->fd);
    return error;
  }
  s->port = ntohs(a.sin_port);
  return NULL;
}

bool web_server_make_code(struct web_server *s) {
  enum { VALID_MS = 60000 };
  s->code_end_ms = clock_now_ms() + VALID_MS;
  return make_secret(s->code);
}

// Returns whether the header Host is an address of this server.
static bool is_own_host(const struct web_server *s,
                        struct mprof_http_text host) {
  static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char own[32];
    snprintf(own, sizeof own, "%s:%u", names[i], s->port);
    if (host.len == strlen(own) && strncasecmp(host.p, own, host.len) == 0)
      return true;
    // Browsers leave out the port of http.
    if (s->port == 80 && host.len == strlen(names[i]) &&
        strncasecmp(host.p, names[i], host.len) == 0)
      return true;
  }
  return false;
}

// Returns whether the user of this process has opened the connection, or root,
// who forwards the connections of some browsers. The kernel tells the user of
// each socket of this machine.
static bool is_own_user(int fd) {
  struct sockaddr_in own, client;
  socklen_t own_length = sizeof own, client_length = sizeof client;
  char wanted[64], line[256];
  unsigned user;
  bool is_own = false;
  if (getsockname(fd, (struct sockaddr *)&own, &own_length) != 0 ||
      getpeername(fd, (struct sockaddr *)&client, &client_length) != 0)
    return false;
  // 01: the client has not closed the socket, after which its user is unknown.
  snprintf(wanted, sizeof wanted, ": %08X:%04X %08X:%04X 01 ",
           (unsigned)client.sin_addr.s_addr, ntohs(client.sin_port),
           (unsigned)own.sin_addr.s_addr, ntohs(own.sin_port));
  FILE *f = fopen("/proc/self/net/tcp", "re");
  while (f && !is_own && fgets(line, sizeof line, f)) {
    const char *found = strstr(line, wanted);
    is_own = found &&
             sscanf(found + strlen(wanted), "%*s %*s %*s %u", &user) == 1 &&
             (user == getuid() || user == 0);
  }
  if (f)
    fclose(f);
  return is_own;
}

// --- connections ---

static void end(struct web_server *s, size_t i) {
  struct web_connection *c = s->connections[i];
  close(c->fd);
  free(c->out);
  web_page_release(c->page);
  free(c);
  s->connections[i] = NULL;
}

static void begin(struct web_server *s, size_t i, int fd) {
  struct web_connection *c = zeroed(1, sizeof *c);
  c->fd = fd;
  c->deadline_ms = clock_now_ms() + READ_MS;
  s->connections[i] = c;
}

// Returns a free place. If there is none, ends the connection whose deadline
// comes first: it has made no progress for the longest time.
static size_t make_room(struct web_server *s) {
  size_t first = 0;
  for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
    if (!s->connections[i])
      return i;
    if (s->connections[i]->deadline_ms < s->connections[first]->deadline_ms)
      first = i;
  }
  end(s, first);
  return first;
}

static void accept_one(struct web_server *s) {
  const int fd = accept4(s->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd >= 0)
    begin(s, make_room(s), fd);
}

// --- replies ---

// Begins a reply. body: text; NULL: the page c->page. location: of status 302,
// or "".
static void reply(const struct web_server *s, struct web_connection *c,
                  int status, const char *body, const char *location) {
  const size_t length = body ? strlen(body) : c->page->length;
  c->out = text_of(
      "HTTP/1.1 %d %s\r\n"
      "Content-Type: text/%s; charset=utf-8\r\n"
      "Content-Length: %zu\r\n"
      "%s%s%s%s"
      "Connection: close\r\n"
      "Cache-Control: no-store\r\n"
      "Content-Security-Policy: %s; frame-ancestors 'none'\r\n"
      "Cross-Origin-Opener-Policy: same-origin\r\n"
      "Cross-Origin-Resource-Policy: same-origin\r\n"
      "Referrer-Policy: no-referrer\r\n"
      "X-Content-Type-Options: nosniff\r\n"
      "X-Frame-Options: DENY\r\n\r\n%s",
      status, mprof_http_status_text(status), body ? "plain" : "html", length,
      status == 405 ? "Allow: GET, HEAD\r\n" : "",
      *location ? "Location: " : "", location, *location ? "\r\n" : "",
      body ? "default-src 'none'" : s->policy, body && !c->is_head ? body : "");
  c->out_length = strlen(c->out);
  if (c->is_head) {
    web_page_release(c->page);
    c->page = NULL;
  }
  c->state = WRITING;
  c->deadline_ms = clock_now_ms() + WRITE_MS;
}

static void reply_page(const struct web_server *s, struct web_connection *c) {
  c->page = web_page_use(s->pages->page);
  reply(s, c, 200, NULL, "");
}

static void reply_state(const struct web_server *s, struct web_connection *c) {
  char *text = text_of("%lu\n%s", s->pages->page->version,
                       s->pages->error ? s->pages->error : "");
  reply(s, c, 200, text, "");
  free(text);
}

// Leads to the page. The code is used up. Other users, who may see it in the
// list of processes before the browser has used it, cannot use it at all.
static void reply_start(struct web_server *s, struct web_connection *c) {
  char *location = text_of("/?token=%s", s->token);
  s->code[0] = '\0';
  reply(s, c, 302, "", location);
  free(location);
}

// Returns why the request is refused, and the status, or NULL. The first check
// is that of the host, so that a page of another site learns nothing.
static const char *refuse(const struct web_server *s,
                          const struct mprof_http_request *r, int *status) {
  *status = 403;
  if (!is_own_host(s, r->host))
    return "the header Host is not an address of this server\n";
  if (r->is_foreign)
    return "a page of another web site has sent this request\n";
  *status = 405;
  if (r->method != MPROF_HTTP_GET && r->method != MPROF_HTTP_HEAD)
    return "use GET or HEAD\n";
  *status = 413;
  if (r->body_len)
    return "a request has no body here\n";
  return NULL;
}

static void answer(struct web_server *s, struct web_connection *c,
                   const struct mprof_http_request *r) {
  int status;
  c->is_head = r->method == MPROF_HTTP_HEAD;
  const char *why = refuse(s, r, &status);
  const bool is_start = strcmp(r->path, "/start") == 0;
  if (why) {
    reply(s, c, status, why, "");
  } else if (is_start && clock_now_ms() < s->code_end_ms &&
             has_secret(r, "code", s->code) && is_own_user(c->fd)) {
    reply_start(s, c);
  } else if (!has_secret(r, "token", s->token)) {
    reply(s, c, 403,
          is_start ? "the code was used before, or is of another user; use the "
                     "address that mprof serve has printed\n"
                   : "the token is missing or wrong; use the address that "
                     "mprof serve has printed\n",
          "");
  } else if (strcmp(r->path, "/state") == 0) {
    if (s->is_old(s->arg, false))
      page_builder_start(s->pages);
    reply_state(s, c);
  } else if (strcmp(r->path, "/") != 0) {
    reply(s, c, 404, "there is no such page\n", "");
  } else if (c->is_head || !s->is_old(s->arg, true) ||
             !page_builder_start(s->pages)) {
    reply_page(s, c);
  } else {
    c->state = WAITING;
    c->deadline_ms = INT64_MAX; // the page builder has a limit
  }
}

// --- input and output ---

static bool read_request(struct web_server *s, struct web_connection *c) {
  struct mprof_http_request r;
  const ssize_t n =
      recv(c->fd, c->in + c->in_length, sizeof c->in - c->in_length, 0);
  if (n <= 0)
    return n < 0 && (errno == EAGAIN || errno == EINTR);
  c->in_length += (size_t)n;
  const int status = mprof_http_parse(c->in, c->in_length, &r);
  if (status == MPROF_HTTP_OK)
    answer(s, c, &r);
  else if (status != 0)
    reply(s, c, status, "this is no request that the server understands\n", "");
  return true;
}

// Sends a part. Returns false if the connection has failed.
static bool send_part(struct web_connection *c, const char *at, size_t length,
                      size_t *done) {
  while (*done < length) {
    const ssize_t n = send(c->fd, at + *done, length - *done, MSG_NOSIGNAL);
    if (n < 0)
      return errno == EAGAIN || errno == EINTR;
    *done += (size_t)n;
    c->deadline_ms = clock_now_ms() + WRITE_MS;
  }
  return true;
}

static bool write_reply(struct web_connection *c) {
  if (!send_part(c, c->out, c->out_length, &c->out_at) ||
      (c->out_at == c->out_length && c->page &&
       !send_part(c, c->page->at, c->page->length, &c->page_at)))
    return false;
  if (c->out_at < c->out_length || (c->page && c->page_at < c->page->length))
    return true;
  // A connection that is closed before all input was read is reset, and the
  // client may lose the reply.
  shutdown(c->fd, SHUT_WR);
  c->state = DRAINING;
  c->deadline_ms = clock_now_ms() + DRAIN_MS;
  return true;
}

static bool drain(const struct web_connection *c) {
  char rest[4096];
  const ssize_t n = recv(c->fd, rest, sizeof rest, 0);
  return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

// Returns false if the connection ends.
static bool advance(struct web_server *s, struct web_connection *c,
                    bool is_busy) {
  if (clock_now_ms() > c->deadline_ms)
    return false;
  switch (c->state) {
  case READING:
    return read_request(s, c);
  case WAITING:
    if (!is_busy)
      reply_page(s, c);
    return true;
  case WRITING:
    return write_reply(c);
  default:
    return drain(c);
  }
}

// Fills the array for poll. Returns the milliseconds until the next deadline.
static int64_t prepare(const struct web_server *s,
                       struct pollfd fds[WEB_CONNECTIONS + 1], bool is_busy) {
  int64_t next = INT64_MAX;
  fds[WEB_CONNECTIONS] = (struct pollfd){.fd = s->fd, .events = POLLIN};
  for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
    const struct web_connection *c = s->connections[i];
    fds[i] = (struct pollfd){.fd = -1};
    if (!c)
      continue;
    fds[i].fd = c->state == WAITING ? -1 : c->fd;
    fds[i].events = c->state == WRITING ? POLLOUT : POLLIN;
    next = c->deadline_ms < next ? c->deadline_ms : next;
  }
  const int64_t now = clock_now_ms();
  next = next == INT64_MAX ? -1 : next > now ? next - now + 1 : 0;
  return is_busy && (next < 0 || next > BUSY_MS) ? BUSY_MS : next;
}

void web_server_run(struct web_server *s, bool (*must_end)(void)) {
  struct pollfd fds[WEB_CONNECTIONS + 1];
  sigset_t none;
  sigemptyset(&none);
  while (!must_end()) {
    const bool is_busy = page_builder_is_busy(s->pages);
    for (size_t i = 0; i < WEB_CONNECTIONS; i++)
      if (s->connections[i] && s->connections[i]->state == WAITING)
        advance(s, s->connections[i], is_busy);
    const int64_t wait = prepare(s, fds, is_busy);
    const struct timespec limit = {wait / 1000, wait % 1000 * 1000000};
    // The caller has blocked the signals, so none comes before this wait.
    if (ppoll(fds, WEB_CONNECTIONS + 1, wait < 0 ? NULL : &limit, &none) < 0)
      continue;
    for (size_t i = 0; i < WEB_CONNECTIONS; i++) {
      struct web_connection *c = s->connections[i];
      const bool is_late = c && clock_now_ms() > c->deadline_ms;
      if (c && (is_late || (fds[i].fd >= 0 && fds[i].revents)) &&
          !advance(s, c, true))
        end(s, i);
    }
    if (fds[WEB_CONNECTIONS].revents)
      accept_one(s);
  }
}

void web_server_close(struct web_server *s) {
  for (size_t i = 0; i < WEB_CONNECTIONS; i++)
    if (s->connections[i])
      end(s, i);
  close(s->fd);
}
