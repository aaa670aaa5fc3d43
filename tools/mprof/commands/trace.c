// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof trace: runs the verbs, which parse their own options.

#include "commands/trace.h"

#include "commands/help.h"
#include "commands/options.h"
#include "tools.h"

#include <string.h>
#include <unistd.h>

static const struct trace_command {
  const char *name;
  int (*run)(int argc, char **argv);
} commands[] = {
    {"top", trace_top}, {"json", trace_json}, {"check", trace_check}};
enum { COMMANDS = sizeof commands / sizeof *commands };

int trace_run(int argc, char **argv) {
  static char name[32];
  for (size_t i = 0; i < COMMANDS && argc > 1; i++)
    if (strcmp(commands[i].name, argv[1]) == 0) {
      snprintf(name, sizeof name, "mprof trace %s", commands[i].name);
      trace_tool_name = argv[1] = name;
      return commands[i].run(argc - 1, argv + 1);
    }
  const bool is_help = argc > 1 && (strcmp(argv[1], "--help") == 0 ||
                                    strcmp(argv[1], "-h") == 0);
  if (argc > 1 && !is_help) {
    if (access(argv[1], F_OK) == 0)
      trace_say("mprof trace: '%s' is no subcommand; mprof trace top %s shows "
                "the longest waits of the trace",
                argv[1], argv[1]);
    else
      trace_say("mprof trace: '%s' is no subcommand; these are top, json and "
                "check (see mprof trace --help)",
                argv[1]);
    return STATUS_ERROR;
  }
  help_command(is_help ? stdout : stderr, COMMAND_trace);
  return is_help ? STATUS_OK : STATUS_ERROR;
}

int command_trace(const struct options *options) {
  (void)options; // main calls trace_run, which parses the arguments itself
  return STATUS_ERROR;
}
