// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bundles: tar archives, compressed by gzip, with profiles and the files that
// have their names:
//   profiles/NAME         a profile
//   files/ID              a program or library with this build id
//   files/ID.debug        its separate debug file
//   files/ID.alt          the file to which its debug information refers (dwz)
//   files/ID.dwp          its split debug information
//   files/ID.UNIT.dwo     the same, for one compilation unit
// A reader keeps the archive in memory, and never uses a name as a path.

#ifndef MPROF_TOOL_ARCHIVE_H
#define MPROF_TOOL_ARCHIVE_H

#include "files/bytes.h"

struct archive;

// Returns whether the decompressed bytes begin as a tar archive does.
bool archive_is(const struct bytes *bytes);

// Reads an archive, and takes over the bytes. Members after damaged ones are
// missing.
struct archive *archive_read(struct bytes *bytes);
// Calls found for each member whose name begins with the prefix.
void archive_each(const struct archive *a, const char *prefix,
                  void (*found)(void *arg, const char *name,
                                const struct bytes *content),
                  void *arg);
// Lets archive_fd find the members of `next`, too, which may be NULL. Returns
// a.
struct archive *archive_join(struct archive *a, struct archive *next);
// Returns a descriptor of an anonymous file with the content of the member of
// this name, or -1.
int archive_fd(const struct archive *a, const char *name);

// Frees this archive, but not the next one. archive may be NULL.
void archive_free(struct archive *a);

struct archive_writer;

// Begins a new file. Returns NULL and sets *error to a message without the path
// if it cannot be written.
struct archive_writer *archive_begin(const char *path, const char **error);
// Adds a member. Returns NULL or a message.
const char *archive_add(struct archive_writer *w, const char *name,
                        const struct bytes *content);
// Adds the file at path. Returns NULL or a message.
const char *archive_add_file(struct archive_writer *w, const char *name,
                             const char *path);
// Replaces the file at the path by the archive. Returns NULL or a message.
const char *archive_end(struct archive_writer *w);
// Leaves the file at the path as it is.
void archive_abandon(struct archive_writer *w);

#endif
