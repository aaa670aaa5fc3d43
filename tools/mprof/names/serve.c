// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/serve.h"

#include "common/demangle.h"
#include "common/memory.h"
#include "names/cut_name.h"
#include "names/debug_file.h"
#include "names/jit_names.h"
#include "names/kept_file.h"
#include "names/limits.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/message.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

enum {
  CONNECTION = STDIN_FILENO,
  MAX_FILES = 32,
  MAX_NAME = 1 << 16, // a longer name is not demangled
  IDLE_SECONDS = 600, // longest time without a request
};
_Static_assert((int)MPROF_CUT_ALL == MPROF_REPLY_SIZE,
               "a reply has room for all frames");

// Where names are kept.
static struct {
  const char *directory; // the user's cache directory, or NULL
  const char *program;
  uint64_t stamp; // of the program
} keeping;

// A text that grows, and may contain null bytes.
struct text {
  char *at;
  size_t length, capacity;
};

static void put(struct text *t, const char *bytes, size_t length) {
  t->at = grow(t->at, &t->capacity, t->length + length, 1);
  memcpy(t->at + t->length, bytes, length);
  t->length += length;
}

// --- replies ---

// Returns the text for a field of a frame, which the caller frees. Control
// characters would end a field or a line of an output file, so they are written
// as octal numbers. A byte that is no UTF-8 is replaced, as llvm-symbolizer
// does.
static char *field_of(const char *text) {
  struct text t = {0};
  for (const char *c = text; *c;) {
    const size_t n = mprof_utf8_length((const unsigned char *)c, strnlen(c, 4));
    const unsigned char u = (unsigned char)*c;
    char octal[5];
    if (n == 0) {
      put(&t, "\xef\xbf\xbd", 3);
    } else if (u < 0x20 || u == 0x7f) {
      snprintf(octal, sizeof octal, "\\%03o", u);
      put(&t, octal, 4);
    } else {
      put(&t, c, n);
    }
    c += n ? n : 1;
  }
  put(&t, "", 1);
  return t.at;
}

static char *function_of(const char *name) {
  char *plain = strlen(name) < MAX_NAME ? demangle(name) : NULL;
  char *field = field_of(plain ? plain : name);
  free(plain);
  return field;
}

static void put_frame(struct text *reply, const struct name_frame *f,
                      size_t after) {
  static const char separator = MPROF_FRAME_SEPARATOR;
  char numbers[48];
  const int n =
      snprintf(numbers, sizeof numbers, "%c%lld%c%lld", separator,
               (long long)f->line, separator, (long long)f->start_line);
  char *function = function_of(f->function), *file = field_of(f->file);
  // The reply ends with an empty text. A separator is between the two.
  mprof_cut_frame(function, file,
                  mprof_cut_room(MPROF_REPLY_SIZE - 1 - reply->length, after) -
                      (size_t)n - 2);
  put(reply, function, strlen(function));
  put(reply, &separator, 1);
  put(reply, file, strlen(file));
  put(reply, numbers, (size_t)n + 1);
  free(function);
  free(file);
}

static void take_frames(void *arg, size_t index,
                        const struct name_frame *frames, size_t count) {
  struct text *reply = (struct text *)arg + index;
  reply->length = 0;
  for (size_t i = 0; i < count; i++)
    if (*frames[i].function)
      put_frame(reply, &frames[i], count - 1 - i);
  put(reply, "", 1);
}

// --- files ---

// A file that was asked about.
struct known_file {
  int64_t noted_ns;
  char path[MPROF_REQUEST_FILE], build_id[MPROF_REQUEST_BUILD_ID];
  struct debug_file *debug; // NULL: gives no names
  char *problem;            // why names are missing, or NULL
  struct kept_file *kept;   // NULL: names are not kept
};

static const struct places places;
static struct known_file *files[MAX_FILES];
static size_t file_count;

static void add_source(void *arg, const char *path) {
  struct stat st;
  kept_file_source(arg, path,
                   stat(path, &st) == 0 ? kept_file_stamp(&st)
                                        : MPROF_KEPT_ABSENT);
}

static void begin_keeping(struct known_file *f, const struct stat *module) {
  f->kept = kept_file_new(keeping.directory, f->path, f->build_id);
  if (!f->kept)
    return;
  kept_file_source(f->kept, f->path, kept_file_stamp(module));
  kept_file_source(f->kept, keeping.program, keeping.stamp);
  debug_file_places(f->debug, add_source, f->kept);
}

// Without a build id, the file must not have changed since it was loaded.
static bool is_loaded_file(const struct known_file *f, const struct stat *st) {
  return *f->build_id ||
         (int64_t)st->st_ctim.tv_sec * 1000000000 + st->st_ctim.tv_nsec <
             f->noted_ns;
}

// Replaces each \012 in the path by a line break, which the kernel shows in
// this way. Returns false if there is none.
static bool unescape(char *path) {
  bool has_any = false;
  for (char *p = path; (p = strstr(p, "\\012")); p++) {
    *p = '\n';
    memmove(p + 1, p + 4, strlen(p + 4) + 1);
    has_any = true;
  }
  return has_any;
}

// Finds and opens the file at the path. Returns whether it is the one that was
// loaded. If not, sets f->problem.
static bool find_at(struct known_file *f, const char *path, struct place *place,
                    struct stat *st) {
  free(f->problem);
  f->problem = places_find(&places, path, f->build_id, place);
  if (f->problem)
    return false;
  if (fstat(place->fd, st) == 0 && is_loaded_file(f, st))
    return true;
  f->problem = text_of("%s has changed since it was loaded; its frames have no "
                       "names",
                       place->path);
  close(place->fd);
  free(place->path);
  return false;
}

static void open_file(struct known_file *f) {
  struct place place;
  struct stat st;
  char path[sizeof f->path];
  memcpy(path, f->path, sizeof path);
  if (!find_at(f, path, &place, &st) &&
      !(unescape(path) && find_at(f, path, &place, &st)))
    return;
  const bool may_keep = keeping.directory && strcmp(place.path, f->path) == 0;
  f->debug = debug_file_open(&place, &places, &f->problem);
  if (f->debug && !f->problem && may_keep)
    begin_keeping(f, &st);
}

static void close_file(struct known_file *f) {
  kept_file_save(f->kept);
  kept_file_free(f->kept);
  if (f->debug)
    debug_file_close(f->debug);
  free(f->problem);
  free(f);
}

static bool is_file_of(const struct known_file *f,
                       const struct mprof_symbolizer_request *r) {
  return strcmp(f->path, r->file) == 0 &&
         strcmp(f->build_id, r->build_id) == 0 &&
         (*r->build_id || f->noted_ns == r->noted_ns);
}

static struct known_file *find_file(const struct mprof_symbolizer_request *r) {
  for (size_t i = 0; i < file_count; i++)
    if (is_file_of(files[i], r))
      return files[i];
  if (file_count == MAX_FILES) {
    close_file(files[0]);
    memmove(&files[0], &files[1], --file_count * sizeof *files);
  }
  struct known_file *f = zeroed(1, sizeof *f);
  f->noted_ns = r->noted_ns;
  memcpy(f->path, r->file, sizeof f->path);
  memcpy(f->build_id, r->build_id, sizeof f->build_id);
  open_file(f);
  files[file_count++] = f;
  return f;
}

static void save_all(void) {
  for (size_t i = 0; i < file_count; i++)
    kept_file_save(files[i]->kept);
}

// --- requests ---

static bool send_text(struct text *t) {
  const bool works = send(CONNECTION, t->at, t->length, MSG_NOSIGNAL) >= 0;
  t->length = 0;
  return works;
}

// Sends the problem, which may be NULL. Returns false if the runtime has closed
// the connection.
static bool send_problem(const char *problem) {
  char *field = field_of(problem ? problem : "");
  const bool works =
      send(CONNECTION, field, strlen(field) + 1, MSG_NOSIGNAL) >= 0;
  free(field);
  return works;
}

// Sends all replies. Returns false if the runtime has closed the connection.
static bool send_replies(const struct text *replies, size_t count) {
  static struct text message;
  for (size_t i = 0; i < count; i++) {
    if (message.length + replies[i].length > MPROF_REPLY_SIZE &&
        !send_text(&message))
      return false;
    put(&message, replies[i].at, replies[i].length);
  }
  return send_text(&message);
}

// Answers a request about code that the process has made at run time.
static bool answer_about_jit(const struct mprof_symbolizer_request *r,
                             struct text *replies) {
  char *problem = jit_names_find(
      &(struct jit_query){.mapping = r->file,
                          .process = (pid_t)jit_names_pid(r->file),
                          .addresses = r->addresses,
                          .count = r->count},
      take_frames, replies);
  const bool works = send_problem(problem) && send_replies(replies, r->count);
  free(problem);
  return works;
}

static void answer_about_variables(const struct known_file *f,
                                   const struct mprof_symbolizer_request *r,
                                   struct text *replies) {
  for (size_t i = 0; f->debug && i < r->count; i++) {
    char *name = debug_file_variable(f->debug, r->addresses[i]);
    if (!name)
      continue;
    char *field = field_of(name);
    mprof_cut_name(field, MPROF_REPLY_SIZE - 2);
    replies[i].length = 0;
    put(&replies[i], field, strlen(field) + 1);
    put(&replies[i], "", 1);
    free(field);
    free(name);
  }
}

// Answers a request. Returns false if the runtime has closed the connection.
static bool answer_request(const struct mprof_symbolizer_request *r) {
  static struct text replies[MPROF_REQUEST_ADDRESSES];
  for (size_t i = 0; i < r->count; i++) {
    replies[i].length = 0;
    put(&replies[i], "", 1);
  }
  if (profile_file_is_jit(r->file))
    return answer_about_jit(r, replies);
  struct known_file *f = find_file(r);
  if (r->are_variables)
    answer_about_variables(f, r, replies);
  else if (f->debug)
    debug_file_frames(f->debug, r->addresses, r->count, true, take_frames,
                      replies);
  if (f->kept && !r->are_variables && debug_file_is_complete(f->debug))
    for (size_t i = 0; i < r->count; i++)
      kept_file_add(f->kept, r->addresses[i], replies[i].at, replies[i].length);
  return send_problem(f->problem) && send_replies(replies, r->count);
}

// Reads a request. Returns false at the end of the connection. A stop and a
// continuation of the process (SIGSTOP, SIGCONT) interrupt the call.
static bool receive(struct mprof_symbolizer_request *r) {
  ssize_t n;
  do
    n = recv(CONNECTION, r, sizeof *r, 0);
  while (n < 0 && errno == EINTR);
  if (n < (ssize_t)offsetof(struct mprof_symbolizer_request, addresses))
    return false;
  r->file[sizeof r->file - 1] = '\0';
  r->build_id[sizeof r->build_id - 1] = '\0';
  return r->count > 0 && r->count <= MPROF_REQUEST_ADDRESSES;
}

// Writes new names if no request follows soon.
static void save_if_idle(void) {
  enum { SOON_MS = 1 };
  struct pollfd p = {.fd = CONNECTION, .events = POLLIN};
  if (poll(&p, 1, SOON_MS) == 0)
    save_all();
}

int names_serve(const char *program, int count, char *const *arguments) {
  if (count < 1 || count > 2 ||
      strcmp(arguments[0], MPROF_SYMBOLIZER_VERSION) != 0) {
    fputs("mprof " MPROF_SYMBOLIZER_COMMAND
          ": finds function names for programs that are profiled with MProf; "
          "it is not for use by hand\n",
          stderr);
    return MPROF_SYMBOLIZER_OTHER;
  }
  limits_begin(true);
  // The connection may stay open after its program has ended, because another
  // process has inherited it.
  const struct timeval idle = {.tv_sec = IDLE_SECONDS};
  setsockopt(CONNECTION, SOL_SOCKET, SO_RCVTIMEO, &idle, sizeof idle);
  signal(SIGXFSZ, SIG_IGN); // a file of the cache may be too large
  struct stat st;
  if (count == 2 && arguments[1][0] == '/' && stat(program, &st) == 0) {
    keeping.directory = arguments[1];
    keeping.program = program;
    keeping.stamp = kept_file_stamp(&st);
  }
  static struct mprof_symbolizer_request r;
  while (receive(&r)) {
    limits_renew(); // the process may serve for days
    if (!answer_request(&r))
      break;
    save_if_idle();
  }
  save_all();
  _exit(0); // nothing to flush or to free
}
