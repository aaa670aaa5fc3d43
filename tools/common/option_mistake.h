// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The message for an option that getopt_long does not accept. The messages of
// getopt_long itself would send the bytes of the argument to the terminal.

#ifndef MPROF_TOOLS_OPTION_MISTAKE_H
#define MPROF_TOOLS_OPTION_MISTAKE_H

#include <getopt.h>

// Prints to standard error why getopt_long has returned '?'. Call with the
// tables that getopt_long has used, and set opterr to 0 before getopt_long.
// name: of the command, for the begin of the message.
void option_mistake(const char *name, char **argv, const char *shorts,
                    const struct option *longs);

#endif
