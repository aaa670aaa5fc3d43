// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the page of a request and makes the reply; see http.h. (Go: Index,
// Cmdline, Symbol)

#include "bucket/custom_profile.h"
#include "cpu/cpu.h"
#include "file/outfile.h"
#include "heap/event.h"
#include "http/http.h"
#include "http/server.h"
#include "lock_wait/contention.h"
#include "options/flags.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/lock.h"
#include "sys/os.h"
#include "thread_stacks/thread_stacks.h"
#include "write/profiles.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static const char go_prefix[] = "/debug/pprof/";

enum {
  PARAMETER = 32, // size of the value of a parameter
  SECOND_MS = 1000,
};

// --- parameters ---

// Parses a decimal number as Go's ParseInt does. Returns false if s is not a
// number, or too large.
static bool parse_int(const char *s, int64_t *v) {
  const bool is_negative = *s == '-';
  int64_t n = 0;
  if (*s == '-' || *s == '+')
    s++;
  const char *p = s;
  for (; *p >= '0' && *p <= '9'; p++)
    if (__builtin_mul_overflow(n, 10, &n) ||
        __builtin_add_overflow(n, *p - '0', &n))
      return false;
  *v = is_negative ? -n : n;
  return p != s && *p == '\0';
}

// Returns the value of an integer parameter, or 0 if the query has none or a
// malformed one. (Go: strconv.Atoi with its error ignored)
static int64_t integer(struct mprof_http_text query, const char *name) {
  char text[PARAMETER];
  int64_t n = 0;
  if (!mprof_http_parameter(query, name, text, sizeof(text)) ||
      !parse_int(text, &n))
    return 0;
  return n;
}

// Parses a positive number of seconds with a fraction. Returns milliseconds,
// which may be fewer for a number that is far too large, or 0 if s is not such
// a number.
static int64_t parse_seconds(const char *s) {
  int64_t ms = 0, unit = SECOND_MS;
  const char *p = s;
  for (; *p >= '0' && *p <= '9'; p++)
    if (ms <= INT32_MAX)
      ms = 10 * ms + (*p - '0') * (int64_t)SECOND_MS;
  if (*p == '.')
    for (p++; *p >= '0' && *p <= '9'; p++)
      ms += (*p - '0') * (unit /= 10);
  return *p == '\0' ? ms : 0;
}

// Makes the reply an error and returns true if the time is longer than a
// request may take.
static bool refuse_long(int64_t ms, struct mprof_reply *r) {
  char what[MPROF_REPLY_TEXT - 2];
  struct mprof_text t = MPROF_TEXT(what);
  if (ms <= (int64_t)mprof_flags.listen_max_seconds * SECOND_MS)
    return false;
  mprof_text_str(&t, "seconds may be at most ");
  mprof_text_dec(&t, mprof_flags.listen_max_seconds);
  mprof_text_str(&t, ", the value of the option listen_max_seconds");
  mprof_reply_error(r, 400, what, 0);
  return true;
}

// --- the index ---

// The begin of the index. The browser's own colours fit a light or dark scheme.
static const char index_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>/debug/pprof/</title>\n<style>\n"
    "html{background:Canvas;color:CanvasText}\n"
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:56rem;"
    "padding:0 1rem}\n"
    "h1{font-size:1.4rem}\nh2{font-size:1.1rem;margin-top:2rem}\n"
    "table{border-collapse:collapse}\n"
    "th,td{padding:.2rem 1.2rem .2rem 0;text-align:left;"
    "border-bottom:1px solid #8886}\n"
    "td:first-child{text-align:right;font-variant-numeric:tabular-nums}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1.2rem}\n"
    "dt{font-weight:600}\ndd{margin:0}\n"
    "@media(max-width:40rem){dl{display:block}dd{margin-bottom:.6rem}}\n"
    "</style>\n</head>\n<body>\n<main>\n<h1>/debug/pprof/</h1>\n"
    "<p>A link shows a profile as text. Without <code>debug=1</code>, the same "
    "address is the file that <code>mprof</code> and <code>go tool "
    "pprof</code> read.</p>\n<h2>Types of profiles available:</h2>\n<table>\n"
    "<thead><tr><th scope=\"col\">Count</th><th scope=\"col\">Profile</th></tr>"
    "</thead>\n<tbody>\n";

static void put_row(struct mprof_outfile *f, const char *name,
                    const struct mprof_profile_row *row, size_t number) {
  mprof_outfile_text(f, "<tr><td>");
  if (row != NULL && row->kind->count != NULL)
    mprof_outfile_dec(f, row->kind->count(row, number));
  mprof_outfile_text(f, "</td><td><a href='");
  mprof_outfile_text(f, name);
  mprof_outfile_text(f, row != NULL ? "?debug=1'>" : "'>");
  mprof_outfile_text(f, name);
  mprof_outfile_text(f, "</a></td></tr>\n");
}

static void put_description(struct mprof_outfile *f, const char *name,
                            const char *text) {
  mprof_outfile_text(f, "<dt>");
  mprof_outfile_text(f, name);
  mprof_outfile_text(f, ":</dt><dd>");
  mprof_outfile_text(f, text);
  mprof_outfile_text(f, "</dd>\n");
}

static bool is_listed(const struct mprof_profile_row *row) {
  return row->name != NULL &&
         (row->kind->is_offered == NULL || row->kind->is_offered(row));
}

static int put_index(struct mprof_outfile *f, void *unused) {
  (void)unused;
  mprof_outfile_text(f, index_head);
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (is_listed(&mprof_profile_rows[i]))
      put_row(f, mprof_profile_rows[i].name, &mprof_profile_rows[i], 0);
  const struct mprof_profile_row *custom =
      &mprof_profile_rows[MPROF_PROFILE_custom];
  for (size_t i = 0; i < mprof_custom_profiles(); i++)
    put_row(f, mprof_custom_profile_name(i), custom, i);
  put_row(f, "cmdline", NULL, 0);
  put_row(f, "profile", NULL, 0);
  put_row(f, "trace", NULL, 0);
  mprof_outfile_text(f, "</tbody>\n</table>\n"
                        "<p><a href=\"goroutine?debug=2\">full stacks of all "
                        "threads</a>, <a href=\"/debug/mprof/get\">options and "
                        "their values</a></p>\n<h2>Profile Descriptions:</h2>\n"
                        "<dl>\n");
  for (size_t i = 0; i < MPROF_PROFILES; i++)
    if (is_listed(&mprof_profile_rows[i]))
      put_description(f, mprof_profile_rows[i].name,
                      mprof_profile_rows[i].text);
  put_description(f, "cmdline", "The command line of the program");
  put_description(f, "profile",
                  "The processor time of the next seconds. The parameter "
                  "seconds gives their number. go tool pprof reads the file.");
  put_description(f, "trace",
                  "A trace of the program's execution. The parameter seconds "
                  "gives its duration. go tool trace reads the file.");
  mprof_outfile_text(f, "</dl>\n</main>\n</body>\n</html>\n");
  return 0;
}

static void write_page(struct mprof_reply *r, const char *type,
                       int (*write)(struct mprof_outfile *f, void *arg),
                       void *arg) {
  const int error = mprof_reply_file_write(&r->body, false, write, arg);
  r->type = type;
  if (error != 0)
    mprof_reply_error(r, error == -ENOMEM || error == -EMFILE ? 503 : 500,
                      "Could not write the page", error);
}

// --- the command line ---

static int put_command(struct mprof_outfile *f, void *unused) {
  struct mprof_procfile file;
  (void)unused;
  const int error = mprof_procfile_read(&file, "/proc/self/cmdline");
  if (error != 0)
    return error;
  // The last argument also ends with a null byte, which Go does not send.
  mprof_outfile_put(f, file.data, file.len > 0 ? file.len - 1 : 0);
  mprof_procfile_free(&file);
  return 0;
}

// --- symbols ---

enum {
  // Addresses that are looked up together.
  SYMBOLS = 512,
  // Time after which only known names are shown, because all other clients
  // wait. A later request finds those at once, and searches for more.
  SYMBOLS_MS = 1000,
};

struct symbols {
  const char *text; // addresses, separated by '+'
  const char *end;
  struct mprof_outfile *out;
  uint64_t address;
  bool has_name;
};

static bool parse_address(const char *p, const char *end, uint64_t *v) {
  const bool is_hex = end - p > 2 && p[0] == '0' && (p[1] | 32) == 'x';
  const unsigned base = is_hex ? 16 : 10;
  *v = 0;
  for (p += is_hex ? 2 : 0; p < end; p++) {
    const char c = *p >= 'A' && *p <= 'F' ? (char)(*p | 32) : *p;
    const unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                           : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                                                  : base;
    if (digit >= base || __builtin_mul_overflow(*v, base, v) ||
        __builtin_add_overflow(*v, digit, v))
      return false;
  }
  return *v != 0;
}

// Keeps the outermost function, which is the one that the address belongs to
// without regard to inlining.
static void put_symbol(const struct mprof_frame *frame, void *arg) {
  struct symbols *s = arg;
  if (frame->function[0] == '\0' || s->has_name)
    return;
  s->has_name = true;
  mprof_outfile_text(s->out, "0x");
  mprof_outfile_hex(s->out, s->address);
  mprof_outfile_text(s->out, " ");
  mprof_outfile_text(s->out, frame->function);
  mprof_outfile_text(s->out, "\n");
}

// Takes up to SYMBOLS addresses from the text. Returns their number.
static size_t take_addresses(struct symbols *s, mprof_pc pc[SYMBOLS]) {
  size_t n = 0;
  while (n < SYMBOLS && s->text < s->end) {
    const char *plus = memchr(s->text, '+', (size_t)(s->end - s->text));
    const char *stop = plus != NULL ? plus : s->end;
    uint64_t address;
    // The addresses of a profile lie inside of the call instructions, but
    // mprof_symbolize expects return addresses.
    if (parse_address(s->text, stop, &address))
      pc[n++] = (mprof_pc)(address + 1);
    s->text = plus != NULL ? plus + 1 : s->end;
  }
  return n;
}

static int put_symbols(struct mprof_outfile *f, void *arg) {
  struct symbols *s = arg;
  mprof_pc pc[SYMBOLS];
  const int64_t end_ms = mprof_clock_ms() + SYMBOLS_MS;
  s->out = f;
  // pprof needs to know only whether the number is 0. (Go: Symbol)
  mprof_outfile_text(f, "num_symbols: 1\n");
  if (s->text == s->end || mprof_symbolize_begin(true) != 0)
    return 0;
  while (s->text < s->end) {
    const size_t n = take_addresses(s, pc);
    if (mprof_symbolize_collect(NULL)) {
      for (size_t i = 0; i < n; i++)
        mprof_symbolize_want(pc[i]);
      mprof_symbolize_look_up(NULL);
    }
    for (size_t i = 0; i < n; i++) {
      if (mprof_clock_ms() >= end_ms)
        mprof_symbolize_only_known();
      s->address = (uint64_t)pc[i] - 1;
      s->has_name = false;
      mprof_symbolize(pc[i], put_symbol, s);
    }
  }
  mprof_symbolize_end();
  return 0;
}

static void symbol_page(const struct mprof_http_request *q, const char *body,
                        size_t len, struct mprof_reply *r) {
  struct symbols s = {.text = body, .end = body + len};
  if (q->method != MPROF_HTTP_POST && q->query.p != NULL)
    s = (struct symbols){.text = q->query.p, .end = q->query.p + q->query.len};
  mprof_live_lock(true);
  write_page(r, MPROF_TYPE_TEXT, put_symbols, &s);
  mprof_live_unlock();
}

// --- profiles ---

static bool is_on(struct mprof_http_text query, const char *name) {
  char text[PARAMETER];
  return !mprof_http_parameter(query, name, text, sizeof(text)) ||
         strcmp(text, "0") != 0;
}

static void profile_page(const struct mprof_http_request *q, const char *name,
                         struct mprof_reply *r, struct mprof_job *j) {
  char seconds[PARAMETER];
  int64_t n;
  const int64_t debug = integer(q->query, "debug");
  const struct mprof_profile_wish w = {
      .name = name,
      .debug = debug == 0   ? 0
               : debug >= 2 ? 2
                            : 1,
      .symbolizes = is_on(q->query, "symbolize"),
      .ends_cycle = strcmp(name, "heap") == 0 && integer(q->query, "gc") > 0};
  if (!mprof_http_parameter(q->query, "seconds", seconds, sizeof(seconds)) ||
      seconds[0] == '\0') {
    mprof_live_profile(&w, r);
    return;
  }
  struct mprof_profile_request known;
  if (!mprof_profile_find(&known, name))
    mprof_reply_error(r, 404, "Unknown profile", 0);
  else if (!parse_int(seconds, &n) || n <= 0)
    mprof_reply_error(
        r, 400, "invalid value for \"seconds\" - must be a positive integer",
        0);
  else if (!refuse_long(n <= INT32_MAX ? n * SECOND_MS : INT64_MAX, r))
    mprof_live_delta(&w, n, r, j);
}

static void since_page(const struct mprof_http_request *q, const char *name,
                       struct mprof_reply *r, struct mprof_job *j) {
  char client[MPROF_CLIENT_NAME] = "";
  const struct mprof_profile_wish w = {
      .name = name,
      .symbolizes = is_on(q->query, "symbolize"),
      .ends_cycle = strcmp(name, "heap") == 0 && integer(q->query, "gc") > 0};
  const enum mprof_parameter found =
      mprof_http_parameter(q->query, "client", client, sizeof(client));
  if (found == MPROF_PARAMETER_LONG)
    mprof_reply_error(r, 400, "the parameter client is longer than 39 bytes",
                      0);
  else if (found == MPROF_PARAMETER_MALFORMED)
    mprof_reply_error(
        r, 400, "the parameter client has a null byte or an invalid %XX", 0);
  else
    mprof_live_since(&w, client, r, j);
}

static void trace_page(const struct mprof_http_request *q,
                       struct mprof_reply *r, struct mprof_job *j) {
  char text[PARAMETER];
  int64_t ms = 0;
  if (mprof_http_parameter(q->query, "seconds", text, sizeof(text)))
    ms = parse_seconds(text);
  if (!refuse_long(ms, r))
    mprof_job_begin_trace(ms > 0 ? ms : SECOND_MS, r, j);
}

// (Go: Profile)
static void cpu_page(const struct mprof_http_request *q, struct mprof_reply *r,
                     struct mprof_job *j) {
  enum { SECONDS = 30 };
  int64_t n = integer(q->query, "seconds");
  if (n <= 0)
    n = SECONDS;
  if (!refuse_long(n <= INT32_MAX ? n * SECOND_MS : INT64_MAX, r))
    mprof_live_cpu(n * SECOND_MS, is_on(q->query, "symbolize"), r, j);
}

// --- paths ---

// The pages of gperftools, and the profiles that they show.
static const struct {
  char path[24], name[8]; // arrays need no relocation at the program's start
} gperftools[] = {
    {"/pprof/heap", "heap"},        {"/pprof/growth", "allocs"},
    {"/pprof/contention", "mutex"}, {"/pprof/symbol", "symbol"},
    {"/pprof/cmdline", "cmdline"},  {"/pprof/profile", "profile"},
};

// Returns the name of the page of a path: "" for the index; NULL if there is no
// such page.
static const char *name_of(const char *path) {
  const size_t len = sizeof(go_prefix) - 1;
  if (strncmp(path, go_prefix, len) == 0)
    return path + len;
  for (size_t i = 0; i < sizeof(gperftools) / sizeof(gperftools[0]); i++)
    if (strcmp(gperftools[i].path, path) == 0)
      return gperftools[i].name;
  return NULL;
}

static void dispatch(const struct mprof_http_request *q, const char *name,
                     const char *body, size_t len, struct mprof_reply *r,
                     struct mprof_job *j) {
  const char *const since = mprof_live_since_name(name);
  if (strcmp(name, "symbol") == 0)
    symbol_page(q, body, len, r);
  else if (name[0] == '\0')
    write_page(r, MPROF_TYPE_HTML, put_index, NULL);
  else if (strcmp(name, "cmdline") == 0)
    write_page(r, MPROF_TYPE_TEXT, put_command, NULL);
  else if (strcmp(name, "profile") == 0 && integer(q->query, "wall") > 0)
    profile_page(q, "wall", r, j);
  else if (strcmp(name, "profile") == 0)
    cpu_page(q, r, j);
  else if (strcmp(name, "trace") == 0)
    trace_page(q, r, j);
  else if (since != NULL)
    since_page(q, since, r, j);
  else
    profile_page(q, name, r, j);
}

bool mprof_page_reads_body(const struct mprof_http_request *q) {
  const char *name = name_of(q->path);
  return q->method == MPROF_HTTP_POST && name != NULL &&
         strcmp(name, "symbol") == 0;
}

static void start_trace(struct mprof_http_text query, struct mprof_reply *r) {
  (void)query;
  mprof_live_trace_start(r);
}

static void stop_trace(struct mprof_http_text query, struct mprof_reply *r) {
  (void)query;
  mprof_live_trace_stop(r);
}

static void last_of_trace(struct mprof_http_text query, struct mprof_reply *r) {
  (void)query;
  mprof_live_trace_last(r);
}

static void stop(struct mprof_http_text query, struct mprof_reply *r) {
  (void)query;
  if (mprof_http_on_stop)
    mprof_http_on_stop();
  mprof_reply_error(r, mprof_http_on_stop ? 200 : 409,
                    mprof_http_on_stop ? "Profiling has stopped"
                                       : "The program was started with MProf",
                    0);
  r->is_error = mprof_http_on_stop == NULL;
}

// Makes the reply an error. A page of any web site can make a browser send
// requests to this machine, for example for an image.
static void refuse_foreign(struct mprof_reply *r) {
  mprof_reply_error(r, 403,
                    "A page of another web site must not ask for this; enter "
                    "the address in the browser instead",
                    0);
}

// Returns whether a page changes nothing and costs little, so that a page of
// another web site may ask for it, or have a link to it.
static bool is_cheap(const char *name) {
  return name[0] == '\0' || strcmp(name, "cmdline") == 0;
}

// The pages of MProf's own, which Go does not have.
static const struct {
  char path[32];
  bool changes; // needs POST
  void (*reply)(struct mprof_http_text query, struct mprof_reply *r);
} own_pages[] = {
    {"/debug/mprof/get", false, mprof_steer_get},
    {"/debug/mprof/set", true, mprof_steer_set},
    {"/debug/mprof/stop", true, stop},
    {"/debug/mprof/trace/start", true, start_trace},
    {"/debug/mprof/trace/stop", true, stop_trace},
    {"/debug/mprof/trace/last", true, last_of_trace},
};

enum { OWN_PAGES = sizeof(own_pages) / sizeof(own_pages[0]) };

// Replies if the path is a page of MProf's own. Returns whether it is.
static bool own_page(const struct mprof_http_request *q,
                     struct mprof_reply *r) {
  size_t i = 0;
  while (i < OWN_PAGES && strcmp(q->path, own_pages[i].path) != 0)
    i++;
  if (i == OWN_PAGES)
    return false;
  const bool changes = own_pages[i].changes;
  if (changes != (q->method == MPROF_HTTP_POST) ||
      q->method == MPROF_HTTP_OTHER) {
    mprof_reply_error(r, 405, "Method not allowed", 0);
    r->allow = changes ? "POST" : "GET, HEAD";
  } else if (changes && q->is_foreign) {
    refuse_foreign(r);
  } else {
    own_pages[i].reply(q->query, r);
  }
  return true;
}

void mprof_page(const struct mprof_http_request *q, const char *body,
                size_t len, bool is_loopback, struct mprof_reply *r,
                struct mprof_job *j) {
  const char *name = name_of(q->path);
  const bool may_post = mprof_page_reads_body(q);
  // The page of a foreign web site can make its own host name point to this
  // machine, but a browser still sends that name.
  if (is_loopback && !mprof_http_is_address(q->host)) {
    mprof_reply_error(r, 403, "Use the IP address as the host name", 0);
  } else if (strcmp(q->path, "/") == 0 ||
             strcmp(q->path, "/debug/pprof") == 0) {
    mprof_reply_error(r, 301, "Moved to /debug/pprof/", 0);
    r->is_error = false;
    r->location = go_prefix;
  } else if (name == NULL && own_page(q, r)) {
    return;
  } else if (name == NULL) {
    mprof_reply_error(r, 404, "404 page not found", 0);
    r->is_error = false;
  } else if (q->method != MPROF_HTTP_GET && q->method != MPROF_HTTP_HEAD &&
             !may_post) {
    mprof_reply_error(r, 405, "Method not allowed", 0);
    r->allow = strcmp(name, "symbol") == 0 ? "GET, HEAD, POST" : "GET, HEAD";
  } else if (q->is_foreign && !is_cheap(name)) {
    refuse_foreign(r);
  } else {
    dispatch(q, name, body, len, r, j);
  }
}

// --- pages of options ---
//
// Shows and changes the options of the running program.

enum { NAME = 64, VALUE = 512, LINE = 1024 };

// Makes the reply an error of mprof_flags_change. why: the reason of -EPERM.
static void refuse(struct mprof_reply *r, int error, const char *name,
                   const char *value, const char *why) {
  char what[MPROF_REPLY_TEXT - 2];
  struct mprof_text t = MPROF_TEXT(what);
  if (error == -EPERM) {
    mprof_text_str(&t, name);
    mprof_text_str(&t, " cannot change: ");
    mprof_text_str(&t, why);
  } else {
    mprof_flags_put_mistake(&t, name, value);
  }
  mprof_reply_error(r,
                    error == -ENOENT  ? 404
                    : error == -EPERM ? 409
                                      : 400,
                    what, 0);
}

// --- get ---

// The rates that the program may have changed by its own calls.
static void update_rates(void) {
  if (mprof_flags.heap)
    mprof_flags.heap_rate = mprof_sample_rate();
}

static void put_line(struct mprof_outfile *f, size_t i) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_flags_put(i, &t);
  mprof_text_str(&t, "\n");
  mprof_outfile_put(f, line, t.len);
}

static int put_options(struct mprof_outfile *f, void *number) {
  const size_t wanted = *(const size_t *)number;
  char unused[LINE];
  struct mprof_text t = MPROF_TEXT(unused);
  for (size_t i = 0; mprof_flags_put(i, &t); i++, t.len = 0)
    if (wanted == SIZE_MAX || wanted == i)
      put_line(f, i);
  return 0;
}

static void show(size_t number, struct mprof_reply *r) {
  update_rates();
  const int error =
      mprof_reply_file_write(&r->body, false, put_options, &number);
  if (error != 0)
    mprof_reply_error(r, 503, "Could not write the options", error);
}

void mprof_steer_get(struct mprof_http_text query, struct mprof_reply *r) {
  char name[NAME];
  const bool is_one = mprof_http_parameter(query, "name", name, sizeof(name));
  const size_t number = is_one ? mprof_flags_find(name) : SIZE_MAX;
  if (is_one && number == SIZE_MAX) {
    refuse(r, -ENOENT, name, "", NULL);
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  show(number, r);
  mprof_lock_release(&mprof_writer_lock);
}

// --- set ---

// Returns why a new value of the option would have no effect, or NULL.
static const char *why_no_effect(const char *name) {
  if (strcmp(name, "heap_rate") == 0 && !mprof_flags.heap)
    return "it has no effect, because the option heap is 0";
  return NULL;
}

// Passes a new value on to the code that has a copy of it.
static void apply(const char *name) {
  const struct mprof_flags *f = &mprof_flags;
  if (strcmp(name, "heap_rate") == 0)
    mprof_sample_set_rate(f->heap_rate);
  else if (strcmp(name, "block_rate") == 0)
    mprof_contention_set_block_rate(f->block_rate);
  else if (strcmp(name, "wall_rate") == 0)
    mprof_wall_set_rate(f->wall_rate);
  else if (strcmp(name, "mutex_fraction") == 0)
    mprof_contention_set_mutex_fraction(
        f->mutex_fraction > INT_MAX ? INT_MAX : (int)f->mutex_fraction);
  else if (strcmp(name, "cpu_rate") == 0)
    mprof_cpu_restart();
}

// Stores the name of the query's first parameter. Returns false if it does not
// fit.
static bool take_name(struct mprof_http_text query, char name[NAME]) {
  size_t len = 0;
  while (len < query.len && query.p[len] != '=' && query.p[len] != '&')
    len++;
  if (len == 0 || len >= NAME || len == query.len || query.p[len] != '=')
    return false;
  memcpy(name, query.p, len);
  name[len] = '\0';
  return true;
}

void mprof_steer_set(struct mprof_http_text query, struct mprof_reply *r) {
  char name[NAME], value[VALUE];
  if (!take_name(query, name) ||
      !mprof_http_parameter(query, name, value, sizeof(value))) {
    mprof_reply_error(r, 400, "The query must be NAME=VALUE", 0);
    return;
  }
  mprof_lock_acquire(&mprof_writer_lock);
  const char *why = why_no_effect(name);
  const int error =
      why != NULL ? -EPERM : mprof_flags_change(name, value, &why);
  if (error == 0) {
    apply(name);
    show(mprof_flags_find(name), r);
  }
  mprof_lock_release(&mprof_writer_lock);
  if (error != 0)
    refuse(r, error, name, value, why);
}
