// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds names with the options of a command, and prints what is missing.

#ifndef MPROF_TOOL_ADD_NAMES_H
#define MPROF_TOOL_ADD_NAMES_H

#include "commands/options.h"
#include "files/archive.h"
#include "names/names.h"

// Prints a message for each option about names that is wrong. Returns whether
// all are right.
bool add_names_check(const struct options *options);

// Replaces mangled names by those of the source text. The runtime has no
// demangler for the names of code that was made at run time.
void add_names_demangle(struct profile *p);
// Adds names to the profile; see names_find. Looks into the bundles that were
// read, too. Prints a line for each file whose names are not
// found, but does not print a line twice.
size_t add_names(const struct options *options, struct profile *p,
                 enum names_mode mode);

// A file that a command reads, decompressed, or a bundle of such files.
struct input_file {
  const char *path;
  struct bytes bytes;     // empty if it is a bundle
  struct archive *bundle; // or NULL
};

// Returns NULL or a message without the path. Call input_file_close in both
// cases. It keeps a bundle for add_names.
const char *input_file_open(struct input_file *f, const char *path);
void input_file_close(struct input_file *f);
// Calls found for the file, or for each profile of the bundle, until it returns
// a message. name: a path, for messages and titles; it is valid only during the
// call. Returns the message, or NULL.
const char *input_file_each(const struct input_file *f,
                            const char *(*found)(void *arg, const char *name,
                                                 const struct bytes *bytes),
                            void *arg);

// Reads a profile or a bundle, and adds it to p. Returns NULL or a message
// without the path.
const char *input_file_read(struct profile *p, const char *path);
// Returns whether a bundle was read.
bool input_file_had_bundle(void);

// Returns where to look for files.
struct places add_names_places(const struct options *options);

#endif
