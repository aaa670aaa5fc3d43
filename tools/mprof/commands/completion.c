// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Completion of words in a shell. The scripts ask mprof itself for the words.
// Each is a line: the word, and perhaps a tab and a text that explains it. If
// there are none, the scripts complete names of files.

#include "commands/help.h"
#include "commands/option_table.h"
#include "options/flags_table.h"

#include <string.h>

static const struct {
  enum command_id command;
  int position;
  const char *after, *words;
} arguments[] = {
#define WORDS(Command, Position, After, Words)                                 \
  {COMMAND_##Command, Position, After, Words},
#include "commands/options.def"
};

// Prints the words, which blanks separate, each behind `before`.
static void print_words(const char *before, const char *words) {
  if (strncmp(words, "@options", 8) == 0) {
    for (size_t i = 0; i < MPROF_OPTION_COUNT; i++)
      printf("%s%s%s\n", before, mprof_options[i].name, words + 8);
    return;
  }
  for (size_t length; *words; words += length + (words[length] == ' ')) {
    length = strcspn(words, " ");
    printf("%s%.*s\n", before, (int)length, words);
  }
}

static void print_commands(void) {
  for (unsigned i = 0; i < COMMAND_COUNT; i++)
    if (!command_verb(i))
      printf("%s\t%s\n", command_rows[i].name, command_rows[i].text);
  puts("help\tShows how to use a command.");
}

static void print_options(enum command_id command) {
  for (size_t i = 0; i < option_row_count; i++) {
    const struct option_row *r = &option_rows[i];
    if (option_is_of(r, command))
      printf("--%s%s\t%s\n", r->name, r->argument ? "=" : "", r->text);
  }
  puts("--help\tprints this help");
}

// Returns the words for the value of an option such as "--format" or "-s", of
// which `length` characters count, or NULL.
static const char *values_of(enum command_id command, const char *option,
                             size_t length) {
  for (size_t i = 0; i < option_row_count; i++) {
    const struct option_row *r = &option_rows[i];
    const bool is_long = length > 2 && strncmp(option, "--", 2) == 0 &&
                         strlen(r->name) == length - 2 &&
                         memcmp(r->name, option + 2, length - 2) == 0;
    const bool is_short =
        length == 2 && option[0] == '-' && r->letter && option[1] == r->letter;
    const struct value_row *found = option_values(r, command);
    if (found && (is_long || is_short))
      return found->words;
  }
  return NULL;
}

// Prints the values of the option to which the last word belongs. Returns
// whether there are any. bash divides --format=md into three words.
static bool print_values(enum command_id command, int count,
                         char *const *words) {
  const char *last = words[count - 1], *equals = strchr(last, '=');
  const bool is_equals = strcmp(last, "=") == 0;
  const bool is_behind = count > 1 && strcmp(words[count - 2], "=") == 0;
  const int at = count - 2 - (!is_equals && is_behind);
  const char *option = *last == '-' && equals ? last : at >= 0 ? words[at] : "";
  const size_t length =
      option == last ? (size_t)(equals - last) : strlen(option);
  const char *found = values_of(command, option, length);
  if (!found || (option != last && *last == '-'))
    return false;
  char before[64] = "";
  if (option == last)
    snprintf(before, sizeof before, "%.*s", (int)length + 1, last);
  print_words(before, found);
  return true;
}

static void print_arguments(enum command_id command, int count,
                            char *const *words) {
  for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++)
    if (arguments[i].command == command && arguments[i].position + 1 == count &&
        (!*arguments[i].after || !strcmp(arguments[i].after, words[count - 2])))
      print_words("", arguments[i].words);
}

int completion_words(int count, char *const *words) {
  if (count < 2 || strcmp(words[0], "help") == 0) {
    if (count <= 2)
      print_commands();
    return STATUS_OK;
  }
  const enum command_id command =
      command_find(words[0], count > 2 ? words[1] : NULL);
  if (command == COMMAND_COUNT || print_values(command, count, words))
    return STATUS_OK;
  if (words[count - 1][0] == '-')
    print_options(command);
  else
    print_arguments(command, count, words);
  return STATUS_OK;
}

static const struct {
  const char *shell, *script;
} scripts[] = {
    {"bash", "_mprof() {\n"
             "  local IFS=$'\\n' word=${COMP_WORDS[COMP_CWORD]} words\n"
             "  words=$(\"${COMP_WORDS[0]}\" " COMPLETION_COMMAND
             " \"${COMP_WORDS[@]:1:COMP_CWORD}\" 2> /dev/null | cut -f 1)\n"
             "  [ \"$word\" = = ] && word=\n"
             "  COMPREPLY=($(if [ -n \"$words\" ]; then compgen -W \"$words\" "
             "-- \"$word\"\n"
             "    else compgen -f -- \"$word\"; fi))\n"
             "  [[ ${COMPREPLY-} == *= ]] && compopt -o nospace\n"
             "  return 0\n"
             "}\n"
             "complete -o filenames -F _mprof mprof\n"},
    {"zsh", "#compdef mprof\n"
            "_mprof() {\n"
            "  local -a lines=(\"${(@f)$($words[1] " COMPLETION_COMMAND
            " \"${(@)words[2,CURRENT]}\" 2> /dev/null)}\")\n"
            "  if [[ -z $lines ]]; then\n"
            "    _files\n"
            "    return\n"
            "  fi\n"
            "  lines=(\"${(@)lines//:/\\\\:}\")\n"
            "  lines=(\"${(@)lines/$'\\t'/:}\")\n"
            "  local -a open=(\"${(@M)lines:#*=(|:*)}\") "
            "closed=(\"${(@)lines:#*=(|:*)}\")\n"
            "  _describe word closed -- open -S ''\n"
            "}\n"
            "_mprof \"$@\"\n"},
    {"fish", "function __mprof_words\n"
             "  set -l words (commandline -opc) (commandline -ct)\n"
             "  set -l lines ($words[1] " COMPLETION_COMMAND
             " $words[2..] 2> /dev/null)\n"
             "  if count $lines > /dev/null\n"
             "    printf '%s\\n' $lines\n"
             "  else\n"
             "    __fish_complete_path $words[-1]\n"
             "  end\n"
             "end\n"
             "complete -c mprof -f -a '(__mprof_words)'\n"},
};

int command_completion(const struct options *options) {
  for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
    if (options->path_count == 1 &&
        strcmp(scripts[i].shell, options->paths[0]) == 0) {
      fputs(scripts[i].script, stdout);
      return STATUS_OK;
    }
  return complain(options, "name one shell: bash, zsh or fish");
}
