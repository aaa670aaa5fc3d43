// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands and their options; see options.def.

#ifndef MPROF_TOOL_OPTIONS_H
#define MPROF_TOOL_OPTIONS_H

#include "view/view.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Exit statuses of all commands.
enum {
  STATUS_OK,
  STATUS_FOUND = 1, // check: violations; leaks: leaks; SARIF: results
  STATUS_ERROR = 2, // a file cannot be read, or an option is wrong
  STATUS_BUDGET = 3 // diff: a budget is broken
};

enum command_id {
#define COMMAND(Name, Arguments, Text) COMMAND_##Name,
#define SUBCOMMAND(Command, Verb, Arguments, Text) COMMAND_##Command##_##Verb,
#include "commands/options.def"
  COMMAND_COUNT
};

struct options {
  enum command_id command;
#define FLAG(Field, Name, Letter, Commands, Text) bool Field;
#define TEXT(Field, Name, Letter, Argument, Commands, Text) const char *Field;
#define LIST(Field, Name, Letter, Argument, Commands, Text)                    \
  struct text_list Field;
#include "commands/options.def"
  // The arguments that are no options.
  char **paths;
  int path_count;
  int first_count; // number of paths before "--", or of all
};

// The functions of the commands return an exit status.
#define COMMAND(Name, Arguments, Text)                                         \
  int command_##Name(const struct options *options);
#define SUBCOMMAND(Command, Verb, Arguments, Text)                             \
  int command_##Command##_##Verb(const struct options *options);
#include "commands/options.def"

// Parses the arguments that follow the command's name; argv[0] is this name.
// Returns -1 if the command shall run, or else the exit status: help was
// printed, or a message about a wrong option.
int options_parse(struct options *options, int argc, char **argv);

// Returns the command with this name, or COMMAND_COUNT. If `verb` is one of the
// command's verbs, returns the command of the verb. verb may be NULL.
enum command_id command_find(const char *name, const char *verb);
// Returns whether the value of an option, or NULL, is this word.
bool option_is(const char *value, const char *word);
// Returns whether the value of an option is a number from least to most, which
// it stores. Prints no message.
bool option_is_number(const char *value, size_t least, size_t most,
                      size_t *number);
// Reads the value of the option --NAME, a number from least to most. Leaves
// *number as it is if the value is NULL. Returns false after a message if the
// value is no such number.
bool option_number(const struct options *options, const char *name,
                   const char *value, size_t least, size_t most,
                   size_t *number);
// Prints "mprof COMMAND: " and the text to stderr. Returns STATUS_ERROR.
__attribute__((format(printf, 2, 3))) int
complain(const struct options *options, const char *format, ...);

// Converts a time such as "15s", "15", "500ms" or "1m" to milliseconds. Returns
// 0 if the text is not a time between 100 ms and a day.
int64_t milliseconds_of(const char *text);

#endif
