// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof serve: shows the page of mprof html in the browser, and renews it when
// the program or the files have changed.

#include "commands/arguments.h"
#include "commands/html_page.h"
#include "commands/input.h"
#include "commands/options.h"
#include "common/clock.h"
#include "common/hash_bytes.h"
#include "common/helper_fork.h"
#include "common/memory.h"
#include "html/page.h"
#include "terminal/style.h"
#include "web/web_server.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// The times after which a page asks a running program for its profiles again:
// without the user, and when the user asks for the page.
enum { RENEW_MS = 10000, RELOAD_MS = 500 };

struct source {
  const struct options *options;
  struct page_builder *builder;
  bool has_program;   // an argument is a running program
  uint64_t signature; // of the files at the last attempt
};

// --- changes ---

// Returns a number that changes with the file.
static uint64_t sign(const char *path, const struct stat *st) {
  const uint64_t words[] = {(uint64_t)st->st_dev, (uint64_t)st->st_ino,
                            (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec,
                            (uint64_t)st->st_mtim.tv_nsec};
  return hash_bytes(hash_bytes(HASH_BEGIN, path, strlen(path)), words,
                    sizeof words);
}

// Adds the files of a directory. Their order does not matter.
static uint64_t sign_directory(const char *path) {
  uint64_t sum = 0;
  struct stat st;
  DIR *d = opendir(path);
  if (!d)
    return sum;
  for (struct dirent *e; (e = readdir(d));) {
    const int fd = dirfd(d);
    if (e->d_name[0] != '.' && fd >= 0 && fstatat(fd, e->d_name, &st, 0) == 0)
      sum += sign(e->d_name, &st);
  }
  closedir(d);
  return sum;
}

static uint64_t sign_path(const char *path) {
  struct stat st;
  if (stat(path, &st) != 0)
    return 1;
  return S_ISDIR(st.st_mode) ? sign_directory(path) : sign(path, &st);
}

static uint64_t sign_all(const struct options *o) {
  uint64_t sum = o->base ? sign_path(o->base) : 0;
  for (int i = 0; i < o->path_count; i++)
    if (!arguments_is_program(o->paths[i]))
      sum = sum * 31 + sign_path(o->paths[i]);
  return sum;
}

// (web_server.is_old)
static bool is_old(void *arg, bool is_reload) {
  struct source *s = arg;
  // A reload waits for the page that is being made.
  if (s->builder->child)
    return is_reload;
  const uint64_t signature = sign_all(s->options);
  const int64_t age = clock_now_ms() - s->builder->started_ms;
  const bool is = signature != s->signature ||
                  (s->has_program && age > (is_reload ? RELOAD_MS : RENEW_MS));
  s->signature = signature;
  return is;
}

// --- the page ---

// (page_builder.make)
static int make(void *arg, unsigned long version) {
  const struct options *o = ((struct source *)arg)->options;
  struct options own = *o;
  struct {
    char **items;
    size_t count, capacity;
  } all = {0};
  for (int i = 0; i < o->path_count; i++) {
    size_t count = 1;
    char **paths = arguments_is_program(o->paths[i])
                       ? arguments_profiles(o, o->paths[i], &count)
                       : &o->paths[i];
    for (size_t k = 0; paths && k < count; k++)
      *APPEND(all.items, all.count, all.capacity) = paths[k];
    if (!paths)
      return STATUS_ERROR;
  }
  own.paths = all.items;
  own.path_count = own.first_count = (int)all.count;
  own.output = "-";
  return html_make(&own, version);
}

// --- the command ---

static volatile sig_atomic_t end_signal;

static void on_end(int number) { end_signal = number; }

static bool must_end(void) { return end_signal != 0; }

static const int ends[] = {SIGINT, SIGTERM, SIGHUP};

// The signals come only while the server waits.
static void take_signals(void) {
  const struct sigaction action = {.sa_handler = on_end};
  sigset_t set;
  sigemptyset(&set);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    sigaddset(&set, ends[i]);
    sigaction(ends[i], &action, NULL);
  }
  sigprocmask(SIG_BLOCK, &set, NULL);
}

static bool has_pending_end(void) {
  sigset_t pending;
  sigpending(&pending);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
    if (sigismember(&pending, ends[i]))
      return true;
  return false;
}

// Waits for the first page. Returns false after a message.
static bool make_first(struct page_builder *b) {
  enum { STEP_US = 10000 };
  if (page_builder_start(b))
    while (page_builder_is_busy(b)) {
      if (has_pending_end())
        return false;
      usleep(STEP_US);
    }
  if (b->error)
    style_put_lines(stderr, b->error, strlen(b->error));
  return b->page != NULL;
}

// Starts the user's browser, if there is a desktop. Other users can see its
// command line, which has a code for one use.
static void open_browser(struct web_server *s) {
  const char *const names[] = {"DISPLAY", "WAYLAND_DISPLAY", "BROWSER"};
  bool has_desktop = false;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    has_desktop |= getenv(names[i]) != NULL;
  if (!has_desktop || !web_server_make_code(s))
    return;
  char *url = text_of("http://127.0.0.1:%u/start?code=%s", s->port, s->code);
  // The grandchild is nobody's child that must be waited for.
  const pid_t child = helper_fork();
  if (child == 0) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    const int null = open("/dev/null", O_RDWR);
    for (int fd = 0; fd <= 2 && null >= 0; fd++)
      dup2(null, fd);
    setsid();
    if (fork() == 0)
      execlp("xdg-open", "xdg-open", url, (char *)NULL);
    _exit(0);
  }
  if (child > 0)
    waitpid(child, NULL, 0);
  free(url);
}

static bool read_port(const struct options *o, unsigned short *port) {
  size_t number = 0;
  const bool is_good =
      !o->port || option_is_number(o->port, 0, UINT16_MAX, &number);
  if (!is_good)
    complain(o, "--port=%s is not a number of a port", o->port);
  *port = (unsigned short)number;
  return is_good;
}

static char *policy(void) {
  char *text = NULL;
  size_t length;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return NULL;
  page_put_policy(true, out);
  fclose(out);
  return text;
}

int command_serve(const struct options *options) {
  struct source source = {.options = options};
  struct page_builder builder = {.make = make, .arg = &source};
  struct web_server server = {
      .pages = &builder, .is_old = is_old, .arg = &source};
  unsigned short port;
  if (!read_port(options, &port))
    return STATUS_ERROR;
  source.builder = &builder;
  for (int i = 0; i < options->path_count; i++) {
    const char *path = options->paths[i];
    const bool is_program = arguments_is_program(path);
    source.has_program |= is_program;
    if (!is_program && input_is_pipe(path))
      return complain(options,
                      "%s can be read only once; give a file, which is read "
                      "again when it has changed",
                      path);
  }
  source.signature = sign_all(options);
  take_signals();
  if (!make_first(&builder)) {
    page_builder_end(&builder);
    return STATUS_ERROR;
  }
  char *rules = policy();
  const char *error = rules ? web_server_open(&server, port) : "no memory";
  if (error) {
    page_builder_end(&builder);
    return complain(options, "cannot listen at 127.0.0.1:%u: %s", port, error);
  }
  server.policy = rules;
  printf("http://127.0.0.1:%u/?token=%s\n", server.port, server.token);
  if (fflush(stdout) == 0) {
    if (!options->no_browser)
      open_browser(&server);
    web_server_run(&server, must_end);
  }
  web_server_close(&server);
  page_builder_end(&builder);
  free(rules);
  return STATUS_OK;
}
