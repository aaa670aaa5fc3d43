// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Help, manual pages and completion, all from the table of options.def.

#ifndef MPROF_TOOL_HELP_H
#define MPROF_TOOL_HELP_H

#include "commands/options.h"

// Print the commands, or the options of one command.
void help_all(FILE *out);
void help_command(FILE *out, enum command_id command);
// Print the manual page mprof(1), or that of a command, in the man language.
void man_all(FILE *out);
void man_command(FILE *out, enum command_id command);
// The command that completion scripts run. It is not for use by hand.
#define COMPLETION_COMMAND "complete-words"
// Prints the words by which the last of the words behind "mprof" can be
// completed. Returns the exit status.
int completion_words(int count, char *const *words);

#endif
