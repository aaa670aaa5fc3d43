// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds an option by its name, stores and shows its value, and prints the list
// of all options; see flags_table.h.

#include "options/flags_table.h"

#include "options/flags.h"
#include "sys/message.h"
#include "sys/os.h"

#include <string.h>

enum {
  SHOWN = 80, // longest part of a wrong option that a message quotes
  LINE = 512,
};

// No text may change while the program runs: mprof_option_store does not check
// its meaning, and other threads may be reading it.
#define IS_FIXED(Change)                                                       \
  _Static_assert(MPROF_CHANGE_##Change != MPROF_CHANGE_ALWAYS,                 \
                 "a text cannot change while the program runs");
#define MPROF_FLAG_BOOL(Name, Default, Change, Help)
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)
#define MPROF_FLAG_STR(Name, Default, Change, Help) IS_FIXED(Change)
#define MPROF_FLAG_LIST(Name, Default, Change, Help) IS_FIXED(Change)
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help) IS_FIXED(Change)
#include "options/flags.def"

// The descriptions of all options, one after the other.
#define HELP(Name, Text, Help)                                                 \
  MPROF_FITS(#Name, mprof_options->name)                                       \
  MPROF_FITS(Text, mprof_options->text)                                        \
  char Name[sizeof(Help)];
static const struct helps {
#define MPROF_FLAG_BOOL(Name, Default, Change, Help) HELP(Name, "", Help)
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  HELP(Name, "", Help)
#define MPROF_FLAG_STR(Name, Default, Change, Help) HELP(Name, Default, Help)
#define MPROF_FLAG_LIST(Name, Default, Change, Help) HELP(Name, Default, Help)
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help)                        \
  HELP(Name, Default, Help)
#include "options/flags.def"
} helps = {
#define MPROF_FLAG_BOOL(Name, Default, Change, Help) Help,
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help) Help,
#define MPROF_FLAG_STR(Name, Default, Change, Help) Help,
#define MPROF_FLAG_LIST(Name, Default, Change, Help) Help,
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help) Help,
#include "options/flags.def"
};

#define ROW(Name, Kind, Text, Value, Min, Max, Change)                         \
  {#Name,                                                                      \
   Text,                                                                       \
   Kind,                                                                       \
   MPROF_CHANGE_##Change,                                                      \
   offsetof(struct helps, Name),                                               \
   offsetof(struct mprof_flags, Name),                                         \
   Value,                                                                      \
   Min,                                                                        \
   Max},
const struct mprof_option mprof_options[MPROF_OPTION_COUNT] = {
#define MPROF_FLAG_BOOL(Name, Default, Change, Help)                           \
  ROW(Name, MPROF_OPTION_BOOL, "", Default, 0, 1, Change)
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help)                 \
  ROW(Name, MPROF_OPTION_UINT, "", Default, Min, Max, Change)
#define MPROF_FLAG_STR(Name, Default, Change, Help)                            \
  ROW(Name, MPROF_OPTION_STR, Default, 0, 0, 0, Change)
#define MPROF_FLAG_LIST(Name, Default, Change, Help)                           \
  ROW(Name, MPROF_OPTION_LIST, Default, 0, 0, 0, Change)
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help)                        \
  ROW(Name, MPROF_OPTION_ADDRESS, Default, 0, 0, 0, Change)
#include "options/flags.def"
};

const char *mprof_option_help(const struct mprof_option *o) {
  return (const char *)&helps + o->help;
}

bool mprof_piece_equals(struct mprof_piece a, const char *s) {
  return a.len == strlen(s) && memcmp(a.p, s, a.len) == 0;
}

const struct mprof_option *mprof_option_find(struct mprof_piece name) {
  for (int i = 0; i < MPROF_OPTION_COUNT; i++)
    if (mprof_piece_equals(name, mprof_options[i].name))
      return &mprof_options[i];
  return NULL;
}

// --- values ---

static void *field(struct mprof_flags *f, const struct mprof_option *o) {
  return (char *)f + o->offset;
}

void mprof_option_put_value(struct mprof_text *t, const struct mprof_flags *f,
                            const struct mprof_option *o) {
  const void *v = (const char *)f + o->offset;
  if (o->kind == MPROF_OPTION_BOOL)
    mprof_text_str(t, *(const bool *)v ? "1" : "0");
  else if (o->kind == MPROF_OPTION_UINT)
    mprof_text_dec(t, *(const uint64_t *)v);
  else {
    mprof_text_str(t, "'");
    mprof_text_str(t, v);
    mprof_text_str(t, "'");
  }
}

static bool parse_bool(struct mprof_piece s, bool *v) {
  *v = mprof_piece_equals(s, "1") || mprof_piece_equals(s, "true") ||
       mprof_piece_equals(s, "yes");
  return *v || mprof_piece_equals(s, "0") || mprof_piece_equals(s, "false") ||
         mprof_piece_equals(s, "no");
}

// Parses s as a decimal number with an optional suffix: k (2^10), m (2^20) or g
// (2^30). Returns false if s is not such a number or the number is too large.
static bool parse_uint(struct mprof_piece s, uint64_t *v) {
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

static bool is_between_words(char c) {
  return mprof_option_is_separator(c) || c == '+';
}

// Stores the words of the list `value` in v, with one '+' between two words.
// Returns false if the result is too long.
static bool store_list(char *v, struct mprof_piece value) {
  char list[MPROF_OPTION_STR_SIZE];
  size_t len = 0;
  for (size_t i = 0; i < value.len; i++) {
    bool begins = !is_between_words(value.p[i]) && len > 0 &&
                  is_between_words(value.p[i - 1]);
    if (is_between_words(value.p[i]))
      continue;
    if (len + begins >= MPROF_OPTION_STR_SIZE - 1)
      return false;
    if (begins)
      list[len++] = '+';
    list[len++] = value.p[i];
  }
  memcpy(v, list, len);
  v[len] = '\0';
  return true;
}

static bool store_text(char *v, struct mprof_piece value) {
  if (value.len >= MPROF_OPTION_STR_SIZE)
    return false;
  memcpy(v, value.p, value.len);
  v[value.len] = '\0';
  return true;
}

// Returns whether the number of option o is an amount. An amount above the
// maximum is set to the maximum. The other numbers choose between a few
// alternatives, such as signals.
static bool is_amount(const struct mprof_option *o) {
  return o->max - o->min > 64;
}

bool mprof_option_store(struct mprof_flags *f, const struct mprof_option *o,
                        struct mprof_piece value) {
  void *v = field(f, o);
  bool flag;
  uint64_t number;
  switch (o->kind) {
  case MPROF_OPTION_BOOL:
    if (!parse_bool(value, &flag))
      return false;
    *(bool *)v = flag;
    return true;
  case MPROF_OPTION_UINT:
    if (!parse_uint(value, &number))
      return false;
    if (number > o->max && is_amount(o))
      *(uint64_t *)v = o->max;
    if (number < o->min || number > o->max)
      return false;
    *(uint64_t *)v = number;
    return true;
  case MPROF_OPTION_STR:
  case MPROF_OPTION_ADDRESS:
    return store_text(v, value);
  case MPROF_OPTION_LIST:
    return store_list(v, value);
  }
  return false;
}

// --- text ---

void mprof_piece_put(struct mprof_text *t, struct mprof_piece s) {
  mprof_text_str(t, "'");
  mprof_text_mem(t, s.p, s.len < SHOWN ? s.len : SHOWN);
  mprof_text_str(t, s.len > SHOWN ? "...'" : "'");
}

// --- the list of help=1 ---

static void print_options(void) {
  char line[LINE + 2 * MPROF_OPTION_STR_SIZE];
  struct mprof_text t = MPROF_TEXT(line);
  mprof_text_str(&t, "mprof: options for MPROF_OPTIONS, written as name=value "
                     "and separated by ':'; quote a value that contains ':', "
                     "',' or blanks, as in log_path='a:b'; the program runs "
                     "after this list:\n");
  for (int i = 0; i < MPROF_OPTION_COUNT; i++) {
    const struct mprof_option *o = &mprof_options[i];
    mprof_text_str(&t, "  ");
    mprof_text_str(&t, o->name);
    mprof_text_str(&t, "\n    ");
    mprof_text_str(&t, mprof_option_help(o));
    mprof_text_str(&t, "\n    ");
    if (o->kind == MPROF_OPTION_UINT || o->kind == MPROF_OPTION_BOOL) {
      mprof_text_dec(&t, o->min);
      mprof_text_str(&t, o->kind == MPROF_OPTION_BOOL ? " or " : " to ");
      mprof_text_dec(&t, o->max);
      mprof_text_str(&t, ", default ");
      mprof_text_dec(&t, o->value);
    } else {
      mprof_text_str(&t, o->kind == MPROF_OPTION_LIST ? "list, default "
                                                      : "text, default ");
      mprof_piece_put(&t, (struct mprof_piece){o->text, strlen(o->text)});
    }
    mprof_text_str(&t, ", now ");
    mprof_option_put_value(&t, &mprof_flags, o);
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
#include "options/profiles.def"
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

void mprof_flags_print_help(void) {
  if (!mprof_message_has_stderr())
    return;
  print_options();
  print_profiles();
}
