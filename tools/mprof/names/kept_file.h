// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps names in the user's cache directory, for the next process. The runtime
// reads them itself (rt/symbolize/symbolizer_protocol.h), so that most short
// processes need not start mprof.
//
// A process writes a temporary file first, which stays only if the process is
// killed meanwhile. If two processes write a file at the same time, the names
// of one of them are not kept. A file is used only if no other user can change
// it. The directory is made only in a directory of the user.

#ifndef MPROF_TOOL_KEPT_FILE_H
#define MPROF_TOOL_KEPT_FILE_H

#include <stddef.h>
#include <stdint.h>

struct stat;
struct kept_file;

// Begins to keep names of a program or library. directory: the user's cache
// directory. Returns NULL if it cannot be used. kept_file_free frees the
// result.
struct kept_file *kept_file_new(const char *directory, const char *module,
                                const char *build_id);
void kept_file_free(struct kept_file *k);
// Adds a file from which the names come, or would come if it existed. The first
// one is the module, and the second one is the program mprof.
void kept_file_source(struct kept_file *k, const char *path, uint64_t stamp);
// Adds the names of an address, in the form of a reply. Call it after the
// last kept_file_source.
void kept_file_add(struct kept_file *k, uint64_t address, const char *names,
                   size_t size);
// Writes the file, with the names that other processes have kept, if there are
// new names.
void kept_file_save(struct kept_file *k);

// Returns the stamp of a file with this state.
uint64_t kept_file_stamp(const struct stat *st);

#endif
