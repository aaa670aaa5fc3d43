// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/help.h"

#include "commands/option_table.h"

#include <string.h>

void help_all(FILE *out) {
  fputs("Usage: mprof COMMAND [OPTION]... [FILE]...\n"
        "Shows the profiles that MProf writes.\n",
        out);
#define GROUP(Text) fputs("\n" Text "\n", out);
#define COMMAND(Name, Arguments, Text)                                         \
  fprintf(out, "  %-10s %s\n", #Name, Text);
#include "commands/options.def"
  fputs("\nmprof help COMMAND shows the options of a command, and mprof "
        "--version the version.\n",
        out);
}

static const struct {
  enum command_id command;
  const char *line, *text;
} examples[] = {
#define EXAMPLE(Command, Line, Text) {COMMAND_##Command, Line, Text},
#include "commands/options.def"
};

static void print_usage(FILE *out, const struct command_row *c) {
  fprintf(out, "mprof %s %s%s\n", c->name,
          strstr(c->arguments, "[OPTION]") ? "" : "[OPTION]... ", c->arguments);
}

// The exit statuses, with the command that has them, or COMMAND_COUNT for all.
static const struct {
  enum command_id command;
  const char *status, *text;
} statuses[] = {
    {COMMAND_COUNT, "0", "success"},
    {COMMAND_check, "1", "a file is not a valid profile"},
    {COMMAND_doctor, "1",
     "there are problems, such as mistakes in MPROF_OPTIONS or --options"},
    {COMMAND_leaks, "1", "there are leaks (--exitcode chooses another status)"},
    {COMMAND_trace, "1", "the trace is invalid; its readable part is shown"},
    {COMMAND_trace_top, "1",
     "the trace is invalid, and the output covers only its readable part"},
    {COMMAND_trace_json, "1",
     "the trace is invalid, and the JSON has only its readable part; or the "
     "trace has nothing to show between --from and --to"},
    {COMMAND_trace_check, "1", "a trace is invalid"},
    {COMMAND_COUNT, "2", "a file cannot be read, or an option is wrong"},
    {COMMAND_diff, "3", "a budget is broken"},
    {COMMAND_run, "126", "the program cannot be run"},
    {COMMAND_run, "127", "the program is not found"},
    {COMMAND_run, "other", "the program's own exit status"},
};

static void print_options(FILE *out, enum command_id command) {
  for (size_t i = 0; i < option_row_count; i++) {
    const struct option_row *r = &option_rows[i];
    if (!option_is_of(r, command))
      continue;
    char left[64];
    snprintf(left, sizeof left, "  %c%c --%s%s%s", r->letter ? '-' : ' ',
             r->letter ? r->letter : ' ', r->name, r->argument ? "=" : "",
             r->argument ? r->argument : "");
    fprintf(out, "%-26s %s\n", left, r->text);
  }
}

void help_command(FILE *out, enum command_id command) {
  const struct command_row *c = &command_rows[command];
  fputs("Usage: ", out);
  print_usage(out, c);
  fprintf(out, "%s\n", c->text);
  if (command == COMMAND_leaks)
    fputs("Blocks that the program can still reach count as leaks, too.\n",
          out);
  if (strstr(c->arguments, "PROFILE...") && command != COMMAND_check)
    fputs("Several profiles of one kind are added up.\n", out);
  if (strstr(c->arguments, "PROFILE..."))
    fprintf(
        out,
        "\nPROFILE is a file (\"-\": standard input), a directory, or a "
        "running program: a\nprocess id, a socket, ADDRESS:PORT or a URL. %s",
        command == COMMAND_html
            ? "A directory stands for all files\nin it that a page can "
              "show, and a program for all its profiles, if --sample names"
              "\nno others.\n"
        : command_shows_any_kind(command)
            ? "A directory stands for the profiles\nin it that the options "
              "need, or else for those of the heap, if it has samples.\n"
            : "A directory stands for the profiles\nin it that the command "
              "shows.\n");
  fputc('\n', out);
  print_options(out, command);
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (command_is_of(i, command)) {
      fprintf(out, "mprof %s:\n", command_rows[i].name);
      print_options(out, i);
      fputc('\n', out);
    }
  fprintf(out, "%-26s %s\n", "  -h --help", "prints this help");
  const char *title = "\nExamples:\n";
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    if (examples[i].command == command) {
      fprintf(out, "%s  %s\n      %s\n", title, examples[i].line,
              examples[i].text);
      title = "";
    }
  fputs("\nExit status:\n", out);
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++)
    if (statuses[i].command == command || statuses[i].command == COMMAND_COUNT)
      fprintf(out, "  %-6s %s\n", statuses[i].status, statuses[i].text);
}

// --- manual pages ---

// Prints text for a manual page, in which "\\", "-" and a leading "." have
// meanings.
static void put_roff(FILE *out, const char *text) {
  if (*text == '.' || *text == '\'')
    fputs("\\&", out);
  for (; *text; text++) {
    if (*text == '\\' || *text == '-')
      fputc('\\', out);
    fputs(*text == '\\' ? "e" : (const char[]){*text, 0}, out);
  }
}

static void man_head(FILE *out, const char *name, const char *text) {
  fprintf(out,
          ".TH %s 1 \"\" \"mprof " MPROF_VERSION "\" \"MProf\"\n.SH NAME\n",
          name);
  put_roff(out, name);
  fputs(" \\- ", out);
  put_roff(out, text);
  fputs("\n.SH SYNOPSIS\n", out);
}

// Prints the exit statuses of the command, or with COMMAND_COUNT those of all.
static void man_statuses(FILE *out, enum command_id command) {
  fputs(".SH EXIT STATUS\n", out);
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    const enum command_id of = statuses[i].command;
    if (of != COMMAND_COUNT &&
        (command == COMMAND_COUNT ? command_verb(of) != NULL : of != command))
      continue;
    fprintf(out, ".TP\n.B %s\n", statuses[i].status);
    if (command == COMMAND_COUNT && of != COMMAND_COUNT)
      fprintf(out, "%s: ", command_rows[of].name);
    put_roff(out, statuses[i].text);
    fputc('\n', out);
  }
}

static void man_example(FILE *out, size_t i) {
  fputs(".TP\n.B ", out);
  put_roff(out, examples[i].line);
  fputc('\n', out);
  put_roff(out, examples[i].text);
  fputc('\n', out);
}

void man_all(FILE *out) {
  man_head(out, "mprof", "show the profiles that MProf writes");
  fputs(".B mprof\n.I COMMAND\n[\\fIOPTION\\fR]... [\\fIFILE\\fR]...\n"
        ".SH DESCRIPTION\n"
        "MProf profiles C and C++ programs: the memory that they allocate, "
        "the locks for which their threads wait, and what each thread does. "
        "The command \\fBmprof\\fR runs programs, shows, compares and converts "
        "the profiles that they write, and asks running programs for "
        "profiles.\n"
        ".PP\n"
        "A program writes profiles if it was compiled with\n"
        ".BR mprof\\-clang (1),\n"
        "or if \\fBmprof run\\fR starts it. The option \\fB\\-\\-help\\fR of a "
        "command, and \\fBmprof help\\fR \\fICOMMAND\\fR, print its options.\n"
        ".SH COMMANDS\n",
        out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    if (command_verb(i))
      continue;
    fprintf(out, ".TP\n.BR mprof\\-%s (1)\n", command_rows[i].name);
    put_roff(out, command_rows[i].text);
    fputc('\n', out);
  }
  man_statuses(out, COMMAND_COUNT);
  fputs(".SH ENVIRONMENT\n.TP\n.B MPROF_PAGER, PAGER\nthe program that shows "
        "long output page by page\n.TP\n.B NO_COLOR\nif set, the output has "
        "no colours\n.SH EXAMPLES\n",
        out);
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    if (i == 0 || examples[i].command != examples[i - 1].command)
      man_example(out, i);
  fputs(".SH SEE ALSO\n", out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (!command_verb(i))
      fprintf(out, ".BR mprof\\-%s (1),\n", command_rows[i].name);
  fputs(".BR mprof\\-clang (1),\n.BR mprof.h (3),\n.BR mprof\\-formats (5),\n"
        ".BR mprof\\-options (7)\n",
        out);
}

static void man_option(FILE *out, const struct option_row *r) {
  fputs(".TP\n", out);
  if (r->letter)
    fprintf(out, "\\fB\\-%c\\fR, ", r->letter);
  fputs("\\fB\\-\\-", out);
  put_roff(out, r->name);
  fputs("\\fR", out);
  if (r->argument) {
    fputs("=\\fI", out);
    put_roff(out, r->argument);
    fputs("\\fR", out);
  }
  fputc('\n', out);
  put_roff(out, r->text);
  fputc('\n', out);
}

static void man_options(FILE *out, enum command_id command) {
  for (size_t i = 0; i < option_row_count; i++)
    if (option_is_of(&option_rows[i], command))
      man_option(out, &option_rows[i]);
}

void man_command(FILE *out, enum command_id command) {
  const struct command_row *c = &command_rows[command];
  char name[64];
  snprintf(name, sizeof name, "mprof-%s", c->name);
  man_head(out, name, c->text);
  fprintf(out, ".B mprof %s\n", c->name);
  put_roff(out, strstr(c->arguments, "[OPTION]") ? "" : "[OPTION]... ");
  put_roff(out, c->arguments);
  fputs("\n.SH OPTIONS\n", out);
  man_options(out, command);
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (command_is_of(i, command)) {
      fprintf(out, ".SS mprof %s\n", command_rows[i].name);
      man_options(out, i);
    }
  const char *title = ".SH EXAMPLES\n";
  for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
    if (examples[i].command == command) {
      fputs(title, out);
      man_example(out, i);
      title = "";
    }
  man_statuses(out, command);
  fputs(".SH SEE ALSO\n.BR mprof (1)\n", out);
}
