// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof ctl: shows and changes the options of a running program, gets its
// profiles and traces, and shows what it does in some seconds.

#include "commands/name_locks.h"
#include "commands/options.h"
#include "files/bytes.h"
#include "live/live_client.h"
#include "live/program_name.h"
#include "terminal/style.h"

#include <ctype.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Appends text to a path of a request, with each character that is not a letter
// or a digit as %XX.
static void put_escaped(char *path, size_t size, const char *text) {
  size_t len = strlen(path);
  for (; *text != '\0' && len + 4 < size; text++)
    if (isalnum((unsigned char)*text) || strchr("._-", *text))
      path[len++] = *text;
    else
      len += (size_t)snprintf(path + len, size - len, "%%%02X",
                              (unsigned char)*text);
  path[len] = '\0';
}

// A signal asks for the end of a measurement.
static volatile sig_atomic_t has_signal;

static void note_signal(int number) {
  (void)number;
  has_signal = 1;
}

static bool is_interrupted(void) { return has_signal != 0; }

// Sends a request. Returns the status code. If there is no reply, prints the
// reason and returns 0.
static int request(const struct options *options, const char *method,
                   const char *path, struct live_reply *reply) {
  char why[512];
  const int fd = live_connect(options->paths[0], why, sizeof why);
  if (fd < 0) {
    complain(options, "%s", why);
    return 0;
  }
  const int status = live_ask(fd, method, path, reply, is_interrupted);
  if (status == 0 && is_interrupted())
    complain(options, "interrupted");
  else if (status == 0)
    complain(options, "%s %s", options->paths[0], reply->text);
  return status;
}

// Sends a request. Returns the body of the reply, which the caller frees, and
// stores its length. If the status is not 200, returns NULL, and stores the
// status and the text of the reply. Status 0: there is no reply, and a message
// has said why.
static char *request_body(const struct options *options, const char *method,
                          const char *path, size_t *size, int *status,
                          struct live_reply *reply) {
  char *body = live_fetch(options->paths[0], method, path, size, status, reply,
                          is_interrupted);
  if (*status == 0)
    complain(options, "%s", is_interrupted() ? "interrupted" : reply->text);
  return body;
}

// --- wrong names ---

// The names of the profiles that the program has, such as "allocs, block".
struct profiles {
  char list[800];
  bool has_wanted; // the name that the user has given is in the list
};

// Reads the names from the links of the index, which has a link such as
// <a href='heap?debug=1'> for each profile.
static void list_profiles(const struct options *options, const char *wanted,
                          struct profiles *p) {
  static const char link[] = "<a href='";
  size_t size, length = 0;
  int status;
  struct live_reply reply;
  char *index =
      request_body(options, "GET", "/debug/pprof/", &size, &status, &reply);
  *p = (struct profiles){.list = ""};
  for (const char *at = index; at && (at = strstr(at, link)) != NULL;) {
    at += strlen(link);
    const int name = (int)strcspn(at, "?'");
    p->has_wanted |= strlen(wanted) == (size_t)name &&
                     strncmp(at, wanted, (size_t)name) == 0;
    if (length + (size_t)name + 3 < sizeof p->list)
      length += (size_t)snprintf(p->list + length, sizeof p->list - length,
                                 "%s%.*s", length ? ", " : "", name, at);
  }
  free(index);
}

// Prints the text of a reply that is an error. A user who has given a wrong
// name also learns which names there are.
static void explain(const struct options *options, int status,
                    const char *text) {
  const char *name = options->path_count > 2 ? options->paths[2] : "";
  struct profiles p;
  const bool is_profile = status == 404 && strcmp(text, "Unknown profile") == 0;
  const bool is_option = status == 404 && strcmp(options->paths[1], "get") == 0;
  if (is_profile || is_option)
    list_profiles(options, name, &p);
  if (is_profile && p.list[0] != '\0')
    complain(options,
             "unknown profile '%s'; the profiles of the program are %s", name,
             p.list);
  else if (is_option && p.has_wanted)
    complain(options, "%.*s; mprof ctl %s dump %s gets the profile",
             (int)strcspn(text, ";"), text, options->paths[0], name);
  else
    complain(options, "%s", text);
}

// Asks the program. Returns the reply, which the caller frees, and stores its
// length. On an error, prints the reason and returns NULL.
static char *fetch(const struct options *options, const char *method,
                   const char *path, size_t *size) {
  int status;
  struct live_reply reply;
  char *body = request_body(options, method, path, size, &status, &reply);
  if (!body && status != 0)
    explain(options, status, reply.text);
  return body;
}

// Asks the program, and prints the reply.
static int ask(const struct options *options, const char *method,
               const char *path) {
  size_t size;
  char *text = fetch(options, method, path, &size);
  if (!text)
    return STATUS_ERROR;
  style_put_lines(stdout, text, size);
  const bool is_good = fflush(stdout) == 0 && !ferror(stdout);
  free(text);
  return is_good ? STATUS_OK : complain(options, "cannot write the output");
}

// --- files ---

static bool is_file(const char *path) {
  struct stat st;
  return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

// Prints the name of the file that was written. error: NULL, or why it could
// not be written.
static int say_written(const struct options *options, const char *path,
                       bool replaces, const char *error) {
  if (error)
    return complain(options, "cannot write %s: %s", path, error);
  if (strcmp(path, "-") != 0) {
    fputs(replaces ? "replaced " : "wrote ", stdout);
    style_put(stdout, path);
    fputc('\n', stdout);
  }
  return STATUS_OK;
}

enum { NAME_SIZE = 512 };

// Asks for a file, and writes it to --output, or else to PROGRAM.PID.KIND with
// the suffix that program_suffix returns. Stores the name of the latter. An
// existing file stays as it is if there is no reply.
static int save(const struct options *options, const char *method,
                const char *path, const char *kind, char name[NAME_SIZE]) {
  struct bytes bytes = {0};
  if (!options->output)
    program_name(options->paths[0], name, NAME_SIZE);
  bytes.at = (uint8_t *)fetch(options, method, path, &bytes.length);
  if (!bytes.at)
    return STATUS_ERROR;
  if (!options->output) {
    const char *suffix = program_suffix(&bytes);
    const size_t before = strlen(name);
    snprintf(name + before, NAME_SIZE - before, "%.200s%s", kind, suffix);
  }
  const char *file = options->output ? options->output : name;
  const bool replaces = is_file(file);
  const int status =
      say_written(options, file, replaces, bytes_write(file, &bytes));
  free(bytes.at);
  return status;
}

// A file that begins with its first byte, so that an interrupted request leaves
// no file.
struct late_file {
  const char *path, *error;
  struct new_file file;
  bool has_begun;
};

static void begin_late(struct late_file *f) {
  if (!f->has_begun)
    f->error = new_file_begin(&f->file, f->path);
  f->has_begun = true;
}

// (fopencookie)
static ssize_t write_late(void *arg, const char *bytes, size_t size) {
  struct late_file *f = arg;
  begin_late(f);
  if (!f->error)
    f->error = new_file_put(&f->file, bytes, size);
  return f->error ? 0 : (ssize_t)size;
}

// Asks for a trace, which may be larger than the memory, and writes it to
// --output, or else to PROGRAM.PID.trace. An existing file stays as it is if
// there is no reply.
static int save_trace(const struct options *options, const char *method,
                      const char *path) {
  char name[512];
  if (!options->output) {
    program_name(options->paths[0], name, sizeof name);
    strcat(name, "trace"); // program_name leaves room
  }
  struct late_file f = {.path = options->output ? options->output : name};
  const bool replaces = is_file(f.path);
  struct live_reply reply = {
      .out = fopencookie(&f, "w", (cookie_io_functions_t){.write = write_late}),
      .most = UINT64_MAX};
  if (!reply.out)
    return complain(options, "out of memory");
  const int status = request(options, method, path, &reply);
  fclose(reply.out);
  if (status == 200)
    begin_late(&f); // the trace may be empty
  if (f.has_begun)
    f.error = new_file_end(&f.file, status == 200 ? f.error : reply.text);
  if (status == 200)
    return say_written(options, f.path, replaces, f.error);
  if (status != 0)
    explain(options, status, reply.text);
  return STATUS_ERROR;
}

// --- verbs ---

static int get(const struct options *options) {
  char path[1024] = "/debug/mprof/get";
  if (options->path_count == 3) {
    strcat(path, "?name=");
    put_escaped(path, sizeof path, options->paths[2]);
  }
  return ask(options, "GET", path);
}

static int set(const struct options *options) {
  char path[2000] = "/debug/mprof/set?";
  put_escaped(path, sizeof path, options->paths[2]);
  strcat(path, "=");
  put_escaped(path, sizeof path, options->paths[3]);
  return ask(options, "POST", path);
}

static int dump(const struct options *options) {
  char path[1024] = "/debug/pprof/", name[256], file[NAME_SIZE];
  put_escaped(path, sizeof path, options->paths[2]);
  if (strcmp(options->paths[2], "trace") == 0)
    return save_trace(options, "GET", path);
  if (options->path_count == 4) {
    strcat(path, "?seconds=");
    put_escaped(path, sizeof path, options->paths[3]);
  }
  snprintf(name, sizeof name, "%.200s", options->paths[2]);
  for (char *p = name; *p != '\0'; p++)
    *p = *p == '/' ? '_' : *p;
  return save(options, "GET", path, name, file);
}

static int trace(const struct options *options) {
  char path[1024] = "/debug/pprof/trace?seconds=";
  const char *what = options->path_count == 3 ? options->paths[2] : "1";
  if (strcmp(what, "start") == 0)
    return ask(options, "POST", "/debug/mprof/trace/start");
  if (strcmp(what, "stop") == 0)
    return save_trace(options, "POST", "/debug/mprof/trace/stop");
  if (strcmp(what, "last") == 0)
    return save_trace(options, "POST", "/debug/mprof/trace/last");
  char *end;
  if (!(strtod(what, &end) > 0) || *end != '\0')
    return complain(options,
                    "trace %s: give a number of seconds, start, stop or last",
                    what);
  put_escaped(path, sizeof path, what);
  return save_trace(options, "GET", path);
}

static int threads(const struct options *options) {
  return ask(options, "GET", "/debug/pprof/threads?debug=2");
}

static int stuck(const struct options *options) {
  size_t size;
  char *text = fetch(options, "GET", "/debug/pprof/threadleak?debug=2", &size);
  if (!text)
    return STATUS_ERROR;
  text = name_locks(options, text);
  style_put_lines(stdout, text, strlen(text));
  return STATUS_OK;
}

// --- measurements ---

// Sets an option of the program. Prints why if it fails.
static bool set_option(const struct options *options, const char *name,
                       const char *value) {
  char path[256];
  size_t size;
  snprintf(path, sizeof path, "/debug/mprof/set?%s=%s", name, value);
  char *reply = fetch(options, "POST", path, &size);
  free(reply);
  return reply != NULL;
}

// Sets the rate of the profile to 1 if it is 0. Returns false after a message.
// *is_changed: whether it was 0.
static bool switch_on(const struct options *options, const char *rate,
                      bool *is_changed) {
  char path[256], off[64];
  size_t size;
  snprintf(path, sizeof path, "/debug/mprof/get?name=%s", rate);
  char *reply = fetch(options, "GET", path, &size);
  snprintf(off, sizeof off, "%s=0\n", rate);
  *is_changed = reply && strncmp(reply, off, strlen(off)) == 0;
  const bool is_good =
      reply && (!*is_changed || set_option(options, rate, "1"));
  free(reply);
  return is_good;
}

// Gets the events of some time, and shows them. Switches the profile on for
// this time, also if a signal ends it. rate: the option that does it; NULL: the
// request does it.
static int measure(const struct options *options, const char *page,
                   const char *rate, const char *sample) {
  const char *kind = options->paths[1];
  const int64_t ms = milliseconds_of(options->paths[2]);
  char path[256], name[NAME_SIZE];
  bool is_changed = false;
  if (ms == 0 || ms % 1000 != 0)
    return complain(options, "%s %s: give a time, such as 10s", kind,
                    options->paths[2]);
  const struct sigaction noting = {.sa_handler = note_signal};
  sigaction(SIGINT, &noting, NULL);
  sigaction(SIGTERM, &noting, NULL);
  if (rate && !switch_on(options, rate, &is_changed))
    return STATUS_ERROR;
  snprintf(path, sizeof path, "/debug/pprof/%s?seconds=%ld", page,
           (long)(ms / 1000));
  const int status = save(options, "GET", path, kind, name);
  has_signal = 0;
  if (is_changed && !set_option(options, rate, "0"))
    return STATUS_ERROR;
  if (status != STATUS_OK || options->output)
    return status;
  char *paths[] = {name};
  struct options shown = *options;
  shown.command = COMMAND_top;
  shown.sample = sample;
  shown.paths = paths;
  shown.path_count = shown.first_count = 1;
  return command_top(&shown);
}

static int heap(const struct options *options) {
  return measure(options, "heap", NULL, "alloc_space");
}

static int block(const struct options *options) {
  return measure(options, "block", "block_rate", NULL);
}

static int mutex(const struct options *options) {
  return measure(options, "mutex", "mutex_fraction", NULL);
}

static int cpu(const struct options *options) {
  return measure(options, "profile", NULL, NULL);
}

static int wall(const struct options *options) {
  return measure(options, "wall", NULL, NULL);
}

static const struct {
  const char *name;
  int least, most; // numbers of arguments after the name
  int (*run)(const struct options *options);
} verbs[] = {
    {"get", 0, 1, get},     {"set", 2, 2, set},         {"dump", 1, 2, dump},
    {"trace", 0, 1, trace}, {"threads", 0, 0, threads}, {"stuck", 0, 0, stuck},
    {"heap", 1, 1, heap},   {"block", 1, 1, block},     {"mutex", 1, 1, mutex},
    {"cpu", 1, 1, cpu},     {"wall", 1, 1, wall},
};

int command_ctl(const struct options *options) {
  const int n = options->path_count - 2;
  for (size_t i = 0; n >= 0 && i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, options->paths[1]) == 0 && n >= verbs[i].least &&
        n <= verbs[i].most)
      return verbs[i].run(options);
  return complain(options,
                  "usage: mprof ctl PID|SOCKET get [NAME] | set NAME VALUE | "
                  "dump KIND [SECONDS] | heap|block|mutex|cpu|wall TIME | "
                  "trace [SECONDS|start|stop|last] | threads | stuck");
}
