// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of options.def, for parsing, help, manual pages and completion.

#ifndef MPROF_TOOL_OPTION_TABLE_H
#define MPROF_TOOL_OPTION_TABLE_H

#include "commands/options.h"

#include <stdint.h>

struct command_row {
  const char *name, *arguments, *text;
};
extern const struct command_row command_rows[]; // COMMAND_COUNT rows

struct option_row {
  int kind;
  size_t offset; // in struct options
  const char *name;
  char letter;          // 0: no short option
  const char *argument; // NULL: none
  uint64_t commands;    // a bit for each
  const char *text;
};
extern const struct option_row option_rows[];
extern const size_t option_row_count;

// Returns whether the command has the option.
bool option_is_of(const struct option_row *row, enum command_id command);

// The values of an option, which blanks separate.
struct value_row {
  const char *option;
  uint64_t commands;
  const char *words;
  bool is_complete; // other values are wrong
};
// Returns the values of an option of the command, or NULL.
const struct value_row *option_values(const struct option_row *row,
                                      enum command_id command);

// Returns the verb of a command such as mprof trace top, or NULL.
const char *command_verb(enum command_id command);
// Returns whether the command is a verb of the other command.
bool command_is_of(enum command_id verb, enum command_id command);
// Returns whether the command shows profiles of any kind.
bool command_shows_any_kind(enum command_id command);

#endif
