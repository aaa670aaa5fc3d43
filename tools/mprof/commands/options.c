// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/options.h"

#include "commands/help.h"
#include "commands/nearest.h"
#include "commands/option_table.h"

#include "common/memory.h"
#include "common/option_mistake.h"
#include "terminal/style.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ON(Name) (1u << COMMAND_##Name)

const struct command_row command_rows[] = {
#define COMMAND(Name, Arguments, Text) {#Name, Arguments, Text},
#include "commands/options.def"
};

enum option_kind { KIND_FLAG, KIND_TEXT, KIND_LIST };

const struct option_row option_rows[] = {
#define FLAG(Field, Name, Letter, Commands, Text)                              \
  {KIND_FLAG, offsetof(struct options, Field), Name, Letter, NULL, Commands,   \
   Text},
#define TEXT(Field, Name, Letter, Argument, Commands, Text)                    \
  {                                                                            \
      KIND_TEXT, offsetof(struct options, Field),                              \
      Name,      Letter,                                                       \
      Argument,  Commands,                                                     \
      Text},
#define LIST(Field, Name, Letter, Argument, Commands, Text)                    \
  {                                                                            \
      KIND_LIST, offsetof(struct options, Field),                              \
      Name,      Letter,                                                       \
      Argument,  Commands,                                                     \
      Text},
#define MORE TEXT
#include "commands/options.def"
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;
enum {
  ROWS = sizeof option_rows / sizeof *option_rows,
  HELP = 1000,
  FIRST_ROW
};

bool option_is_of(const struct option_row *row, enum command_id command) {
  return row->commands & 1u << command;
}

enum command_id command_find(const char *name) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(command_rows[i].name, name) == 0)
      return i;
  return COMMAND_COUNT;
}

int complain(const struct options *options, const char *format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  fprintf(stderr, "mprof %s: ", command_rows[options->command].name);
  style_put(stderr, text);
  fputc('\n', stderr);
  return STATUS_ERROR;
}

// --- parsing ---

static void store(struct options *options, const struct option_row *row,
                  const char *argument) {
  void *field = (char *)options + row->offset;
  if (row->kind == KIND_FLAG) {
    *(bool *)field = true;
  } else if (row->kind == KIND_TEXT) {
    *(const char **)field = argument;
  } else {
    struct text_list *list = field;
    *APPEND(list->items, list->count, list->capacity) = argument;
  }
}

// Fills the tables of getopt_long with the options of the command.
static void fill(enum command_id command, struct option *longs, char *shorts) {
  size_t n = 0;
  // "+": the program's own options are not mprof's. "-": getopt_long returns 1
  // for an argument that is no option.
  *shorts++ = command == COMMAND_run ? '+' : '-';
  for (size_t i = 0; i < ROWS; i++) {
    const struct option_row *r = &option_rows[i];
    if (!option_is_of(r, command))
      continue;
    longs[n++] =
        (struct option){r->name, r->argument != NULL, NULL, FIRST_ROW + (int)i};
    if (r->letter) {
      *shorts++ = r->letter;
      if (r->argument)
        *shorts++ = ':';
    }
  }
  longs[n++] = (struct option){"help", 0, NULL, HELP};
  *shorts++ = 'h';
  longs[n] = (struct option){0};
  *shorts = '\0';
}

static const struct option_row *row_of(enum command_id command, int option) {
  if (option >= FIRST_ROW)
    return &option_rows[option - FIRST_ROW];
  for (size_t i = 0; i < ROWS; i++)
    if (option_is_of(&option_rows[i], command) &&
        option_rows[i].letter == option)
      return &option_rows[i];
  return NULL;
}

// Names the long option that the user probably meant, if getopt_long did not
// know the option.
static void suggest(const struct option *longs, const char *argument) {
  if (optopt != 0 || strncmp(argument, "--", 2) != 0)
    return;
  argument += 2;
  struct nearest n = nearest_begin(argument, strcspn(argument, "="));
  for (; longs->name; longs++)
    nearest_compare(&n, longs->name);
  if (n.name)
    fprintf(stderr, "Did you mean --%s?\n", n.name);
}

// Returns whether the option of this row, which has an argument, was
// abbreviated. The argument of --heap would be the name of the program.
static bool is_abbreviated(const struct option_row *row, char **argv) {
  const char *text =
      optarg == argv[optind - 1] ? argv[optind - 2] : argv[optind - 1];
  return strncmp(text, "--", 2) == 0 &&
         strcspn(text + 2, "=") != strlen(row->name);
}

int options_parse(struct options *options, int argc, char **argv) {
  struct option longs[ROWS + 2];
  char shorts[2 * ROWS + 5], name[64];
  fill(options->command, longs, shorts);
  snprintf(name, sizeof name, "mprof %s", command_rows[options->command].name);
  opterr = 0; // option_mistake prints the messages
  options->paths = zeroed((size_t)argc, sizeof *options->paths);
  for (int option;
       (option = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
    if (option == HELP || option == 'h') {
      help_command(stdout, options->command);
      return STATUS_OK;
    }
    if (option == 1) {
      options->paths[options->path_count++] = optarg;
      continue;
    }
    const struct option_row *row = row_of(options->command, option);
    if (row && row->argument && is_abbreviated(row, argv)) {
      fprintf(stderr, "%s: write the option --%s in full\n", name, row->name);
      return STATUS_ERROR;
    }
    if (!row) {
      option_mistake(name, argv, shorts, longs);
      suggest(longs, argv[optind - 1]);
      fprintf(stderr, "Try mprof help %s\n",
              command_rows[options->command].name);
      return STATUS_ERROR;
    }
    store(options, row, optarg);
  }
  if (options->colour && strcmp(options->colour, "always") != 0 &&
      strcmp(options->colour, "never") != 0 &&
      strcmp(options->colour, "auto") != 0)
    return complain(options, "--color=%s is not always, never or auto",
                    options->colour);
  options->first_count = options->path_count;
  while (optind < argc)
    options->paths[options->path_count++] = argv[optind++];
  if (options->path_count == 0 && !options->explain &&
      options->command != COMMAND_push) {
    complain(options, "%s is missing; mprof help %s shows how to use it",
             options->command == COMMAND_run          ? "PROGRAM"
             : options->command == COMMAND_completion ? "SHELL"
             : options->command == COMMAND_attach     ? "PID"
             : options->command == COMMAND_ctl        ? "PID or SOCKET"
                                                      : "FILE",
             command_rows[options->command].name);
    return STATUS_ERROR;
  }
  return -1;
}
