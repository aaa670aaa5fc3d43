// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace without one of its verbs.

#include "commands/options.h"

#include <unistd.h>

int command_trace(const struct options *options) {
  const char *word = options->paths[0];
  if (access(word, F_OK) == 0)
    return complain(options,
                    "'%s' is no subcommand; mprof trace top %s shows the "
                    "longest waits of the trace",
                    word, word);
  return complain(options,
                  "'%s' is no subcommand; these are top, json and check (see "
                  "mprof trace --help)",
                  word);
}
