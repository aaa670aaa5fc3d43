// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completion scripts. Each script has the words of the table, so it needs no
// call of mprof.

#include "commands/help.h"
#include "commands/option_table.h"
#include "options/flags_table.h"

#include <string.h>

static const struct {
  const char *option;
  uint64_t commands;
  const char *words;
} values[] = {
#define ON(Name) (UINT64_C(1) << COMMAND_##Name)
#define VALUES(Name, Commands, Words) {Name, Commands, Words},
#include "commands/options.def"
};
enum { VALUES = sizeof values / sizeof *values };

static const struct {
  enum command_id command;
  unsigned position;
  const char *after, *words;
} arguments[] = {
#define WORDS(Command, Position, After, Words)                                 \
  {COMMAND_##Command, Position, After, Words},
#include "commands/options.def"
};
enum { ARGUMENTS = sizeof arguments / sizeof *arguments };

static void put_words(FILE *out, const char *words) {
  if (strncmp(words, "@options", 8) != 0) {
    fputs(words, out);
    return;
  }
  for (size_t i = 0; i < MPROF_OPTION_COUNT; i++)
    fprintf(out, "%s%s%s", i ? " " : "", mprof_options[i].name, words + 8);
}

// Returns the words for the value of an option of a command, or NULL.
static const char *values_of(const char *option, enum command_id command) {
  for (size_t i = 0; i < VALUES; i++)
    if (values[i].commands >> command & 1 &&
        strcmp(values[i].option, option) == 0)
      return values[i].words;
  return NULL;
}

static void put_commands(FILE *out) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (!command_verb(i))
      fprintf(out, "%s ", command_rows[i].name);
  fputs("help", out);
}

// Adds the verb, which is in a variable of the shell, to $command if the
// command has the verb.
static void put_verbs(FILE *out, const char *verb) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (command_verb(i))
      fprintf(out, "  [ \"$command %s\" = '%s' ] && command='%s'\n", verb,
              command_rows[i].name, command_rows[i].name);
}

static void put_options(FILE *out, enum command_id command) {
  for (size_t i = 0; i < option_row_count; i++)
    if (option_is_of(&option_rows[i], command))
      fprintf(out, "--%s%s ", option_rows[i].name,
              option_rows[i].argument ? "=" : "");
  fputs("--help", out);
}

// --- bash ---

static void bash_case(FILE *out, const char *words) {
  fputs(") words='", out);
  put_words(out, words);
  fputs("' ;;\n", out);
}

// The values of the option before the word. bash splits --format=md in three
// words.
static void bash_values(FILE *out) {
  fputs("  [ \"$word\" = = ] && word= option=$before\n"
        "  [ \"$before\" = = ] && option=${COMP_WORDS[COMP_CWORD-2]}\n"
        "  [[ $before == -* && $word != = ]] && option=$before\n"
        "  case \"$command $option\" in\n",
        out);
  for (unsigned c = 0; c < COMMAND_COUNT; c++)
    for (size_t i = 0; i < option_row_count; i++) {
      const struct option_row *r = &option_rows[i];
      const char *words = option_is_of(r, c) ? values_of(r->name, c) : NULL;
      if (!words)
        continue;
      fprintf(out, "  '%s --%s'", command_rows[c].name, r->name);
      if (r->letter)
        fprintf(out, " | '%s -%c'", command_rows[c].name, r->letter);
      bash_case(out, words);
    }
  fputs("  esac\n", out);
}

static void bash_arguments(FILE *out) {
  fputs("    case \"$command $COMP_CWORD $before\" in\n    'help 2 '*", out);
  fputs(") words='", out);
  put_commands(out);
  fputs("' ;;\n", out);
  for (size_t i = 0; i < ARGUMENTS; i++) {
    fprintf(out, "    '%s %u ", command_rows[arguments[i].command].name,
            arguments[i].position + 1);
    fputs(*arguments[i].after ? arguments[i].after : "'*", out);
    fputs(*arguments[i].after ? "'" : "", out);
    bash_case(out, arguments[i].words);
  }
  fputs("    esac\n", out);
}

static void print_bash(FILE *out) {
  fputs("_mprof() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} words= option=\n"
        "  local command=${COMP_WORDS[1]} before=${COMP_WORDS[COMP_CWORD-1]}\n",
        out);
  put_verbs(out, "${COMP_WORDS[2]}");
  bash_values(out);
  fputs("  if [ -n \"$words\" ]; then :\n"
        "  elif [ \"$COMP_CWORD\" = 1 ]; then\n    words='",
        out);
  put_commands(out);
  fputs("'\n  elif [[ $word == -* ]]; then\n    case $command in\n", out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    const char *quote = command_verb(i) ? "'" : "";
    fprintf(out, "    %s%s%s) words='", quote, command_rows[i].name, quote);
    put_options(out, i);
    fputs("' ;;\n", out);
  }
  fputs("    esac\n  else\n", out);
  bash_arguments(out);
  fputs("  fi\n  if [ -z \"$words\" ]; then\n"
        "    COMPREPLY=($(compgen -f -- \"$word\"))\n    return\n  fi\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "  [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n  return 0\n}\n"
        "complete -o filenames -F _mprof mprof\n",
        out);
}

// Prints text inside single quotes of zsh or fish. bad: characters that must be
// escaped by a backslash, for fish also the quote.
static void put_quoted(FILE *out, const char *text, const char *bad) {
  for (; *text; text++) {
    if (strchr(bad, *text))
      fputc('\\', out);
    else if (*text == '\'')
      fputs("'\\'", out); // ends the quotes, and begins them again
    fputc(*text, out);
  }
}

static void zsh_option(FILE *out, const char *name, const char *argument,
                       const char *text, const char *words) {
  fprintf(out, " '--%s%s[", name, argument ? "=" : "");
  put_quoted(out, text, "[]:");
  fprintf(out, "]%s%s", argument ? ":" : "", argument ? argument : "");
  if (words) {
    fputs(":(", out);
    put_words(out, words);
    fputc(')', out);
  }
  fputc('\'', out);
}

// The words of zsh begin with the command, so its arguments begin at 2.
static void zsh_arguments(FILE *out, enum command_id command) {
  bool has_any = false;
  for (size_t i = 0; i < ARGUMENTS; i++) {
    if (arguments[i].command != command || *arguments[i].after)
      continue;
    fprintf(out, "%s", has_any ? "" : " '1:command: '");
    if (arguments[i].position == 2)
      fputs(" '2:process:_files'", out);
    fprintf(out, " '%u:word:(", arguments[i].position + 1);
    put_words(out, arguments[i].words);
    fputs(")'", out);
    has_any = true;
  }
}

static void print_zsh(FILE *out) {
  fputs("#compdef mprof\n_mprof() {\n  if (( CURRENT == 2 )); then\n"
        "    local -a commands=(\n",
        out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    if (command_verb(i))
      continue;
    fprintf(out, "      '%s:", command_rows[i].name);
    put_quoted(out, command_rows[i].text, ":");
    fputs("'\n", out);
  }
  fputs("    )\n    _describe command commands\n    return\n  fi\n"
        "  local command=$words[2]\n",
        out);
  put_verbs(out, "$words[3]");
  fputs("  case $command in\n", out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "  '%s') _arguments", command_rows[i].name);
    for (size_t k = 0; k < option_row_count; k++) {
      const struct option_row *r = &option_rows[k];
      if (option_is_of(r, i))
        zsh_option(out, r->name, r->argument, r->text, values_of(r->name, i));
    }
    zsh_arguments(out, i);
    fputs(" '*:file:_files' ;;\n", out);
  }
  fputs("  help) _arguments '1:command: ' '2:command:(", out);
  put_commands(out);
  fputs(")' ;;\n", out);
  fputs("  esac\n}\n_mprof \"$@\"\n", out);
}

static void fish_words(FILE *out, const char *words) {
  if (words) {
    fputs(" -f -a '", out);
    put_words(out, words);
    fputc('\'', out);
  }
  fputc('\n', out);
}

// Begins the completion of words behind the command.
static void fish_begin(FILE *out, enum command_id command) {
  const char *name = command_rows[command].name, *verb = command_verb(command);
  fprintf(out, "complete -c mprof -n '__fish_seen_subcommand_from %.*s",
          (int)strcspn(name, " "), name);
  if (verb)
    fprintf(out, "; and __fish_seen_subcommand_from %s", verb);
}

static void fish_arguments(FILE *out, enum command_id command) {
  for (size_t i = 0; i < ARGUMENTS; i++) {
    if (arguments[i].command != command)
      continue;
    fish_begin(out, command);
    if (*arguments[i].after)
      fprintf(out, "; and __fish_seen_subcommand_from %s", arguments[i].after);
    fputc('\'', out);
    fish_words(out, arguments[i].words);
  }
}

static void print_fish(FILE *out) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    if (!command_verb(i)) {
      fprintf(out, "complete -c mprof -n __fish_use_subcommand -f -a %s -d '",
              command_rows[i].name);
      put_quoted(out, command_rows[i].text, "\\'");
      fputs("'\n", out);
    }
    for (size_t k = 0; k < option_row_count; k++) {
      const struct option_row *r = &option_rows[k];
      if (!option_is_of(r, i))
        continue;
      fish_begin(out, i);
      fprintf(out, "' -l %s%s -d '", r->name, r->argument ? " -r" : "");
      put_quoted(out, r->text, "\\'");
      fputc('\'', out);
      fish_words(out, values_of(r->name, i));
    }
    fish_arguments(out, i);
  }
  fputs("complete -c mprof -n '__fish_seen_subcommand_from help'", out);
  fputs(" -f -a '", out);
  put_commands(out);
  fputs("'\n", out);
}

bool completion_print(FILE *out, const char *shell) {
  if (strcmp(shell, "bash") == 0)
    print_bash(out);
  else if (strcmp(shell, "zsh") == 0)
    print_zsh(out);
  else if (strcmp(shell, "fish") == 0)
    print_fish(out);
  else
    return false;
  return true;
}

int command_completion(const struct options *options) {
  if (options->path_count == 1 && completion_print(stdout, options->paths[0]))
    return STATUS_OK;
  return complain(options, "name one shell: bash, zsh or fish");
}
