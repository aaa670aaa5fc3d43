// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses strings of options, and sets the options at the start and while the
// program runs. A wrong option is reported to the user and then ignored. It
// never ends the program.

#define _GNU_SOURCE 1

#include "options/flags.h"

#include "options/flags_table.h"
#include "sys/message.h"
#include "sys/os.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

struct mprof_flags mprof_flags = {
#define MPROF_FLAG_BOOL(Name, Default, Change, Help) .Name = (Default),
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  .Name = (Default),
#define MPROF_FLAG_STR(Name, Default, Change, Help) .Name = Default,
#define MPROF_FLAG_LIST(Name, Default, Change, Help) .Name = Default,
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help) .Name = Default,
#include "options/flags.def"
};
bool mprof_flags_has_environment;
const char *mprof_flags_given;

// Returns the default options of the program. The program may define this
// function; otherwise the symbol is NULL.
__attribute__((weak, visibility("default"))) const char *
__mprof_default_options(void);

// --- mistakes ---

enum {
  LONGEST_NAME = 40, // longest unknown name that gets a suggestion
  LINE = 512,
};

static void put_wrong_value(struct mprof_text *t, const struct mprof_option *o,
                            struct mprof_piece value) {
  mprof_text_str(t, "value ");
  mprof_piece_put(t, value);
  mprof_text_str(t, " of option '");
  mprof_text_str(t, o->name);
  if (o->kind == MPROF_OPTION_BOOL) {
    mprof_text_str(t, "' is not 0, 1, true, false, yes or no");
  } else if (o->kind == MPROF_OPTION_UINT) {
    mprof_text_str(t, "' is not a number from ");
    mprof_text_dec(t, o->min);
    mprof_text_str(t, " to ");
    mprof_text_dec(t, o->max);
  } else {
    mprof_text_str(t, "' is longer than ");
    mprof_text_dec(t, MPROF_OPTION_STR_SIZE - 1);
    mprof_text_str(t, " bytes");
  }
}

// Returns the Levenshtein distance of a and b, that is, the smallest number of
// insertions, deletions and replacements of characters that turn a into b.
static unsigned distance(struct mprof_piece a, const char *b) {
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
static const struct mprof_option *find_nearest(struct mprof_piece s) {
  const struct mprof_option *nearest = NULL;
  unsigned least = (unsigned)s.len / 2 + 1;
  if (s.len > LONGEST_NAME)
    return NULL;
  for (int i = 0; i < MPROF_OPTION_COUNT; i++) {
    unsigned d = distance(s, mprof_options[i].name);
    if (d < least) {
      least = d;
      nearest = &mprof_options[i];
    }
  }
  return nearest;
}

// after_name: continues the text behind the name. advice: what to do if no
// option has a similar name.
static void put_unknown(struct mprof_text *t, struct mprof_piece name,
                        const char *after_name, const char *advice) {
  const struct mprof_option *nearest = find_nearest(name);
  mprof_text_str(t, "unknown option ");
  mprof_piece_put(t, name);
  mprof_text_str(t, after_name);
  if (nearest != NULL) {
    mprof_text_str(t, ", did you mean '");
    mprof_text_str(t, nearest->name);
    mprof_text_str(t, "'");
  } else {
    mprof_text_str(t, advice);
  }
}

// Prints a message about a value that the option o does not allow. The message
// says that the value in f is used instead. origin: the name of the string of
// options, for the message.
static void report_value(const struct mprof_flags *f,
                         const struct mprof_option *o, struct mprof_piece value,
                         const char *origin) {
  char line[LINE + MPROF_OPTION_STR_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  put_wrong_value(&t, o, value);
  mprof_text_str(&t, "; using ");
  mprof_option_put_value(&t, f, o);
  mprof_message(line);
}

// after_name, advice: as for put_unknown.
static void report_unknown(struct mprof_piece name, const char *after_name,
                           const char *advice, const char *origin) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  put_unknown(&t, name, after_name, advice);
  mprof_message(line);
}

static void report_unknown_option(struct mprof_piece name, const char *origin) {
  report_unknown(name, "", "; MPROF_OPTIONS=help=1 lists the options", origin);
}

// Reports malformed text. The message consists of what, s in quotes, and
// advice.
static void report_syntax(struct mprof_piece s, const char *what,
                          const char *advice, const char *origin) {
  char line[LINE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, origin);
  mprof_text_str(&t, ": ");
  mprof_text_str(&t, what);
  mprof_piece_put(&t, s);
  mprof_text_str(&t, advice);
  mprof_message(line);
}

// Reports that an option has no value, and how to write one. If the name is
// unknown, the message says so instead and explains quoting, because a word
// without '=' is usually part of an unquoted path with blanks.
static void report_no_value(struct mprof_piece name, const char *origin) {
  const struct mprof_option *o = mprof_option_find(name);
  if (o != NULL)
    report_syntax(name, "option ",
                  o->kind == MPROF_OPTION_BOOL ? " has no value; add =1"
                                               : " has no value; add =VALUE",
                  origin);
  else
    report_unknown(name, " without a value",
                   "; if it is part of a value, quote the value, as in "
                   "log_path='a:b'",
                   origin);
}

// --- strings of options ---

static size_t find_separator(const char *s) {
  size_t n = 0;
  while (s[n] != '\0' && !mprof_option_is_separator(s[n]))
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
    if (mprof_option_is_separator(s[n])) {
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

static size_t find_end(const char *s, const struct mprof_option *o) {
  return o != NULL && o->kind == MPROF_OPTION_LIST      ? find_list_end(s)
         : o != NULL && o->kind == MPROF_OPTION_ADDRESS ? find_address_end(s)
                                                        : find_separator(s);
}

// Reads the value at *s into *value and moves *s behind the value. o: the
// option, or NULL if it is unknown. If the option is a list or an address, an
// unquoted value may contain separators. If the value is malformed, returns
// false and moves *s to where the next option may begin.
static bool take_value(const char **s, const struct mprof_option *o,
                       struct mprof_piece *value, const char *origin) {
  const char quote = **s;
  if (quote != '\'' && quote != '"') {
    *value = (struct mprof_piece){*s, find_end(*s, o)};
    *s += value->len;
    return true;
  }
  const char *end = strchr(*s + 1, quote);
  if (end == NULL) {
    *value = (struct mprof_piece){*s + 1, strlen(*s + 1)};
    report_syntax(*value,
                  quote == '"' ? "missing closing \" after "
                               : "missing closing ' after ",
                  "; the rest of the options is ignored", origin);
    *s += 1 + value->len;
    return false;
  }
  *value = (struct mprof_piece){*s + 1, (size_t)(end - *s - 1)};
  *s = end + 1;
  size_t rest = find_separator(*s);
  if (rest > 0) {
    report_syntax((struct mprof_piece){*s, rest},
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
    if (mprof_option_is_separator(*s)) {
      s++;
      continue;
    }
    struct mprof_piece name = {s, 0}, value;
    while (s[name.len] != '=' && s[name.len] != '\0' &&
           !mprof_option_is_separator(s[name.len]))
      name.len++;
    s += name.len;
    if (*s != '=') {
      report_no_value(name, origin);
      mistakes++;
      continue;
    }
    s++;
    const struct mprof_option *o = mprof_option_find(name);
    if (!take_value(&s, o, &value, origin)) {
      mistakes++;
    } else if (o == NULL) {
      report_unknown_option(name, origin);
      mistakes++;
    } else if (!mprof_option_store(f, o, value)) {
      report_value(f, o, value, origin);
      mistakes++;
    }
  }
  return mistakes;
}

// --- start ---

bool mprof_flags_is_secure(void) { return getauxval(AT_SECURE) != 0; }

// Returns the value of an environment variable. Returns NULL if the program has
// more rights than the user who started it (setuid), because that user controls
// the environment.
const char *mprof_flags_environment(const char *name) {
  if (mprof_flags_is_secure())
    return NULL;
  for (char **e = environ; e != NULL && *e != NULL; e++) {
    const char *rest = mprof_text_after(*e, name);
    if (rest != NULL && *rest == '=')
      return rest + 1;
  }
  return NULL;
}

// Whether the user has set MPROF_OPTIONS or stderr is a terminal. Written once
// at start.
static bool user_asks;

bool mprof_flags_want_news(void) { return user_asks && !mprof_flags.quiet; }

void mprof_flags_init(void) {
  const char *user = mprof_flags_given == NULL
                         ? mprof_flags_environment("MPROF_OPTIONS")
                         : NULL;
  mprof_flags_has_environment = user != NULL && *user != '\0';
  // Checks now whether stderr is a terminal, and not later when a message is
  // printed. By then, the program may have installed a seccomp filter that
  // forbids the check.
  user_asks = mprof_flags_has_environment || mprof_sys_is_terminal(2);
  if (!user_asks && __mprof_default_options == NULL)
    mprof_message_turn_off();
  const char *s = NULL;
  if (__mprof_default_options != NULL)
    s = __mprof_default_options();
  if (s != NULL)
    mprof_flags_parse(&mprof_flags, s, "__mprof_default_options()");
  if (mprof_flags_has_environment)
    mprof_flags_parse(&mprof_flags, user, "MPROF_OPTIONS");
  if (mprof_flags_given != NULL)
    mprof_flags_parse(&mprof_flags, mprof_flags_given, "mprof_start()");
  if (mprof_flags.help)
    mprof_flags_print_help();
  // Write no profile and no report to a relative path. The user who started the
  // program has chosen the current directory, but the files would be written
  // with the rights of the program.
  if (mprof_flags_is_secure() && mprof_flags.log_path[0] != '/')
    mprof_flags.profile = mprof_flags.report = false;
}

// --- changes while the program runs ---

// Returns the reason why option o cannot change, or NULL.
static const char *why_fixed(const struct mprof_option *o) {
  static const char texts[][64] = {
      [MPROF_CHANGE_START] =
          "it has an effect only at the start of the program",
      [MPROF_CHANGE_MEMORY] = "memory for the present value is already in use",
      [MPROF_CHANGE_FILES] = "only the start of the program can choose files",
      [MPROF_CHANGE_COUNTS] =
          "earlier events were counted with the present value",
      [MPROF_CHANGE_SIGNALS] =
          "signal handlers are installed for the present value"};
  return o->change == MPROF_CHANGE_ALWAYS ? NULL : texts[o->change];
}

int mprof_flags_change(const char *name, const char *value, const char **why) {
  const struct mprof_piece v = {value, strlen(value)};
  const struct mprof_option *o =
      mprof_option_find((struct mprof_piece){name, strlen(name)});
  if (o == NULL)
    return -ENOENT;
  *why = why_fixed(o);
  if (*why != NULL)
    return -EPERM;
  // For an amount above the maximum, mprof_option_store stores the maximum and
  // returns false.
  struct mprof_flags copy = mprof_flags;
  if (!mprof_option_store(&copy, o, v))
    return -EINVAL;
  mprof_option_store(&mprof_flags, o, v);
  return 0;
}

void mprof_flags_change_all(const char *s) {
  struct mprof_flags wanted = mprof_flags;
  mprof_flags_parse(&wanted, s, "mprof_start()");
  for (int i = 0; i < MPROF_OPTION_COUNT; i++) {
    const struct mprof_option *o = &mprof_options[i];
    const size_t size = o->kind == MPROF_OPTION_BOOL   ? sizeof(bool)
                        : o->kind == MPROF_OPTION_UINT ? sizeof(uint64_t)
                                                       : MPROF_OPTION_STR_SIZE;
    // A new start chooses new files, and a new address for the HTTP server.
    if (why_fixed(o) == NULL || strcmp(o->name, "log_path") == 0 ||
        strcmp(o->name, "listen") == 0)
      memcpy((char *)&mprof_flags + o->offset, (char *)&wanted + o->offset,
             size);
  }
}

bool mprof_flags_put(size_t i, struct mprof_text *t) {
  if (i >= MPROF_OPTION_COUNT)
    return false;
  const char *why = why_fixed(&mprof_options[i]);
  mprof_text_str(t, mprof_options[i].name);
  mprof_text_str(t, "=");
  mprof_option_put_value(t, &mprof_flags, &mprof_options[i]);
  if (why != NULL) {
    mprof_text_str(t, " (cannot change: ");
    mprof_text_str(t, why);
    mprof_text_str(t, ")");
  }
  return true;
}

size_t mprof_flags_find(const char *name) {
  const struct mprof_option *o =
      mprof_option_find((struct mprof_piece){name, strlen(name)});
  return o == NULL ? SIZE_MAX : (size_t)(o - mprof_options);
}

void mprof_flags_put_mistake(struct mprof_text *t, const char *name,
                             const char *value) {
  const struct mprof_piece n = {name, strlen(name)};
  const struct mprof_option *o = mprof_option_find(n);
  if (o == NULL)
    put_unknown(t, n, "", "; 'mprof ctl PID get' lists the options");
  else
    put_wrong_value(t, o, (struct mprof_piece){value, strlen(value)});
}
