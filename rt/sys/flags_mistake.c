// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages about wrong options; see flags_mistake.h.

#include "sys/flags_mistake.h"

#include "sys/flags_table.h"
#include "sys/message.h"
#include "sys/text.h"

#include <string.h>

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

void mprof_flags_put_mistake(struct mprof_text *t, const char *name,
                             const char *value) {
  const struct mprof_piece n = {name, strlen(name)};
  const struct mprof_option *o = mprof_option_find(n);
  if (o == NULL)
    put_unknown(t, n, "", "; 'mprof ctl PID get' lists the options");
  else
    put_wrong_value(t, o, (struct mprof_piece){value, strlen(value)});
}

void mprof_mistake_report_value(const struct mprof_flags *f,
                                const struct mprof_option *o,
                                struct mprof_piece value, const char *origin) {
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

void mprof_mistake_report_unknown(struct mprof_piece name, const char *origin) {
  report_unknown(name, "", "; MPROF_OPTIONS=help=1 lists the options", origin);
}

void mprof_mistake_report_syntax(struct mprof_piece s, const char *what,
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

void mprof_mistake_report_no_value(struct mprof_piece name,
                                   const char *origin) {
  const struct mprof_option *o = mprof_option_find(name);
  if (o != NULL)
    mprof_mistake_report_syntax(name, "option ",
                                o->kind == MPROF_OPTION_BOOL
                                    ? " has no value; add =1"
                                    : " has no value; add =VALUE",
                                origin);
  else
    report_unknown(name, " without a value",
                   "; if it is part of a value, quote the value, as in "
                   "log_path='a:b'",
                   origin);
}
