// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/options.h"

#include "commands/help.h"
#include "commands/nearest.h"
#include "commands/option_table.h"

#include "common/memory.h"
#include "common/printable.h"
#include "terminal/style.h"

#include <getopt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ON(Name) (UINT64_C(1) << COMMAND_##Name)

const struct command_row command_rows[] = {
#define COMMAND(Name, Arguments, Text) {#Name, Arguments, Text},
#define SUBCOMMAND(Command, Verb, Arguments, Text)                             \
  {#Command " " #Verb, Arguments, Text},
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
#define MORE_FLAG FLAG
#include "commands/options.def"
};
const size_t option_row_count = sizeof option_rows / sizeof *option_rows;
enum {
  ROWS = sizeof option_rows / sizeof *option_rows,
  HELP = 1000,
  FIRST_ROW
};

bool option_is_of(const struct option_row *row, enum command_id command) {
  return row->commands >> command & 1;
}

static const struct value_row values[] = {
#define VALUES(Name, Commands, Words) {Name, Commands, Words, true},
#define HINTS(Name, Commands, Words) {Name, Commands, Words, false},
#include "commands/options.def"
};

const struct value_row *option_values(const struct option_row *row,
                                      enum command_id command) {
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    if (values[i].commands & row->commands & UINT64_C(1) << command &&
        strcmp(values[i].option, row->name) == 0)
      return &values[i];
  return NULL;
}

const char *command_verb(enum command_id command) {
  const char *blank = strchr(command_rows[command].name, ' ');
  return blank ? blank + 1 : NULL;
}

bool command_is_of(enum command_id verb, enum command_id command) {
  const char *name = command_rows[command].name;
  const size_t length = strlen(name);
  return strncmp(command_rows[verb].name, name, length) == 0 &&
         command_rows[verb].name[length] == ' ';
}

bool command_shows_any_kind(enum command_id command) {
  switch (command) {
  case COMMAND_top:
  case COMMAND_traces:
  case COMMAND_tree:
  case COMMAND_list:
  case COMMAND_labels:
  case COMMAND_info:
  case COMMAND_diff:
  case COMMAND_merge:
  case COMMAND_convert:
    return true;
  default:
    return false;
  }
}

enum command_id command_find(const char *name, const char *verb) {
  enum command_id found = COMMAND_COUNT;
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (strcmp(command_rows[i].name, name) == 0 ||
        (verb && found != COMMAND_COUNT && command_is_of(i, found) &&
         strcmp(command_verb(i), verb) == 0))
      found = i;
  return found;
}

bool option_is(const char *value, const char *word) {
  return value && strcmp(value, word) == 0;
}

bool option_is_number(const char *value, size_t least, size_t most,
                      size_t *number) {
  char *end;
  *number = strtoul(value, &end, 10);
  return *value >= '0' && *value <= '9' && !*end && *number >= least &&
         *number <= most;
}

bool option_number(const struct options *options, const char *name,
                   const char *value, size_t least, size_t most,
                   size_t *number) {
  if (!value || option_is_number(value, least, most, number))
    return true;
  if (most == SIZE_MAX)
    complain(options, "--%s=%s is not a number", name, value);
  else
    complain(options, "--%s=%s is not a number from %zu to %zu", name, value,
             least, most);
  return false;
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

static bool is_letter(const char *shorts, int letter) {
  return letter != ':' && strchr(shorts + strspn(shorts, "+-"), letter);
}

// Returns the option of which optopt is the value, or NULL. getopt_long sets
// optopt to 0 if it does not know a long option.
static const struct option *known(const struct option *longs) {
  for (; longs->name && optopt != 0; longs++)
    if (longs->val == optopt)
      return longs;
  return NULL;
}

// Prints a long option that is unknown, or that is the begin of several names.
static void print_unknown(const char *argument, const struct option *longs) {
  const size_t length = strcspn(argument, "=");
  unsigned count = 0;
  for (const struct option *o = longs; o->name; o++)
    count += strncmp(o->name, argument + 2, length - 2) == 0;
  fputs(count > 1 ? "option '" : "unrecognized option '", stderr);
  style_put(stderr, argument);
  fputs(count > 1 ? "' is ambiguous; possibilities:" : "'", stderr);
  for (; longs->name && count > 1; longs++)
    if (strncmp(longs->name, argument + 2, length - 2) == 0)
      fprintf(stderr, " '--%s'", longs->name);
}

// Prints the message of getopt_long about the option at which it has returned
// '?'. getopt_long itself would print bytes of the option that change the state
// of a terminal.
static void print_mistake(const char *argument, const char *shorts,
                          const struct option *longs) {
  const char letter = (char)optopt;
  const struct option *option = known(longs);
  if (optopt == 0) {
    print_unknown(argument, longs);
  } else if (option) {
    fprintf(stderr, "option '--%s' %s an argument", option->name,
            option->has_arg ? "requires" : "doesn't allow");
  } else {
    fputs(is_letter(shorts, optopt) ? "option requires an argument -- '"
                                    : "invalid option -- '",
          stderr);
    printable_put(stderr, &letter, 1);
    fputc('\'', stderr);
  }
  fputc('\n', stderr);
}

// Names a command that has the long option, if there is one. Returns whether
// there is.
static bool name_command_of(const char *option, size_t length) {
  for (size_t i = 0; i < ROWS; i++) {
    const struct option_row *r = &option_rows[i];
    if (strlen(r->name) != length || strncmp(r->name, option, length) != 0)
      continue;
    for (unsigned c = 0; c < COMMAND_COUNT; c++)
      if (option_is_of(r, c)) {
        fprintf(stderr, "mprof %s has the option --%s\n", command_rows[c].name,
                r->name);
        return true;
      }
  }
  return false;
}

// Names the long option that the user probably meant, if getopt_long did not
// know the option, or the command that has it.
static void suggest(const struct option *longs, const char *argument) {
  if (optopt != 0 || strncmp(argument, "--", 2) != 0)
    return;
  argument += 2;
  if (name_command_of(argument, strcspn(argument, "=")))
    return;
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

// Returns whether the value is one of the words. If not, prints a message.
static bool is_one_of(const struct options *options, const char *name,
                      const char *value, const char *words) {
  char *copy = text_of("%s", words), text[128] = ""; // "a, b or c"
  bool is_right = false;
  for (char *rest = copy, *word; (word = strsep(&rest, " "));) {
    const size_t length = strlen(text);
    is_right |= strcmp(word, value) == 0;
    snprintf(text + length, sizeof text - length, "%s%s",
             !length ? ""
             : rest  ? ", "
                     : " or ",
             word);
  }
  if (!is_right)
    complain(options, "--%s=%s is not %s", name, value, text);
  free(copy);
  return is_right;
}

static bool has_right_values(const struct options *options) {
  for (size_t i = 0; i < ROWS; i++) {
    const struct option_row *r = &option_rows[i];
    const struct value_row *v = option_values(r, options->command);
    if (!v || !v->is_complete)
      continue;
    const char *value =
        *(const char *const *)((const char *)options + r->offset);
    if (value && !is_one_of(options, r->name, value, v->words))
      return false;
  }
  return true;
}

int options_parse(struct options *options, int argc, char **argv) {
  struct option longs[ROWS + 2];
  char shorts[2 * ROWS + 5], name[64];
  fill(options->command, longs, shorts);
  snprintf(name, sizeof name, "mprof %s", command_rows[options->command].name);
  opterr = 0; // print_mistake prints the messages
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
      fprintf(stderr, "%s: ", name);
      print_mistake(argv[optind - 1], shorts, longs);
      suggest(longs, argv[optind - 1]);
      fprintf(stderr, "Try mprof help %s\n",
              command_rows[options->command].name);
      return STATUS_ERROR;
    }
    store(options, row, optarg);
  }
  if (!has_right_values(options))
    return STATUS_ERROR;
  options->first_count = options->path_count;
  while (optind < argc)
    options->paths[options->path_count++] = argv[optind++];
  if (options->path_count == 0 && !options->explain && !options->rules &&
      options->command != COMMAND_push) {
    complain(options, "%s is missing; mprof help %s shows how to use it",
             options->command == COMMAND_run          ? "PROGRAM"
             : options->command == COMMAND_completion ? "SHELL"
             : options->command == COMMAND_attach     ? "PID"
             : options->command == COMMAND_ctl        ? "PID or SOCKET"
             : options->command == COMMAND_trace      ? "top, json or check"
             : options->command == COMMAND_live       ? "PID, SOCKET or URL"
             : options->command == COMMAND_serve      ? "PID, URL or FILE"
                                                      : "FILE",
             command_rows[options->command].name);
    return STATUS_ERROR;
  }
  return -1;
}

int64_t milliseconds_of(const char *text) {
  static const struct {
    const char *unit;
    int64_t ms;
  } units[] = {
      {"ms", 1}, {"s", 1000}, {"", 1000}, {"m", 60000}, {"h", 3600000}};
  char *end;
  const long n = strtol(text, &end, 10);
  for (size_t i = 0; end != text && i < sizeof units / sizeof *units; i++)
    if (strcmp(end, units[i].unit) == 0 && n > 0 && n <= 86400000) {
      const int64_t ms = n * units[i].ms;
      return ms >= 100 && ms <= 86400000 ? ms : 0;
    }
  return 0;
}
