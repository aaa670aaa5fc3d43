// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mprof: runs the command that its first argument names.

#include "commands/arguments.h"
#include "commands/help.h"
#include "commands/nearest.h"
#include "commands/next_command.h"
#include "commands/option_table.h"
#include "commands/options.h"
#include "names/serve.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/base.h"
#include "terminal/pager.h"
#include "terminal/style.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int run(const struct options *options) {
  switch (options->command) {
#define COMMAND(Name, Arguments, Text)                                         \
  case COMMAND_##Name:                                                         \
    return command_##Name(options);
#define SUBCOMMAND(Command, Verb, Arguments, Text)                             \
  case COMMAND_##Command##_##Verb:                                             \
    return command_##Command##_##Verb(options);
#include "commands/options.def"
  default:
    return STATUS_ERROR;
  }
}

static int complain_of_command(const char *name) {
  struct nearest n = nearest_begin(name, strlen(name));
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (!command_verb(i))
      nearest_compare(&n, command_rows[i].name);
  fputs("mprof: there is no command ", stderr);
  style_put(stderr, name);
  fputs("; ", stderr);
  if (n.name)
    fprintf(stderr, "did you mean %s? ", n.name);
  fputs("mprof help lists the commands\n", stderr);
  return STATUS_ERROR;
}

// mprof help [--man] [COMMAND [VERB]]
static int help(int argc, char **argv) {
  const bool is_man = argc > 2 && strcmp(argv[2], "--man") == 0;
  const char *name = argc > 2 + is_man ? argv[2 + is_man] : NULL;
  const char *verb = name && !is_man ? argv[3] : NULL;
  const enum command_id command =
      name ? command_find(name, verb) : COMMAND_COUNT;
  if (name && command == COMMAND_COUNT)
    return complain_of_command(name);
  if (name)
    (is_man ? man_command : help_command)(stdout, command);
  else
    (is_man ? man_all : help_all)(stdout);
  return STATUS_OK;
}

static int dispatch(int argc, char **argv) {
  if (argc < 2) {
    help_all(stderr);
    return STATUS_ERROR;
  }
  if (strcmp(argv[1], "help") == 0 || strcmp(argv[1], "--help") == 0 ||
      strcmp(argv[1], "-h") == 0)
    return help(argc, argv);
  if (strcmp(argv[1], "--version") == 0) {
    puts("mprof " MPROF_VERSION);
    return STATUS_OK;
  }
  if (strcmp(argv[1], MPROF_SYMBOLIZER_COMMAND) == 0)
    return names_serve(argv[0], argc - 2, argv + 2);
  if (strcmp(argv[1], COMPLETION_COMMAND) == 0)
    return completion_words(argc - 2, argv + 2);
  struct options options = {.command = command_find(argv[1], argv[2])};
  if (options.command == COMMAND_COUNT)
    return complain_of_command(argv[1]);
  const int words = command_verb(options.command) ? 2 : 1;
  const int status = options_parse(&options, argc - words, argv + words);
  if (status >= 0)
    return status;
  if (!arguments_resolve(&options))
    return STATUS_ERROR;
  const bool is_terminal = isatty(STDOUT_FILENO);
  const int result = run(&options);
  if (is_terminal && result <= STATUS_FOUND)
    next_command_print(&options, stdout);
  pager_finish();
  return result;
}

int main(int argc, char **argv) {
  const int status = dispatch(argc, argv);
  const bool is_bad = ferror(stdout) != 0;
  const int error = fflush(stdout) == 0 ? 0 : errno;
  // A reader such as head has read enough.
  if ((error == 0 && !is_bad) || error == EPIPE)
    return status;
  fprintf(stderr, "mprof: standard output: %s\n",
          error ? strerror(error) : "cannot be written");
  return STATUS_ERROR;
}
