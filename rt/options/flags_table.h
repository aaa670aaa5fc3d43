// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the options, one row for each option of flags.def, and the value
// of a single option: its text is stored in struct mprof_flags, and shown. The
// functions take no lock; the caller guards the struct mprof_flags.

#ifndef MPROF_RT_OPTIONS_FLAGS_TABLE_H
#define MPROF_RT_OPTIONS_FLAGS_TABLE_H

#include "options/flags.h"

enum mprof_option_kind {
  MPROF_OPTION_BOOL,
  MPROF_OPTION_UINT,
  MPROF_OPTION_STR,
  MPROF_OPTION_LIST,
  MPROF_OPTION_ADDRESS,
};

// Whether an option may change while the program runs, or why not; see
// flags.def.
enum mprof_option_change {
  MPROF_CHANGE_ALWAYS,
  MPROF_CHANGE_START,
  MPROF_CHANGE_MEMORY,
  MPROF_CHANGE_FILES,
  MPROF_CHANGE_COUNTS,
  MPROF_CHANGE_SIGNALS,
};

// A row has no pointers; see MPROF_FITS.
struct mprof_option {
  char name[28];
  char text[16]; // default of a value that is not a BOOL or a UINT
  enum mprof_option_kind kind;
  uint8_t change;           // enum mprof_option_change
  uint16_t help;            // see mprof_option_help
  uint32_t offset;          // in struct mprof_flags
  uint64_t value, min, max; // default and range of a BOOL and a UINT
};

enum {
  // Size in bytes of the values that are not a BOOL or a UINT.
  MPROF_OPTION_STR_SIZE = sizeof(((struct mprof_flags *)0)->log_path),
  MPROF_OPTION_COUNT = 0
#define MPROF_FLAG_BOOL(Name, Default, Change, Help) +1
#define MPROF_FLAG_UINT(Name, Default, Min, Max, Change, Help) +1
#define MPROF_FLAG_STR(Name, Default, Change, Help) +1
#define MPROF_FLAG_LIST(Name, Default, Change, Help) +1
#define MPROF_FLAG_ADDRESS(Name, Default, Change, Help) +1
#include "options/flags.def"
};
// The rows are in the order of flags.def. Never written.
extern MPROF_HIDDEN const struct mprof_option mprof_options[MPROF_OPTION_COUNT];

// A part of a string of options. It does not end with a terminating 0.
struct mprof_piece {
  const char *p;
  size_t len;
};
bool mprof_piece_equals(struct mprof_piece a, const char *s);
struct mprof_text;
// Appends the piece in quotes. Truncates a long piece.
void mprof_piece_put(struct mprof_text *t, struct mprof_piece s);

// Returns whether the character separates two options.
static inline bool mprof_option_is_separator(char c) {
  return c == ':' || c == ',' || c == ' ' || (c >= '\t' && c <= '\r');
}
// Returns the description of the option.
const char *mprof_option_help(const struct mprof_option *o);
// Returns the option with this name, or NULL.
const struct mprof_option *mprof_option_find(struct mprof_piece name);
// Stores the value of option o in f. Returns false if the value is not one that
// the option allows.
bool mprof_option_store(struct mprof_flags *f, const struct mprof_option *o,
                        struct mprof_piece value);
// Appends the value of option o in f.
void mprof_option_put_value(struct mprof_text *t, const struct mprof_flags *f,
                            const struct mprof_option *o);
// Prints all options with their values in mprof_flags, and the profiles, on
// stderr, for the option help=1. Takes no lock.
void mprof_flags_print_help(void);

#endif // MPROF_RT_OPTIONS_FLAGS_TABLE_H
