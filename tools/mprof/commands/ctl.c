// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof ctl: shows and changes the options of a running program, and gets its
// profiles and traces.

#include "commands/options.h"
#include "files/write_bytes.h"
#include "live/door_client.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

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

// Asks the program. Returns the reply, which the caller frees, and stores its
// length. On an error, prints the reason and returns NULL.
static char *fetch(const struct options *options, const char *method,
                   const char *path, size_t *size) {
  char why[512], *text = NULL;
  const int fd = door_connect(options->paths[0], why, sizeof why);
  FILE *reply = fd < 0 ? NULL : open_memstream(&text, size);
  if (!reply) {
    complain(options, "%s", fd < 0 ? why : "out of memory");
    return NULL;
  }
  const int status = door_ask(fd, method, path, reply, NULL);
  fclose(reply);
  if (status == 200)
    return text;
  if (status == 0)
    complain(options, "%s did not answer as a door of MProf does",
             options->paths[0]);
  else
    complain(options, "%.*s", (int)strcspn(text, "\n"), text);
  free(text);
  return NULL;
}

// Asks the program, and prints the reply.
static int ask(const struct options *options, const char *method,
               const char *path) {
  size_t size;
  char *text = fetch(options, method, path, &size);
  if (!text)
    return STATUS_ERROR;
  const bool is_good =
      fwrite(text, 1, size, stdout) == size && fflush(stdout) == 0;
  free(text);
  return is_good ? STATUS_OK : complain(options, "cannot write the output");
}

// Returns the suffix for the file of a page.
static const char *suffix_of(const struct bytes *b) {
  return b->length > 1 && b->at[0] == 0x1f && b->at[1] == 0x8b ? ".pb.gz"
         : b->length > 3 && memcmp(b->at, "go 1", 4) == 0      ? ".trace"
                                                               : ".txt";
}

// Asks for a file, and writes it to --output or to `name` with the suffix that
// suffix_of returns, or without one if it is NULL. An existing file stays as it
// is if there is no reply.
static int save(const struct options *options, const char *method,
                const char *path, const char *name,
                const char *(*suffix)(const struct bytes *)) {
  struct bytes bytes = {0};
  char with_suffix[300];
  bytes.at = (uint8_t *)fetch(options, method, path, &bytes.length);
  if (!bytes.at)
    return STATUS_ERROR;
  snprintf(with_suffix, sizeof with_suffix, "%s%s", name,
           suffix ? suffix(&bytes) : "");
  const char *output = options->output ? options->output : with_suffix;
  const char *error = bytes_write(output, &bytes);
  free(bytes.at);
  if (error)
    return complain(options, "cannot write %s: %s", output, error);
  if (strcmp(output, "-") != 0)
    printf("wrote %s\n", output);
  return STATUS_OK;
}

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
  char path[1024] = "/debug/pprof/", name[256];
  put_escaped(path, sizeof path, options->paths[2]);
  snprintf(name, sizeof name, "%.200s", options->paths[2]);
  for (char *p = name; *p != '\0'; p++)
    *p = *p == '/' ? '_' : *p;
  return save(options, "GET", path, name, suffix_of);
}

static int trace(const struct options *options) {
  static const char file[] = "mprof.trace";
  char path[1024] = "/debug/pprof/trace?seconds=";
  const char *what = options->path_count == 3 ? options->paths[2] : "1";
  if (strcmp(what, "start") == 0)
    return ask(options, "POST", "/debug/mprof/trace/start");
  if (strcmp(what, "stop") == 0)
    return save(options, "POST", "/debug/mprof/trace/stop", file, NULL);
  if (strcmp(what, "last") == 0)
    return save(options, "POST", "/debug/mprof/trace/last", file, NULL);
  char *end;
  if (!(strtod(what, &end) > 0) || *end != '\0')
    return complain(options,
                    "trace %s: give a number of seconds, start, stop or last",
                    what);
  put_escaped(path, sizeof path, what);
  return save(options, "GET", path, file, NULL);
}

static int threads(const struct options *options) {
  return ask(options, "GET", "/debug/pprof/threads?debug=2");
}

static int stuck(const struct options *options) {
  return ask(options, "GET", "/debug/pprof/threadleak?debug=2");
}

static const struct {
  const char *name;
  int least, most; // numbers of arguments after the name
  int (*run)(const struct options *options);
} verbs[] = {
    {"get", 0, 1, get},     {"set", 2, 2, set},         {"dump", 1, 1, dump},
    {"trace", 0, 1, trace}, {"threads", 0, 0, threads}, {"stuck", 0, 0, stuck},
};

int command_ctl(const struct options *options) {
  const int n = options->path_count - 2;
  for (size_t i = 0; n >= 0 && i < sizeof verbs / sizeof verbs[0]; i++)
    if (strcmp(verbs[i].name, options->paths[1]) == 0 && n >= verbs[i].least &&
        n <= verbs[i].most)
      return verbs[i].run(options);
  return complain(options,
                  "usage: mprof ctl PID|SOCKET get [NAME] | set NAME VALUE | "
                  "dump KIND | trace [SECONDS|start|stop|last] | "
                  "threads | stuck");
}
