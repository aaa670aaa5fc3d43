// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/agent.h"

#include "common/clock.h"
#include "common/memory.h"
#include "common/siphash.h"
#include "files/bytes.h"
#include "files/read_profile.h"
#include "live/live_client.h"
#include "push/ending.h"
#include "push/otlp.h"
#include "push/pyroscope.h"

#include <errno.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

static const char otlp_page[] = "/v1development/profiles";
static const char pyroscope_page[] = "/push.v1.PusherService/Push";
static const char ingest_page[] = "/ingest";

// Returns the length of the address without slashes at its end and without a
// query.
static size_t path_length(const char *address) {
  size_t length = strcspn(address, "?#");
  while (length && address[length - 1] == '/')
    length--;
  return length;
}

static bool has_page(const char *address, const char *page) {
  const size_t n = path_length(address), m = strlen(page);
  return n >= m && memcmp(address + n - m, page, m) == 0;
}

// Appends the page to the path of the address, unless the address has it
// already. A query of the address stays, and a fragment does not.
static char *with_page(const char *address, const char *page) {
  const size_t length = path_length(address);
  const char *query = strchr(address, '?');
  const size_t query_length = query ? strcspn(query, "#") : 0;
  char *url = malloc(length + strlen(page) + query_length + 1);
  if (!url)
    return NULL;
  memcpy(url, address, length);
  url[length] = '\0';
  if (!has_page(address, page))
    strcat(url, page);
  return query ? strncat(url, query, query_length) : url;
}

const char *collector_set_address(struct collector *m, const char *address,
                                  bool is_otlp) {
  if (strncmp(address, "http://", 7) != 0 &&
      strncmp(address, "https://", 8) != 0)
    return "the address must begin with http:// or https://";
  m->form = is_otlp                          ? COLLECTOR_OTLP
            : has_page(address, ingest_page) ? COLLECTOR_INGEST
                                             : COLLECTOR_PYROSCOPE;
  m->url = with_page(address, is_otlp                       ? otlp_page
                              : m->form == COLLECTOR_INGEST ? ingest_page
                                                            : pyroscope_page);
  if (m->form == COLLECTOR_OTLP)
    m->box.hint = "OTLP profiles need the Collector 0.150 or later";
  return m->url ? NULL : "out of memory";
}

// Compresses the body of the letter.
static void zip(struct letter *l) {
  const struct bytes zipped = bytes_zip(&l->body);
  free(l->body.at);
  l->body = zipped;
  l->is_zipped = true;
}

static struct bytes copy(const struct bytes *bytes) {
  struct bytes c = {.at = malloc(bytes->length + 1), .length = bytes->length};
  if (c.at)
    memcpy(c.at, bytes->at, bytes->length);
  else
    c.length = 0;
  return c;
}

void collector_add_profile(struct collector *m, struct profile *p,
                           const char *kind, const struct bytes *zipped,
                           long pid) {
  if (p->sample_count == 0)
    return;
  struct resource r = resource_of(p, pid, &m->resource);
  struct letter l = {.content_type = "application/x-protobuf"};
  switch (m->form) {
  case COLLECTOR_OTLP:
    l.url = strdup(m->url);
    l.body = otlp_request(p, &r);
    zip(&l);
    break;
  case COLLECTOR_PYROSCOPE:
    l.url = strdup(m->url);
    l.content_type = "application/proto";
    l.body = pyroscope_request(kind, &r, zipped);
    break;
  case COLLECTOR_INGEST:
    l.url = pyroscope_ingest_url(m->url, p, &r);
    l.content_type = "application/octet-stream";
    l.body = copy(zipped);
    break;
  }
  resource_free(&r);
  outbox_put(&m->box, &l);
}

// --- sending ---

enum { MS_NS = 1000000, PAUSE_MS = 100 };

void collector_send_until(struct collector *m, int64_t end_ms) {
  const struct timespec pause = {0, PAUSE_MS * MS_NS};
  for (int64_t now; m->box.first && (now = clock_now_ms()) < end_ms;) {
    outbox_send(&m->box, now);
    if (m->box.first)
      nanosleep(&pause, NULL);
  }
}

enum {
  SECOND_MS = 1000,
  REPLY_MS = 10000, // limit for the reply of an HTTP server
  PROFILES_MAX = 32,
  ROUNDS = 20, // before a program is asked again for profiles that it lacked
  LAST_PAUSE_MS = 300000,
};

// A program that was seen.
struct target {
  char *server;
  bool is_there;             // found in this round
  bool failed;               // the last request failed, and a message said so
  int64_t pause_ms, next_ms; // a program that does not answer is asked less
  // Profiles that the program does not have. One bit for each name. It may get
  // them later, so they are asked for again after some rounds.
  uint32_t lacking;
  bool said_lacking;
};

struct run {
  struct agent *a;
  unsigned long round;
  struct target *targets;
  size_t count, capacity;
};

// --- one profile ---

// The page of a profile. Those pages that begin where the last reply ended
// lose nothing and count nothing twice. The name of the client is that of the
// collector: an agent that is started again goes on where the last one ended,
// and another collector gets all events, too.
static void make_path(char path[256], const char *name, const char *url) {
  const bool has_delta = strcmp(name, "heap") == 0 ||
                         strcmp(name, "block") == 0 ||
                         strcmp(name, "mutex") == 0;
  if (has_delta)
    snprintf(path, 256, "/debug/pprof/delta_%s?client=mprof-push-%016llx", name,
             (unsigned long long)siphash(0, url, strlen(url)));
  else
    snprintf(path, 256, "/debug/pprof/%.200s", name);
}

static long peer_of(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0
             ? (long)peer.pid
             : 0;
}

// Says once that a program does not answer.
static void note_failure(struct run *run, struct target *t, const char *why) {
  char line[512];
  if (!t->failed) {
    snprintf(line, sizeof line, "%s: %s", t->server, why);
    run->a->collector->box.say(line);
  }
  t->failed = true;
}

static void deliver(struct run *run, struct target *t, const char *name,
                    const struct bytes *zipped, long pid) {
  struct bytes plain = {.at = malloc(zipped->length + 1),
                        .length = zipped->length};
  if (!plain.at)
    return;
  memcpy(plain.at, zipped->at, zipped->length);
  struct profile *p = profile_new();
  const char *error = bytes_unzip(&plain);
  if (!error)
    error = read_profile(p, &plain, NULL);
  if (error)
    note_failure(run, t, error);
  else
    collector_add_profile(run->a->collector, p, name, zipped, pid);
  profile_free(p);
  free(plain.at);
}

// The time at which the agent gives up the reply that it waits for.
static int64_t reply_end_ms;

static bool must_give_up(void) {
  const int64_t now = clock_now_ms();
  return now >= reply_end_ms || now >= ending_read_ms();
}

// Returns the status of the reply, or 0.
static int ask(struct run *run, struct target *t, const char *name) {
  char path[256], why[256];
  const int fd = live_connect(t->server, why, sizeof why);
  if (fd < 0) {
    note_failure(run, t, why);
    return 0;
  }
  reply_end_ms = clock_now_ms() + REPLY_MS;
  const long pid = peer_of(fd);
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  make_path(path, name, run->a->collector->url);
  struct live_reply reply = {
      .out = out, .most = HTTP_MEMORY_MAX, .text = "out of memory"};
  const int status = out ? live_ask(fd, "GET", path, &reply, must_give_up) : 0;
  if (out)
    fclose(out);
  if (status == 200)
    deliver(run, t, name,
            &(struct bytes){.at = (uint8_t *)text, .length = size}, pid);
  else if (status != 404)
    note_failure(run, t, reply.text);
  free(text);
  return status;
}

static void note_lacking(struct run *run, struct target *t, size_t i) {
  char line[512];
  t->lacking |= UINT32_C(1) << i;
  snprintf(line, sizeof line, "%s: the program has no profile %s", t->server,
           run->a->profiles.items[i]);
  if (run->a->says_lacking && !t->said_lacking)
    run->a->collector->box.say(line);
  t->said_lacking |= run->a->says_lacking;
}

// One program that hangs must not delay the others in each round.
static void pause_target(struct run *run, struct target *t) {
  t->pause_ms = t->pause_ms ? 2 * t->pause_ms : run->a->every_ms;
  if (t->pause_ms > LAST_PAUSE_MS)
    t->pause_ms = LAST_PAUSE_MS;
  t->next_ms = clock_now_ms() + t->pause_ms;
}

static void read_target(struct run *run, struct target *t) {
  const struct text_list *names = &run->a->profiles;
  bool has_answered = false;
  if (clock_now_ms() < t->next_ms)
    return;
  if (run->round % ROUNDS == 0)
    t->lacking = 0;
  for (size_t i = 0; i < names->count && i < PROFILES_MAX; i++) {
    if (t->lacking >> i & 1)
      continue;
    const int status = ask(run, t, names->items[i]);
    if (status == 0) {
      pause_target(run, t);
      return;
    }
    has_answered |= status == 200;
    if (status == 404)
      note_lacking(run, t, i);
  }
  t->pause_ms = 0;
  if (has_answered)
    t->failed = false;
  run->a->answers += has_answered;
}

// --- programs ---

static void find(struct run *run, const char *server) {
  for (size_t i = 0; i < run->count; i++)
    if (strcmp(run->targets[i].server, server) == 0) {
      run->targets[i].is_there = true;
      return;
    }
  *APPEND(run->targets, run->count, run->capacity) =
      (struct target){.server = strdup(server), .is_there = true};
}

static void find_all(struct run *run) {
  for (size_t i = 0; i < run->count; i++)
    run->targets[i].is_there = false;
  for (size_t i = 0; i < run->a->servers.count; i++) {
    const char *server = run->a->servers.items[i];
    const char *path = strncmp(server, "unix:", 5) == 0 ? server + 5 : server;
    glob_t found;
    if (!strchr(path, '/')) { // an address, such as [::1]:6060
      find(run, server);
      continue;
    }
    // An HTTP server that is no path, or a path without a file yet, is kept as
    // it is.
    if (glob(path, 0, NULL, &found) == 0) {
      for (size_t j = 0; j < found.gl_pathc; j++)
        find(run, found.gl_pathv[j]);
      globfree(&found);
    } else if (!strpbrk(path, "*?[")) {
      find(run, server);
    }
  }
}

// Forgets the programs whose sockets have vanished.
static void forget_gone(struct run *run) {
  size_t kept = 0;
  for (size_t i = 0; i < run->count; i++)
    if (run->targets[i].is_there)
      run->targets[kept++] = run->targets[i];
    else
      free(run->targets[i].server);
  run->count = kept;
}

static void read_all(struct run *run) {
  find_all(run);
  forget_gone(run);
  for (size_t i = 0; i < run->count && clock_now_ms() < ending_read_ms(); i++) {
    read_target(run, &run->targets[i]);
    outbox_send(&run->a->collector->box, clock_now_ms());
  }
  run->round++;
}

// --- time ---

// Waits until the time, or for a signal. Returns whether a signal has come.
static bool wait_until(int64_t ms) {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  for (;;) {
    int64_t left = ms - clock_now_ms();
    if (left < 0)
      left = 0;
    const struct timespec t = {left / SECOND_MS,
                               (long)(left % SECOND_MS) * 1000000};
    if (sigtimedwait(&ends, NULL, &t) > 0) {
      ending_begin();
      return true;
    }
    if (errno != EINTR)
      return false;
  }
}

void agent_run(struct agent *a) {
  struct run run = {.a = a};
  struct outbox *o = &a->collector->box;
  int64_t next = clock_now_ms();
  for (bool has_ended = false; !has_ended;) {
    if (clock_now_ms() >= next) {
      read_all(&run);
      next += a->every_ms;
      if (next <= clock_now_ms()) // a round has taken longer than the interval
        next = clock_now_ms() + a->every_ms;
      if (a->is_once)
        break;
    }
    outbox_send(o, clock_now_ms());
    has_ended =
        wait_until(o->first && o->next_try_ms < next ? o->next_try_ms : next);
  }
  if (!a->is_once)
    read_all(&run);
  collector_send_until(a->collector, clock_now_ms() + ENDING_SEND_MS);
  for (size_t i = 0; i < run.count; i++)
    free(run.targets[i].server);
  free(run.targets);
}
