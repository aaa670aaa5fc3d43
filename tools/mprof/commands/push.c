// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof push: sends profiles to a collector, once from files, or again and
// again from running programs.

#include "commands/input.h"
#include "commands/options.h"
#include "common/clock.h"
#include "files/bytes.h"
#include "files/read_profile.h"
#include "push/agent.h"
#include "push/ending.h"
#include "terminal/style.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LIMIT = 16 << 20, LAST_MS = 60000 };

static const char *const default_profiles[] = {"heap", "block", "mutex"};

// A line may contain texts of a server, and paths that other users have chosen.
static void say(const char *line) {
  fputs("mprof push: ", stderr);
  style_put(stderr, line);
  fputc('\n', stderr);
}

// --- files ---

static int push_file(const struct options *options, struct collector *collector,
                     const char *path) {
  struct bytes bytes;
  struct profile *p = profile_new();
  const char *error = bytes_read(path, &bytes);
  if (!error)
    error = bytes_unzip(&bytes);
  if (!error)
    error = read_profile(p, &bytes, NULL);
  const char *kind = error ? "" : input_kind(p, path);
  struct bytes zipped = {0};
  if (!error && collector->form >= COLLECTOR_PYROSCOPE)
    zipped = bytes_zip(&bytes);
  if (!error)
    collector_add_profile(collector, p, kind, &zipped, 0);
  free(zipped.at);
  free(bytes.at);
  profile_free(p);
  return error ? complain(options, "%s: %s", path, error) : STATUS_OK;
}

// A file that cannot be read does not keep the others from being sent.
static int push_files(const struct options *options,
                      struct collector *collector) {
  int status = STATUS_OK;
  const int64_t end = clock_now_ms() + LAST_MS;
  for (int i = 0; i < options->path_count; i++) {
    if (push_file(options, collector, options->paths[i]) != STATUS_OK)
      status = STATUS_ERROR;
    const int64_t now = clock_now_ms();
    collector_send_until(collector, now < end ? end : now + 1);
  }
  return status;
}

// --- running programs ---

static int run_agent(const struct options *options,
                     struct collector *collector) {
  struct agent a = {.collector = collector,
                    .servers = options->sockets,
                    .profiles = options->profiles,
                    .is_once = !options->every,
                    .says_lacking = options->profiles.count != 0};
  if (!a.profiles.count)
    a.profiles = (struct text_list){(const char **)default_profiles, 3, 3};
  if (a.profiles.count > 32)
    return complain(options, "at most 32 profiles can be named");
  a.every_ms = options->every ? milliseconds_of(options->every) : 1;
  if (a.every_ms == 0)
    return complain(options,
                    "--every=%s: not a time between 100ms and 24h, such as 15s",
                    options->every);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  sigprocmask(SIG_BLOCK, &ends, NULL);
  collector->box.awaits_rights = !a.is_once;
  collector->box.ends_since = ending_since_ms;
  agent_run(&a);
  if (a.answers == 0)
    return complain(options, "no program has answered at --socket");
  return STATUS_OK;
}

// --- both ---

static int check(const struct options *options) {
  if (!options->otlp == !options->pyroscope)
    return complain(options, "give the collector's address by --otlp=URL or "
                             "--pyroscope=URL");
  if (!options->sockets.count == !options->path_count)
    return complain(options, "give either files or --socket=PATH");
  if (options->every && !options->sockets.count)
    return complain(options, "--every needs --socket=PATH");
  const char *files[] = {options->auth_file, options->ca_file};
  for (int i = 0; i < 2; i++)
    if (files[i] && access(files[i], R_OK) != 0)
      return complain(options, "cannot read %s: %s", files[i], strerror(errno));
  for (size_t i = 0; i < options->resource.count; i++) {
    const char *text = options->resource.items[i], *equals = strchr(text, '=');
    if (!equals || equals == text)
      return complain(options, "--resource=%s: not KEY=VALUE", text);
  }
  return STATUS_OK;
}

static int finish(const struct outbox *o) {
  fprintf(stderr, "mprof push: sent %lu profile%s", o->sent,
          o->sent == 1 ? "" : "s");
  if (o->dropped + o->refused + o->waiting == 0) {
    fputs("\n", stderr);
    return STATUS_OK;
  }
  fprintf(stderr, "; refused: %lu, dropped: %lu, not sent: %lu\n", o->refused,
          o->dropped, (unsigned long)o->waiting);
  return STATUS_ERROR;
}

int command_push(const struct options *options) {
  struct collector collector = {.resource = options->resource,
                                .box = {.auth_file = options->auth_file,
                                        .ca_file = options->ca_file,
                                        .limit = LIMIT,
                                        .say = say}};
  int status = check(options);
  if (status != STATUS_OK)
    return status;
  const char *error = collector_set_address(
      &collector, options->otlp ? options->otlp : options->pyroscope,
      options->otlp);
  if (!error)
    error = http_post_load();
  if (error)
    return complain(options, "%s", error);
  // libcurl must not end the command when the collector closes a connection.
  signal(SIGPIPE, SIG_IGN);
  srandom((unsigned)getpid() ^ (unsigned)time(NULL));
  status = options->sockets.count ? run_agent(options, &collector)
                                  : push_files(options, &collector);
  const struct outbox *o = &collector.box;
  if ((status == STATUS_OK || o->sent + o->refused + o->waiting > 0) &&
      finish(o) != STATUS_OK)
    status = STATUS_ERROR;
  outbox_free(&collector.box);
  free(collector.url);
  return status;
}
