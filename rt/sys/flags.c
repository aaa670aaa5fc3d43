// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses strings of options, and sets the options at the start. A wrong option
// is reported to the user and then ignored. It never ends the program.

#define _GNU_SOURCE 1

#include "sys/flags.h"

#include "sys/flags_help.h"
#include "sys/flags_mistake.h"
#include "sys/flags_table.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/text.h"

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
#include "sys/flags.def"
};
bool mprof_flags_has_environment;

// Returns the default options of the program. The program may define this
// function; otherwise the symbol is NULL.
__attribute__((weak, visibility("default"))) const char *
__mprof_default_options(void);

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
    mprof_mistake_report_syntax(*value,
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
    mprof_mistake_report_syntax((struct mprof_piece){*s, rest},
                                "unexpected text after a closing quote: ", "",
                                origin);
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
      mprof_mistake_report_no_value(name, origin);
      mistakes++;
      continue;
    }
    s++;
    const struct mprof_option *o = mprof_option_find(name);
    if (!take_value(&s, o, &value, origin)) {
      mistakes++;
    } else if (o == NULL) {
      mprof_mistake_report_unknown(name, origin);
      mistakes++;
    } else if (!mprof_option_store(f, o, value)) {
      mprof_mistake_report_value(f, o, value, origin);
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
  const char *user = mprof_flags_environment("MPROF_OPTIONS");
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
  if (mprof_flags.help)
    mprof_flags_print_help();
  // Write no profile and no report to a relative path. The user who started the
  // program has chosen the current directory, but the files would be written
  // with the rights of the program.
  if (mprof_flags_is_secure() && mprof_flags.log_path[0] != '/')
    mprof_flags.profile = mprof_flags.report = false;
}
