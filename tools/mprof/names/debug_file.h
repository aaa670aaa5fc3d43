// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the functions and lines of addresses of one program or library.

#ifndef MPROF_TOOL_DEBUG_FILE_H
#define MPROF_TOOL_DEBUG_FILE_H

#include "names/places.h"

#include <stdbool.h>
#include <stdint.h>

// A function at an address. The texts are valid until the next call.
struct name_frame {
  const char *function; // as the linker calls it; "" if unknown
  const char *file;     // "" if unknown
  int64_t line, start_line;
};

struct debug_file;

// Opens the file. Takes over the place. Returns NULL if the file cannot be
// used. Sets *problem to NULL, or to a line for people about names that are
// missing, which the caller frees.
struct debug_file *debug_file_open(const struct place *place,
                                   const struct places *places, char **problem);

// Closes the file and those that were found for it.
void debug_file_close(struct debug_file *f);

typedef void frames_fn(void *arg, size_t index, const struct name_frame *frames,
                       size_t count);
// Calls found for each offset of the file at which there is a function, with
// the index of the offset, and the frames from the innermost inlined function
// on. The offsets are those of bytes in the file, or with has_addresses the
// addresses at which the ELF file wants these bytes.
void debug_file_frames(struct debug_file *f, const uint64_t *offsets,
                       size_t count, bool has_addresses, frames_fn *found,
                       void *arg);

// Returns the name of the variable at an address of the ELF file, as
// variable_name does.
char *debug_file_variable(const struct debug_file *f, uint64_t address);

typedef void used_fn(void *arg, const char *path, const char *name);
// Calls found for each file that debug_file_frames has used: its path, and the
// name that the file has in a bundle.
void debug_file_used(const struct debug_file *f, used_fn *found, void *arg);

typedef void path_fn(void *arg, const char *path);
// Calls found for each path at which a file with debug information was found,
// or would be found if it existed, except those of split DWARF.
void debug_file_places(const struct debug_file *f, path_fn *found, void *arg);
// Returns whether debug_file_places has named all files on which the names
// depend.
bool debug_file_is_complete(const struct debug_file *f);

#endif
