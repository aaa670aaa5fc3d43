// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof live: shows what a running program does, renewed each second, as top
// does.

#include "commands/add_names.h"
#include "commands/arguments.h"
#include "commands/input.h"
#include "commands/known_names.h"
#include "commands/live_screen.h"
#include "commands/options.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/plural.h"
#include "files/bytes.h"
#include "files/read_profile.h"
#include "live/live_client.h"
#include "live/process_use.h"
#include "live/program_name.h"
#include "terminal/quantity.h"
#include "terminal/screen.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SECOND_MS = 1000, STEP_MS = 100 };

// The command. A request calls a function without arguments while it waits, so
// there is one.
static struct live {
  const struct options *options;
  struct known_names *names;
  const char *target;
  char address[LIVE_ADDRESS];
  char prefix[300]; // of the names of files: "PROGRAM.PID.", or ""
  int pid;          // 0: unknown
  long seconds;
  bool has_keys;
  struct style style;
  struct live_screen shown;
  struct profile *profile; // of the table; NULL: none
  int64_t duration_ns;     // of the profile
  struct process_use use;
  int64_t use_ms;         // time of `use`; 0: none
  int64_t asked_ms;       // when the last request began
  bool must_ask, is_over; // another table was chosen; the user quits
  bool is_typing;
  char typed[LIVE_TEXT_MAX];
  char old_values[LIVE_KINDS][64]; // of options that were changed; "": not
} live;

static bool is_ending(void) { return live.is_over || screen_signal() != 0; }

// --- requests ---

// Gives up at the end of a time, for requests while the user waits.
static int64_t give_up_ms;
static bool is_late(void) { return clock_now_ms() > give_up_ms; }

// Sends a request whose reply comes at once. Returns the body, or NULL after
// the reason was made the message.
static char *fetch(const char *method, const char *path, size_t *size) {
  enum { PATIENCE_MS = 2000 };
  int status;
  struct live_reply reply;
  give_up_ms = clock_now_ms() + PATIENCE_MS;
  char *body =
      live_fetch(live.address, method, path, size, &status, &reply, is_late);
  if (!body)
    snprintf(live.shown.message, LIVE_TEXT_MAX, "%s", reply.text);
  return body;
}

// --- switching profiles on and off ---

static bool set_option(const char *name, const char *value) {
  char path[256];
  size_t size;
  snprintf(path, sizeof path, "/debug/mprof/set?%s=%s", name, value);
  char *reply = fetch("POST", path, &size);
  free(reply);
  return reply != NULL;
}

// Stores the value of an option.
static bool get_option(const char *name, char value[64]) {
  char path[256];
  size_t size;
  snprintf(path, sizeof path, "/debug/mprof/get?name=%s", name);
  char *reply = fetch("GET", path, &size);
  const char *equals = reply ? strchr(reply, '=') : NULL;
  snprintf(value, 64, "%.*s", equals ? (int)strcspn(equals + 1, " \n") : 0,
           equals ? equals + 1 : "");
  free(reply);
  return equals != NULL;
}

static void toggle(void) {
  const struct live_kind_row *kind = &live_kinds[live.shown.kind];
  char value[64];
  if (!kind->option) {
    snprintf(live.shown.message, LIVE_TEXT_MAX,
             "this profile is on while it is shown");
    return;
  }
  if (!get_option(kind->option, value))
    return;
  char *old = live.old_values[live.shown.kind];
  const bool is_off = strcmp(value, "0") == 0;
  const char *wanted =
      is_off ? old[0] && strcmp(old, "0") != 0 ? old : kind->on : "0";
  if (!set_option(kind->option, wanted))
    return;
  if (!old[0])
    strcpy(old, value);
  snprintf(live.shown.message, LIVE_TEXT_MAX, "%s=%s, before %s", kind->option,
           wanted, value);
  live.must_ask = true;
}

// Changes the options back.
static void restore_options(void) {
  for (int i = 0; i < LIVE_KINDS; i++)
    if (live.old_values[i][0])
      set_option(live_kinds[i].option, live.old_values[i]);
}

// --- files ---

static void write_file(void) {
  const struct live_kind_row *kind = &live_kinds[live.shown.kind];
  char path[256], name[512], *message = live.shown.message;
  struct bytes bytes = {0};
  snprintf(path, sizeof path, "/debug/pprof/%s", kind->dump);
  bytes.at = (uint8_t *)fetch("GET", path, &bytes.length);
  if (!bytes.at)
    return;
  snprintf(name, sizeof name, "%s%s%s", live.prefix, kind->dump,
           program_suffix(&bytes));
  const char *error = bytes_write(name, &bytes);
  if (error)
    snprintf(message, LIVE_TEXT_MAX, "cannot write %.300s: %s", name, error);
  else
    snprintf(message, LIVE_TEXT_MAX, "wrote %.300s", name);
  free(bytes.at);
}

// --- the table ---

// Makes the table of the profile again, with the present filter.
static bool make_table(void) {
  struct live_screen *s = &live.shown;
  struct view_options wanted = input_view_options(live.options);
  struct live_table t;
  char error[256];
  wanted.focus = s->filter[0] ? s->filter : NULL;
  if (!live.profile)
    return true;
  if (!live_table_make(&t, s->kind, live.profile, &wanted, live.options->std,
                       (double)live.duration_ns / 1e9, error, sizeof error)) {
    snprintf(s->message, LIVE_TEXT_MAX, "%s", error);
    return false;
  }
  live_table_sort(&t, s->sorted);
  live_table_free(&s->table);
  s->table = t;
  return true;
}

static void forget_profile(void) {
  if (live.profile)
    profile_free(live.profile);
  live.profile = NULL;
  live_table_free(&live.shown.table);
  free(live.shown.losses);
  live.shown.losses = NULL;
}

// Reads the reply. Takes the bytes.
static void take_profile(struct bytes bytes) {
  struct live_screen *s = &live.shown;
  struct profile *p = profile_new();
  const char *error = bytes_unzip(&bytes);
  if (!error)
    error = read_profile(p, &bytes, NULL);
  free(bytes.at);
  forget_profile();
  if (error) {
    snprintf(s->message, LIVE_TEXT_MAX, "%s", error);
    profile_free(p);
    return;
  }
  known_names_add(live.names, live.options, p);
  live.profile = p;
  live.duration_ns = p->duration_ns;
  size_t length;
  FILE *out = open_memstream(&s->losses, &length);
  if (out) {
    input_print_losses(p, out);
    fclose(out);
  }
  if (s->losses && !*s->losses) {
    free(s->losses);
    s->losses = NULL;
  }
  if (!make_table())
    return;
  // An option that is 0 switches the profile off, and the table may be empty.
  const char *option = live_kinds[s->kind].option;
  const char *value = option ? input_comment(p, option) : NULL;
  if (!value || strcmp(value, "0") != 0)
    return;
  if (live.has_keys)
    snprintf(s->message, LIVE_TEXT_MAX,
             "%s=0: the profile is off; o switches it on", option);
  else
    snprintf(s->message, LIVE_TEXT_MAX,
             "%s=0: the profile is off; mprof ctl %s set %s %s switches it on",
             option, live.target, option, live_kinds[s->kind].on);
}

// Reads what the kernel says about the process. Returns false if it has ended.
static bool read_use(void) {
  enum { SHORT_MS = 500 }; // too short for a share of the processor time
  struct process_use use;
  const int64_t now = clock_now_ms();
  char *text = live.shown.use;
  if (!live.pid)
    return true;
  if (!process_use_read(live.pid, &use))
    return false;
  snprintf(text, sizeof live.shown.use, "%s resident, %ld thread%s",
           quantity_of(use.rss, "bytes").text, (long)use.threads,
           plural((uint64_t)use.threads));
  if (live.use_ms && now - live.use_ms < SHORT_MS)
    return true;
  if (live.use_ms)
    snprintf(text + strlen(text), sizeof live.shown.use - strlen(text),
             ", %.1f %% CPU",
             (double)(use.cpu_ns - live.use.cpu_ns) /
                 ((double)(now - live.use_ms) * 1e4));
  live.use = use;
  live.use_ms = now;
  return true;
}

// --- the screen ---

static void draw(void) {
  char *text = NULL;
  size_t length;
  unsigned width, height;
  if (!live.has_keys)
    return;
  FILE *out = open_memstream(&text, &length);
  if (!out)
    return;
  screen_size(&width, &height);
  live.style.width = width;
  live.shown.prompt = live.is_typing ? live.typed : NULL;
  live_screen_full(&live.shown, height, out, &live.style);
  fclose(out);
  screen_show(text, length);
  free(text);
}

static void choose(enum live_kind kind) {
  forget_profile();
  live.shown.kind = kind;
  live.shown.sorted = live.shown.first = 0;
  live.shown.message[0] = '\0';
  live.shown.is_paused = live.shown.has_help = false;
  live.must_ask = true;
}

static void scroll(int key) {
  unsigned width, height;
  screen_size(&width, &height);
  const size_t page = live_screen_rows(height), count = live.shown.table.count;
  const size_t last = count > page ? count - page : 0;
  size_t *first = &live.shown.first;
  const size_t step = key == KEY_PAGE_UP || key == KEY_PAGE_DOWN ? page : 1;
  if (key == KEY_HOME)
    *first = 0;
  else if (key == KEY_END)
    *first = last;
  else if (key == KEY_UP || key == KEY_PAGE_UP)
    *first -= *first < step ? *first : step;
  else
    *first += step;
  if (*first > last)
    *first = last;
}

// A key while the user types an expression.
static void type(int key) {
  size_t length = strlen(live.typed);
  char old[LIVE_TEXT_MAX];
  if (key == KEY_ESCAPE) {
    live.is_typing = false;
  } else if (key == KEY_ENTER) {
    live.is_typing = false;
    strcpy(old, live.shown.filter);
    strcpy(live.shown.filter, live.typed);
    live.shown.first = 0;
    if (!make_table())
      strcpy(live.shown.filter, old);
  } else if (key == 0x7f || key == '\b') {
    while (length > 0 && ((unsigned char)live.typed[length - 1] & 0xc0) == 0x80)
      live.typed[--length] = '\0';
    if (length > 0)
      live.typed[length - 1] = '\0';
  } else if (key >= ' ' && key < KEY_REDRAW && length + 1 < LIVE_TEXT_MAX) {
    live.typed[length] = (char)key;
    live.typed[length + 1] = '\0';
  }
}

static void sort_next(void) {
  struct live_screen *s = &live.shown;
  if (!s->table.column_count)
    return;
  s->sorted = live_table_next(&s->table, s->sorted);
  live_table_sort(&s->table, s->sorted);
}

static void handle(int key) {
  struct live_screen *s = &live.shown;
  if (live.is_typing && key != KEY_REDRAW) {
    type(key);
    return;
  }
  if (key != KEY_REDRAW)
    s->message[0] = '\0';
  for (int i = 0; i < LIVE_KINDS; i++)
    if (key == live_kinds[i].key)
      choose((enum live_kind)i);
  switch (key) {
  case 'q':
    live.is_over = true;
    break;
  case '?':
  case 'h':
    s->has_help = !s->has_help;
    break;
  case '/':
    live.is_typing = true;
    snprintf(live.typed, sizeof live.typed, "%s", s->filter);
    break;
  case ' ':
    s->is_paused = !s->is_paused;
    break;
  case 's':
    sort_next();
    break;
  case 'o':
    toggle();
    break;
  case 'w':
    write_file();
    break;
  case KEY_UP:
  case KEY_DOWN:
  case KEY_PAGE_UP:
  case KEY_PAGE_DOWN:
  case KEY_HOME:
  case KEY_END:
    scroll(key);
    break;
  default:
    break;
  }
}

// Handles the keys of the next milliseconds.
static void take_keys(int timeout_ms) {
  int key = live.has_keys ? screen_key(timeout_ms) : KEY_NONE;
  const bool has_key = key != KEY_NONE;
  for (; key != KEY_NONE && !is_ending(); key = screen_key(0))
    handle(key);
  if (has_key && !is_ending())
    draw();
}

// Called while a request waits for its reply.
static bool wait_no_longer(void) {
  enum { PATIENCE_MS = 3000 };
  static int64_t said_ms;
  const int64_t now = clock_now_ms();
  const int64_t waited = now - live.asked_ms - live.seconds * SECOND_MS;
  take_keys(0);
  if (live.has_keys && waited > PATIENCE_MS && now - said_ms >= SECOND_MS) {
    snprintf(live.shown.message, LIVE_TEXT_MAX,
             "the program has not answered for %lld s",
             (long long)(now - live.asked_ms) / SECOND_MS);
    said_ms = now;
    draw();
  }
  return is_ending() || live.must_ask;
}

// --- the loop ---

// Asks for the page of the table. Returns false if the program has ended.
static bool renew(void) {
  const struct live_kind_row *kind = &live_kinds[live.shown.kind];
  char path[128];
  struct bytes bytes = {0};
  struct live_reply reply;
  int status;
  snprintf(path, sizeof path,
           kind->is_rate ? "/debug/pprof/%s?seconds=%ld" : "/debug/pprof/%s",
           kind->page, live.seconds);
  live.asked_ms = clock_now_ms();
  live.must_ask = false;
  bytes.at = (uint8_t *)live_fetch(live.address, "GET", path, &bytes.length,
                                   &status, &reply, wait_no_longer);
  if (is_ending() || live.must_ask) {
    free(bytes.at);
    return true;
  }
  if (!live.is_typing && bytes.at)
    live.shown.message[0] = '\0';
  if (bytes.at)
    take_profile(bytes);
  else
    snprintf(live.shown.message, LIVE_TEXT_MAX, "%s", reply.text);
  if (!bytes.at && status != 0)
    forget_profile();
  return read_use() && (bytes.at || status != 0 ||
                        live_find(live.target, live.address, live.shown.message,
                                  LIVE_TEXT_MAX));
}

// Waits for the time of the next request.
static void wait_for_next(void) {
  const int64_t end = live.asked_ms + live.seconds * SECOND_MS;
  for (int64_t left = end - clock_now_ms();
       !is_ending() && !live.must_ask && (live.shown.is_paused || left > 0);
       left = end - clock_now_ms())
    if (live.has_keys)
      take_keys(left > 0 && left < STEP_MS ? (int)left : STEP_MS);
    else
      screen_key((int)left);
}

static bool run(size_t screens) {
  size_t count = 0;
  bool is_there = true;
  while (!is_ending() && (is_there = renew())) {
    if (live.must_ask)
      continue;
    if (live.has_keys) {
      draw();
    } else {
      if (count)
        putchar('\n');
      live_screen_plain(&live.shown, 20, stdout, &live.style);
      if (fflush(stdout) != 0)
        return true;
    }
    if (++count == screens)
      return true;
    wait_for_next();
  }
  return is_there;
}

// --- the command ---

// Chooses the table of --table, which is one of the names.
static void choose_by_name(const struct options *options) {
  for (int i = 0; i < LIVE_KINDS; i++)
    if (option_is(options->table, live_kinds[i].name))
      live.shown.kind = (enum live_kind)i;
}

static bool read_options(const struct options *options, size_t *screens) {
  enum { MOST = 86400 };
  size_t seconds = 1;
  *screens = options->once ? 1 : 0;
  if (options->count && !option_is_number(options->count, 1, MOST, screens)) {
    complain(options, "--count=%s is not a number of screens", options->count);
    return false;
  }
  if (options->seconds &&
      !option_is_number(options->seconds, 1, MOST, &seconds)) {
    complain(options, "--seconds=%s is not a number of seconds",
             options->seconds);
    return false;
  }
  live.seconds = (long)seconds;
  if (options->path_count != 1) {
    complain(options, "give one process id, socket or URL");
    return false;
  }
  snprintf(live.shown.filter, LIVE_TEXT_MAX, "%s",
           options->focus ? options->focus : "");
  choose_by_name(options);
  return add_names_check(options);
}

// Stores the name of the program and its process id, if they are known.
static char *find_names(void) {
  live.pid = program_name(live.target, live.prefix, sizeof live.prefix);
  const size_t length = strlen(live.prefix);
  return length ? text_of("%.*s", (int)length - 1, live.prefix)
                : text_of("%s", live.target);
}

int command_live(const struct options *options) {
  char why[512];
  size_t screens;
  struct options own = *options;
  live.options = &own;
  live.names = known_names_new();
  if (!read_options(options, &screens) ||
      !(live.target = arguments_target(options, options->paths[0])))
    return STATUS_ERROR;
  if (!live_find(live.target, live.address, why, sizeof why))
    return complain(options, "%s", why);
  // Errors of the first connection are those of a wrong address.
  const int fd = live_connect(live.address, why, sizeof why);
  if (fd < 0)
    return complain(options, "%s", why);
  close(fd);
  live.shown.program = find_names();
  live.style = style_of_output(options->colour);
  read_use();
  live.has_keys = screens == 0 && screen_begin();
  own.quiet = live.has_keys; // messages would disturb the screen
  draw();
  const bool is_there = run(screens);
  restore_options();
  screen_end();
  if (screen_signal())
    screen_die(screen_signal());
  if (!is_there)
    return complain(options, "%s has ended", live.shown.program);
  return STATUS_OK;
}
