// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses the options that flags.def lists. A wrong option is reported to the
// user and then ignored. It never ends the program.

#define _GNU_SOURCE 1

#include "sys/flags.h"

#include "sys/message.h"
#include "sys/os_linux.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct mprof_flags mprof_flags MPROF_START_DATA;
bool mprof_flags_has_environment MPROF_START_DATA;

// Returns the default options of the program. The program may define this
// function; otherwise the symbol is NULL.
__attribute__((weak, visibility("default"))) const char *
__mprof_default_options(void);

enum kind { BOOL, UINT, STR, LIST, ADDRESS };

enum {
  STR_SIZE = sizeof(mprof_flags.log_path),
  LONGEST_NAME = 40, // longest unknown name that gets a suggestion
  SHOWN = 80,        // longest part of a wrong option that a message quotes
  LINE = 512,
};

struct option {
  const char *name;
  enum kind kind;
  size_t offset;
  uint64_t value, min, max; // default and range of BOOL and UINT
  const char *text;         // default of STR and LIST
  const char *help;
};

#define OFFSET(Name) offsetof(struct mprof_flags, Name)
static const struct option options[] = {
#define MPROF_FLAG_BOOL(Name, Default, Help)                                   \
  {#Name, BOOL, OFFSET(Name), Default, 0, 1, NULL, Help},
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Help)                         \
  {#Name, UINT, OFFSET(Name), Default, Min, Max, NULL, Help},
#define MPROF_FLAG_STR(Name, Default, Help)                                    \
  {#Name, STR, OFFSET(Name), 0, 0, 0, Default, Help},
#define MPROF_FLAG_LIST(Name, Default, Help)                                   \
  {#Name, LIST, OFFSET(Name), 0, 0, 0, Default, Help},
#define MPROF_FLAG_ADDRESS(Name, Default, Help)                                \
  {#Name, ADDRESS, OFFSET(Name), 0, 0, 0, Default, Help},
#include "sys/flags.def"
};
enum { OPTION_COUNT = sizeof(options) / sizeof(options[0]) };

// A part of an option string.
struct piece {
  const char *p;
  size_t len;
};

// --- values ---

static void *field(struct mprof_flags *f, const struct option *o) {
  return (char *)f + o->offset;
}

static void put_value(struct mprof_text *t, const struct mprof_flags *f,
                      const struct option *o) {
  const void *v = (const char *)f + o->offset;
  if (o->kind == BOOL)
    mprof_text_str(t, *(const bool *)v ? "1" : "0");
  else if (o->kind == UINT)
    mprof_text_dec(t, *(const uint64_t *)v);
  else {
    mprof_text_str(t, "'");
    mprof_text_str(t, v);
    mprof_text_str(t, "'");
  }
}

static void set_default(struct mprof_flags *f, const struct option *o) {
  void *v = field(f, o);
  if (o->kind == BOOL)
    *(bool *)v = o->value != 0;
  else if (o->kind == UINT)
    *(uint64_t *)v = o->value;
  else if (o->text[0] != '\0') // the memory is zero, and stays untouched
    memcpy(v, o->text, strlen(o->text) + 1);
}

static void set_defaults(struct mprof_flags *f) {
  for (int i = 0; i < OPTION_COUNT; i++)
    set_default(f, &options[i]);
}

void mprof_flags_defaults(struct mprof_flags *f) {
  memset(f, 0, sizeof(*f));
  set_defaults(f);
}

static bool equals(struct piece a, const char *s) {
  return a.len == strlen(s) && memcmp(a.p, s, a.len) == 0;
}

static bool parse_bool(struct piece s, bool *v) {
  *v = equals(s, "1") || equals(s, "true") || equals(s, "yes");
  return *v || equals(s, "0") || equals(s, "false") || equals(s, "no");
}

// Parses s as a decimal number with an optional suffix: k (2^10), m (2^20) or g
// (2^30). Returns false if s is not such a number or the number is too large.
static bool parse_uint(struct piece s, uint64_t *v) {
  uint64_t unit = 1;
  if (s.len > 0) {
    char last = s.p[s.len - 1] | 0x20; // lower case
    unit = last == 'k'   ? 1u << 10
           : last == 'm' ? 1u << 20
           : last == 'g' ? 1u << 30
                         : 1;
  }
  if (unit != 1)
    s.len--;
  *v = 0;
  for (size_t i = 0; i < s.len; i++) {
    if (s.p[i] < '0' || s.p[i] > '9' || __builtin_mul_overflow(*v, 10, v) ||
        __builtin_add_overflow(*v, (uint64_t)(s.p[i] - '0'), v))
      return false;
  }
  return s.len > 0 && !__builtin_mul_overflow(*v, unit, v);
}

// --- messages about wrong options ---

static void put_piece(struct mprof_text *t, struct piece s) {
  mprof_text_str(t, "'");
  mprof_text_mem(t, s.p, s.len < SHOWN ? s.len : SHOWN);
  mprof_text_str(t, s.len > SHOWN ? "...'" : "'");
}

static void put_wrong_value(struct mprof_text *t, const struct option *o,
                            struct piece value) {
  mprof_text_str(t, "value ");
  put_piece(t, value);
  mprof_text_str(t, " of option '");
  mprof_text_str(t, o->name);
  if (o->kind == BOOL) {
    mprof_text_str(t, "' is not 0, 1, true, false, yes or no");
  } else if (o->kind == UINT) {
    mprof_text_str(t, "' is not a number from ");
    mprof_text_dec(t, o->min);
    mprof_text_str(t, " to ");
    mprof_text_dec(t, o->max);
  } else {
    mprof_text_str(t, "' is longer than ");
    mprof_text_dec(t, STR_SIZE - 1);
    mprof_text_str(t, " bytes");
  }
}

static void report_value(const struct mprof_flags *f, const struct option *o,
                         struct piece value, const char *origin) {
  char line[LINE + STR_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  put_wrong_value(&t, o, value);
  mprof_text_str(&t, "; using ");
  put_value(&t, f, o);
  mprof_message(line);
}

// Returns the Levenshtein distance of a and b, that is, the smallest number of
// insertions, deletions and replacements of characters that turn a into b.
static unsigned distance(struct piece a, const char *b) {
  // row[i] is the distance between the first i characters of a and the first j
  // characters of b.
  unsigned char row[LONGEST_NAME + 1];
  for (size_t i = 0; i <= a.len; i++)
    row[i] = (unsigned char)i;
  for (unsigned j = 1; *b != '\0'; b++, j++) {
    unsigned char diagonal = row[0];
    row[0] = (unsigned char)j;
    for (size_t i = 1; i <= a.len; i++) {
      unsigned char best = diagonal + (a.p[i - 1] != *b);
      if (row[i] + 1 < best)
        best = row[i] + 1;
      if (row[i - 1] + 1 < best)
        best = row[i - 1] + 1;
      diagonal = row[i];
      row[i] = best;
    }
  }
  return row[a.len];
}

// Returns the option whose name has the smallest distance from s. Returns NULL
// if more than half of the characters of s would have to change.
static const struct option *find_nearest(struct piece s) {
  const struct option *nearest = NULL;
  unsigned least = (unsigned)s.len / 2 + 1;
  if (s.len > LONGEST_NAME)
    return NULL;
  for (int i = 0; i < OPTION_COUNT; i++) {
    unsigned d = distance(s, options[i].name);
    if (d < least) {
      least = d;
      nearest = &options[i];
    }
  }
  return nearest;
}

// advice: what to do if no option has a similar name.
static void put_unknown(struct mprof_text *t, struct piece name,
                        const char *advice) {
  const struct option *nearest = find_nearest(name);
  mprof_text_str(t, "unknown option ");
  put_piece(t, name);
  if (nearest != NULL) {
    mprof_text_str(t, ", did you mean '");
    mprof_text_str(t, nearest->name);
    mprof_text_str(t, "'");
  } else {
    mprof_text_str(t, advice);
  }
}

static void report_unknown(struct piece name, const char *origin) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  put_unknown(&t, name, "; MPROF_OPTIONS=help=1 lists the options");
  mprof_message(line);
}

static void report_syntax(struct piece s, const char *what, const char *advice,
                          const char *origin) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  mprof_text_str(&t, what);
  put_piece(&t, s);
  mprof_text_str(&t, advice);
  mprof_message(line);
}

static const struct {
  const char *old, *name;
} aliases[] = {
#define MPROF_FLAG_BOOL(Name, Default, Help)
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Help)
#define MPROF_FLAG_STR(Name, Default, Help)
#define MPROF_FLAG_LIST(Name, Default, Help)
#define MPROF_FLAG_ADDRESS(Name, Default, Help)
#define MPROF_FLAG_ALIAS(Old, Name) {#Old, #Name},
#include "sys/flags.def"
};

static const struct option *find_option(struct piece name) {
  for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
    if (equals(name, aliases[i].old))
      name = (struct piece){aliases[i].name, strlen(aliases[i].name)};
  for (int i = 0; i < OPTION_COUNT; i++)
    if (equals(name, options[i].name))
      return &options[i];
  return NULL;
}

// Reports that an option has no value. If the name is unknown, the message also
// explains quoting, because a word without '=' is usually part of an unquoted
// path with blanks.
static void report_no_value(struct piece name, const char *origin) {
  report_syntax(
      name, "option ",
      find_option(name) != NULL
          ? " has no value"
          : " has no value; quote a value that contains ':', ',' or blanks, as "
            "in log_path='a:b'",
      origin);
}

// --- strings of options ---

static bool is_separator(char c) {
  return c == ':' || c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_between_words(char c) { return is_separator(c) || c == '+'; }

// Stores the words of the list `value` in v, with one '+' between two words.
// Returns false if the result is too long.
static bool store_list(char *v, struct piece value) {
  char list[STR_SIZE];
  size_t len = 0;
  for (size_t i = 0; i < value.len; i++) {
    bool begins = !is_between_words(value.p[i]) && len > 0 &&
                  is_between_words(value.p[i - 1]);
    if (is_between_words(value.p[i]))
      continue;
    if (len + begins >= STR_SIZE - 1)
      return false;
    if (begins)
      list[len++] = '+';
    list[len++] = value.p[i];
  }
  memcpy(v, list, len);
  v[len] = '\0';
  return true;
}

static bool store_text(char *v, struct piece value) {
  if (value.len >= STR_SIZE)
    return false;
  memcpy(v, value.p, value.len);
  v[value.len] = '\0';
  return true;
}

// Returns whether the number of option o is an amount. An amount above the
// maximum is set to the maximum. The other numbers choose between a few
// alternatives, such as signals.
static bool is_amount(const struct option *o) { return o->max - o->min > 64; }

// Stores the value of option o in f. Returns false if the value is not one that
// the option allows.
static bool store(struct mprof_flags *f, const struct option *o,
                  struct piece value) {
  void *v = field(f, o);
  bool flag;
  uint64_t number;
  switch (o->kind) {
  case BOOL:
    if (!parse_bool(value, &flag))
      return false;
    *(bool *)v = flag;
    return true;
  case UINT:
    if (!parse_uint(value, &number))
      return false;
    if (number > o->max && is_amount(o))
      *(uint64_t *)v = o->max;
    if (number < o->min || number > o->max)
      return false;
    *(uint64_t *)v = number;
    return true;
  case STR:
  case ADDRESS:
    return store_text(v, value);
  case LIST:
    return store_list(v, value);
  }
  return false;
}

static size_t find_separator(const char *s) {
  size_t n = 0;
  while (s[n] != '\0' && !is_separator(s[n]))
    n++;
  return n;
}

// Returns the length of the unquoted list at s. The list ends before the next
// word that contains '=', because that word is the next option. A separator
// does not end the list, because a word without '=' cannot be an option and so
// belongs to the list.
static size_t find_list_end(const char *s) {
  size_t end = find_separator(s);
  for (size_t n = end; s[n] != '\0';) {
    if (is_separator(s[n])) {
      n++;
      continue;
    }
    size_t word = find_separator(s + n);
    if (memchr(s + n, '=', word) != NULL)
      break;
    n += word;
    end = n;
  }
  return end;
}

// Returns the length of the unquoted address at s. An address consists of words
// that are separated by ':', and ends before the next word that contains '='.
// It may begin with an IPv6 address in brackets.
static size_t find_address_end(const char *s) {
  const size_t bracket = *s == '[' ? strcspn(s, "] ,") : 0;
  size_t end = bracket + find_separator(s + bracket);
  while (s[end] == ':') {
    const size_t word = find_separator(s + end + 1);
    if (word == 0 || memchr(s + end + 1, '=', word) != NULL)
      break;
    end += 1 + word;
  }
  return end;
}

static size_t find_end(const char *s, const struct option *o) {
  return o != NULL && o->kind == LIST      ? find_list_end(s)
         : o != NULL && o->kind == ADDRESS ? find_address_end(s)
                                           : find_separator(s);
}

// Reads the value at *s into *value and moves *s behind the value. o: the
// option, or NULL if it is unknown. If the option is a list or an address, an
// unquoted value may contain separators. If the value is malformed, returns
// false and moves *s to where the next option may begin.
static bool take_value(const char **s, const struct option *o,
                       struct piece *value, const char *origin) {
  const char quote = **s;
  if (quote != '\'' && quote != '"') {
    *value = (struct piece){*s, find_end(*s, o)};
    *s += value->len;
    return true;
  }
  const char *end = strchr(*s + 1, quote);
  if (end == NULL) {
    *value = (struct piece){*s + 1, strlen(*s + 1)};
    report_syntax(*value,
                  quote == '"' ? "missing closing \" after "
                               : "missing closing ' after ",
                  "; the rest of the options is ignored", origin);
    *s += 1 + value->len;
    return false;
  }
  *value = (struct piece){*s + 1, (size_t)(end - *s - 1)};
  *s = end + 1;
  size_t rest = find_separator(*s);
  if (rest > 0) {
    report_syntax((struct piece){*s, rest},
                  "unexpected text after a closing quote: ", "", origin);
    *s += rest;
    return false;
  }
  return true;
}

unsigned mprof_flags_parse(struct mprof_flags *f, const char *s,
                           const char *origin) {
  unsigned mistakes = 0;
  while (*s != '\0') {
    if (is_separator(*s)) {
      s++;
      continue;
    }
    struct piece name = {s, 0}, value;
    while (s[name.len] != '=' && s[name.len] != '\0' &&
           !is_separator(s[name.len]))
      name.len++;
    s += name.len;
    if (*s != '=') {
      report_no_value(name, origin);
      mistakes++;
      continue;
    }
    s++;
    const struct option *o = find_option(name);
    if (!take_value(&s, o, &value, origin)) {
      mistakes++;
    } else if (o == NULL) {
      report_unknown(name, origin);
      mistakes++;
    } else if (!store(f, o, value)) {
      report_value(f, o, value, origin);
      mistakes++;
    }
  }
  return mistakes;
}

// --- changes while the program runs ---

enum reason { CHANGES, AT_START, MEMORY, FILES, COUNTS, SIGNALS, REASONS };

// The options that cannot change. The program reads an option that is not
// listed here each time that it uses it.
static const struct {
  uint16_t offset;
  uint8_t reason;
} fixed[] = {
    {OFFSET(log_path), FILES},
    {OFFSET(heap), COUNTS},
    {OFFSET(heapx), COUNTS},
    {OFFSET(peak), COUNTS},
    {OFFSET(alloc_log), FILES},
    {OFFSET(alloc_log_mb), FILES},
    {OFFSET(block_kinds), AT_START},
    {OFFSET(stuck), COUNTS},
    {OFFSET(stuck_report), AT_START},
    {OFFSET(threads_signal), SIGNALS},
    {OFFSET(stack_depth), MEMORY},
    {OFFSET(coroutines), COUNTS},
    {OFFSET(max_labels), MEMORY},
    {OFFSET(max_memory_mb), MEMORY},
    {OFFSET(dump_on_signal), SIGNALS},
    {OFFSET(listen), AT_START},
    {OFFSET(control_signal), SIGNALS},
    {OFFSET(trace), AT_START},
    {OFFSET(trace_max_mb), MEMORY},
    {OFFSET(trace_last), AT_START},
    {OFFSET(trace_last_mb), MEMORY},
    {OFFSET(trace_format), AT_START},
    {OFFSET(external_symbolizer_path), AT_START},
    {OFFSET(seed), AT_START},
    {OFFSET(help), AT_START},
};

static enum reason reason_of(const struct option *o) {
  for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
    if (fixed[i].offset == o->offset)
      return (enum reason)fixed[i].reason;
  return CHANGES;
}

// Returns the reason why option o cannot change, or NULL.
static const char *why_fixed(const struct option *o) {
  static const char texts[REASONS][64] = {
      [AT_START] = "it has an effect only at the start of the program",
      [MEMORY] = "memory for the present value is already in use",
      [FILES] = "files with the present value may be open",
      [COUNTS] = "earlier events were counted with the present value",
      [SIGNALS] = "signal handlers are installed for the present value"};
  const enum reason r = reason_of(o);
  return r == CHANGES ? NULL : texts[r];
}

int mprof_flags_change(const char *name, const char *value, const char **why) {
  const struct option *o = find_option((struct piece){name, strlen(name)});
  if (o == NULL)
    return -ENOENT;
  *why = why_fixed(o);
  if (*why != NULL)
    return -EPERM;
  return store(&mprof_flags, o, (struct piece){value, strlen(value)}) ? 0
                                                                      : -EINVAL;
}

void mprof_flags_put_mistake(struct mprof_text *t, const char *name,
                             const char *value) {
  const struct piece n = {name, strlen(name)};
  const struct option *o = find_option(n);
  if (o == NULL)
    put_unknown(t, n, "; 'mprof ctl PID get' lists the options");
  else
    put_wrong_value(t, o, (struct piece){value, strlen(value)});
}

bool mprof_flags_put(size_t i, struct mprof_text *t) {
  if (i >= OPTION_COUNT)
    return false;
  const char *why = why_fixed(&options[i]);
  mprof_text_str(t, options[i].name);
  mprof_text_str(t, "=");
  put_value(t, &mprof_flags, &options[i]);
  if (why != NULL) {
    mprof_text_str(t, " (cannot change: ");
    mprof_text_str(t, why);
    mprof_text_str(t, ")");
  }
  return true;
}

size_t mprof_flags_find(const char *name) {
  const struct option *o = find_option((struct piece){name, strlen(name)});
  return o == NULL ? SIZE_MAX : (size_t)(o - options);
}

// --- start ---

bool mprof_flags_is_secure(void) { return getauxval(AT_SECURE) != 0; }

// Returns the value of an environment variable. Returns NULL if the program has
// more rights than the user who started it (setuid), because that user controls
// the environment.
const char *mprof_flags_environment(const char *name) {
  size_t len = strlen(name);
  if (mprof_flags_is_secure())
    return NULL;
  for (char **e = environ; e != NULL && *e != NULL; e++)
    if (strncmp(*e, name, len) == 0 && (*e)[len] == '=')
      return *e + len + 1;
  return NULL;
}

// Whether the user has set MPROF_OPTIONS or stderr is a terminal. Written once
// at start.
static bool user_asks MPROF_START_DATA;

bool mprof_flags_want_news(void) { return user_asks && !mprof_flags.quiet; }

void mprof_flags_init(void) {
  const char *user = mprof_flags_environment("MPROF_OPTIONS");
  mprof_flags_has_environment = user != NULL && *user != '\0';
  // Checks now whether stderr is a terminal, and not later when a message is
  // printed. By then, the program may have installed a seccomp filter that
  // forbids the check.
  user_asks = mprof_flags_has_environment || mprof_sys_is_terminal(2);
  if (!user_asks && __mprof_default_options == NULL)
    mprof_message_turn_off();
  // mprof_flags is zero. To clear it again would use memory for its long texts.
  set_defaults(&mprof_flags);
  const char *s = NULL;
  if (__mprof_default_options != NULL)
    s = __mprof_default_options();
  if (s != NULL)
    mprof_flags_parse(&mprof_flags, s, "__mprof_default_options()");
  if (user != NULL)
    mprof_flags_parse(&mprof_flags, user, "MPROF_OPTIONS");
  if (mprof_flags.help)
    mprof_flags_print_help();
  // Write no profile and no report to a relative path. The user who started the
  // program has chosen the current directory, but the files would be written
  // with the rights of the program.
  if (mprof_flags_is_secure() && mprof_flags.log_path[0] != '/')
    mprof_flags.profile = mprof_flags.report = false;
}

static void print_options(void) {
  char line[LINE + 2 * STR_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "mprof: options for MPROF_OPTIONS, written as name=value "
                     "and separated by ':'; quote a value that contains ':', "
                     "',' or blanks, as in log_path='a:b'; the program runs "
                     "after this list:\n");
  for (int i = 0; i < OPTION_COUNT; i++) {
    const struct option *o = &options[i];
    mprof_text_str(&t, "  ");
    mprof_text_str(&t, o->name);
    mprof_text_str(&t, "\n    ");
    mprof_text_str(&t, o->help);
    mprof_text_str(&t, "\n    ");
    if (o->kind == UINT || o->kind == BOOL) {
      mprof_text_dec(&t, o->min);
      mprof_text_str(&t, o->kind == BOOL ? " or " : " to ");
      mprof_text_dec(&t, o->max);
      mprof_text_str(&t, ", default ");
      mprof_text_dec(&t, o->value);
    } else {
      mprof_text_str(&t, o->kind == LIST ? "list, default " : "text, default ");
      put_piece(&t, (struct piece){o->text, strlen(o->text)});
    }
    mprof_text_str(&t, ", now ");
    put_value(&t, &mprof_flags, o);
    mprof_text_str(&t, "\n");
    mprof_os_write_all(2, line, t.len);
    t.len = 0;
  }
}

static const struct {
  const char *name, *suffix, *text;
} profiles[] = {
#define MPROF_PROFILE(Name, Suffix, Kind, Variant, Section, Line, Text)        \
  {#Name, Suffix, Text},
#include "sys/profiles.def"
};

static void print_profiles(void) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(
      &t, "mprof: profiles, listed by the names that mprof_write_profile "
          "accepts; PATTERN stands for the value of log_path:\n");
  for (size_t i = 0; i < sizeof(profiles) / sizeof(profiles[0]); i++) {
    mprof_text_str(&t, "  ");
    mprof_text_str(&t, profiles[i].name);
    mprof_text_str(&t, ": ");
    mprof_text_str(&t, profiles[i].text);
    if (profiles[i].suffix != NULL) {
      mprof_text_str(&t, "; file at exit: PATTERN");
      mprof_text_str(&t, profiles[i].suffix);
      mprof_text_str(&t, ".pb.gz");
    } else {
      mprof_text_str(&t, "; on request only");
    }
    mprof_text_str(&t, "\n");
    mprof_os_write_all(2, line, t.len);
    t.len = 0;
  }
}

// Says which kinds the program was linked without. The reference is weak,
// because the file that defines the text may be missing (absent/kinds.c).
extern MPROF_HIDDEN const char mprof_kinds_left_out[] __attribute__((weak));

void mprof_flags_print_help(void) {
  if (!mprof_message_has_stderr())
    return;
  print_options();
  print_profiles();
  if (mprof_kinds_left_out != NULL && mprof_kinds_left_out[0] != '\0')
    mprof_os_write_all(2, mprof_kinds_left_out, strlen(mprof_kinds_left_out));
}
