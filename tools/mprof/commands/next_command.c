// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "commands/next_command.h"

#include "common/printable.h"
#include "files/shown_path.h"
#include "live/live_client.h"
#include "terminal/style.h"

#include <string.h>

// Prints a word of a command. A word that has other characters than these is
// quoted, so that a shell runs the command.
static void put_word(FILE *out, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+@%,:=";
  if (!word[strspn(word, plain)]) {
    fputs(word, out);
    return;
  }
  fputc('\'', out);
  while (*word) {
    const size_t shown = printable_length(word);
    if (shown == 0)
      fputs("'?'", out); // a shell finds the file by this pattern
    else if (*word == '\'')
      fputs("'\\''", out);
    else
      fwrite(word, 1, shown, out);
    word += shown ? shown : printable_skip(word);
  }
  fputc('\'', out);
}

void next_command_put(FILE *out, const char *command, const char *path) {
  fputs("mprof ", out);
  style_put(out, command);
  fputc(' ', out);
  put_word(out, path);
}

// What follows a command. is_live: whether its argument is a program, not a
// file.
static const struct step {
  enum command_id after;
  bool is_live;
  const char *command, *what;
} steps[] = {
    {COMMAND_top, false, "traces", "the stacks of these functions"},
    {COMMAND_top, true, "traces", "the stacks of these functions"},
    {COMMAND_traces, false, "html -o report.html", "a page for the browser"},
    {COMMAND_traces, true, "html -o report.html", "a page for the browser"},
    {COMMAND_tree, false, "html -o report.html", "a page for the browser"},
    {COMMAND_list, false, "html -o report.html", "a page for the browser"},
    {COMMAND_labels, false, "traces", "the stacks with their labels"},
    {COMMAND_labels, true, "traces", "the stacks with their labels"},
    {COMMAND_threads, false, "html -o report.html", "a page for the browser"},
    {COMMAND_threads, true, "stuck", "threads that can never continue"},
    {COMMAND_stuck, true, "threads", "what the other threads do"},
    {COMMAND_memory, false, "html -o report.html", "a page for the browser"},
    {COMMAND_memory, true, "attach --seconds=10", "what allocates it"},
    {COMMAND_info, false, "top", "the functions with the largest values"},
    {COMMAND_leaks, false, "html -o report.html", "a page for the browser"},
};

void next_command_print(const struct options *o, FILE *out) {
  const char *path = o->path_count == 1 ? shown_path(o->paths[0]) : NULL;
  if (!path || strcmp(path, "-") == 0 ||
      (o->format && strcmp(o->format, "text") != 0))
    return;
  const bool is_live = live_is_target(path);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    const struct step *s = &steps[i];
    if (s->after != o->command || s->is_live != is_live)
      continue;
    fprintf(out, "next: mprof %s ", s->command);
    if (o->sample && (strcmp(s->command, "traces") == 0 ||
                      strncmp(s->command, "html", 4) == 0)) {
      fputs("--sample=", out);
      put_word(out, o->sample);
      fputc(' ', out);
    }
    put_word(out, path);
    fprintf(out, "  # %s\n", s->what);
    return;
  }
}
