// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints the list of help=1; see flags_help.h.

#include "sys/flags_help.h"

#include "sys/flags.h"
#include "sys/flags_table.h"
#include "sys/message.h"
#include "sys/os_linux.h"
#include "sys/text.h"

#include <string.h>

enum { LINE = 512 };

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

void mprof_flags_print_help(void) {
  if (!mprof_message_has_stderr())
    return;
  print_options();
  print_profiles();
}
