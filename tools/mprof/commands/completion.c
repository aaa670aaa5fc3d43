// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completion scripts. Each script has the words of the table, so it needs no
// call of mprof.

#include "commands/help.h"
#include "commands/option_table.h"

#include <string.h>

static void put_commands(FILE *out) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    fprintf(out, "%s%s", i ? " " : "", command_rows[i].name);
  fputs(" help", out);
}

static void put_options(FILE *out, enum command_id command) {
  for (size_t i = 0; i < option_row_count; i++)
    if (option_is_of(&option_rows[i], command))
      fprintf(out, "--%s%s ", option_rows[i].name,
              option_rows[i].argument ? "=" : "");
  fputs("--help", out);
}

static void print_bash(FILE *out) {
  fputs("_mprof() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
        "  if [ \"$COMP_CWORD\" = 1 ]; then\n    words='",
        out);
  put_commands(out);
  fputs("'\n  elif [[ $word == -* ]]; then\n    case ${COMP_WORDS[1]} in\n",
        out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "    %s) words='", command_rows[i].name);
    put_options(out, i);
    fputs("' ;;\n", out);
  }
  fputs("    esac\n  else\n    COMPREPLY=($(compgen -f -- \"$word\"))\n"
        "    return\n  fi\n"
        "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
        "  [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n  return 0\n}\n"
        "complete -o filenames -F _mprof mprof\n",
        out);
}

// Prints text inside single quotes of zsh or fish. bad: characters that must be
// escaped by a backslash.
static void put_quoted(FILE *out, const char *text, const char *bad) {
  for (; *text; text++) {
    if (strchr(bad, *text))
      fputc('\\', out);
    fputc(*text == '\'' ? '"' : *text, out);
  }
}

static void print_zsh(FILE *out) {
  fputs("#compdef mprof\n_mprof() {\n  if (( CURRENT == 2 )); then\n"
        "    local -a commands=(\n",
        out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "      '%s:", command_rows[i].name);
    put_quoted(out, command_rows[i].text, ":");
    fputs("'\n", out);
  }
  fputs("    )\n    _describe command commands\n    return\n  fi\n"
        "  case $words[2] in\n",
        out);
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "  %s) _arguments", command_rows[i].name);
    for (size_t k = 0; k < option_row_count; k++) {
      const struct option_row *r = &option_rows[k];
      if (!option_is_of(r, i))
        continue;
      fprintf(out, " '--%s%s[", r->name, r->argument ? "=" : "");
      put_quoted(out, r->text, "[]:");
      fprintf(out, "]%s%s'", r->argument ? ":" : "",
              r->argument ? r->argument : "");
    }
    fputs(" '*:file:_files' ;;\n", out);
  }
  fputs("  esac\n}\n_mprof \"$@\"\n", out);
}

static void print_fish(FILE *out) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++) {
    fprintf(out, "complete -c mprof -n __fish_use_subcommand -f -a %s -d '",
            command_rows[i].name);
    put_quoted(out, command_rows[i].text, "\\");
    fputs("'\n", out);
    for (size_t k = 0; k < option_row_count; k++) {
      const struct option_row *r = &option_rows[k];
      if (!option_is_of(r, i))
        continue;
      fprintf(out,
              "complete -c mprof -n '__fish_seen_subcommand_from %s' -l %s%s "
              "-d '",
              command_rows[i].name, r->name, r->argument ? " -r" : "");
      put_quoted(out, r->text, "\\");
      fputs("'\n", out);
    }
  }
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
