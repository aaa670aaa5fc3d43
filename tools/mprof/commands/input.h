// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The beginning and the end of every command that shows profiles: it reads the
// files, and says at the end what is missing.

#ifndef MPROF_TOOL_INPUT_H
#define MPROF_TOOL_INPUT_H

#include "commands/options.h"
#include "terminal/style.h"

// Reads the files into one profile. On failure, prints a message and returns
// NULL.
struct profile *input_read(const struct options *options, char *const *files,
                           int count);

// Returns the options of the view, from the options of the command.
struct view_options input_view_options(const struct options *options);

// Reads all files of the command and makes a view. On failure, prints a message
// and returns NULL.
struct view *input_view(const struct options *options);

// Makes a view. If the options choose no value type and all values of the
// profile's own one are 0, as in programs that have freed all memory, makes a
// view of another type (input_other_type), which its title says. On failure,
// returns NULL and writes a message of one line to error.
struct view *input_view_or_other(struct profile *p, struct view_options wanted,
                                 char *error, size_t size);
// Does the same as input_view, with such a view in the formats for people.
struct view *input_view_of_values(const struct options *options);

// Returns the text behind "NAME: " if a comment of the profile begins so, or
// NULL.
const char *input_comment(const struct profile *p, const char *name);
// Searches only the comments with the index `first` and above.
const char *input_comment_from(const struct profile *p, const char *name,
                               size_t first);

// Returns the kind of the profile: "heap", "block", "mutex", or the name of its
// values. path: its file's, which tells the kind of profiles of other tools.
const char *input_kind(const struct profile *p, const char *path);

// Sets *count to the value of --count, or to 20. 0 means all. Returns whether
// the value is a number.
bool input_count(const struct options *options, size_t *count);

// Finds the style of the output, and starts the pager. Call it when nothing can
// fail any more, because messages would disturb the pager.
struct style input_begin_output(const struct options *options);

// Returns the name of a value type with the unit of the view of which the
// profile has values, if the view has none. Else returns NULL.
const char *input_other_type(const struct view *v);

// Returns the name of another value type with the unit of the view that has
// values with the label `key`, or NULL. If key is NULL, any label but the sizes
// of blocks counts.
const char *input_labelled_type(const struct view *v, const char *key);

// Prints the first line of a view: program, time, and the shown values.
void input_print_title(const struct view *v, FILE *out,
                       const struct style *style);
// Prints the last lines of a view: the sum, and what was lost or truncated.
// shown, all: number of rows. what: name of the rows, such as "functions". how:
// what shows all rows, such as "-n 0".
void input_print_end(const struct view *v, FILE *out, const struct style *style,
                     size_t shown, size_t all, const char *what,
                     const char *how);
// Prints one line for each kind of data that the profile lacks. Returns whether
// there is any. Leaves out the losses of the process that concern only profiles
// of other kinds.
bool input_print_losses(const struct profile *p, FILE *out);
// From now on, prints each loss only once, because all profiles of a process
// count the same losses.
void input_say_losses_once(void);
// Prints the same for a view of the profile, with what the view lacks itself.
// Commands whose output is read by other programs print it to stderr.
void input_print_view_losses(const struct view *v, FILE *out);
// Returns these lines. The caller frees them.
char *input_losses(const struct view *v);

// Returns whether the file is standard input or a pipe, such as that of the
// shell's <(COMMAND). Such a file can be read only once.
bool input_is_pipe(const char *path);

#endif
