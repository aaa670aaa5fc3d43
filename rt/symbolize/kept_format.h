// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of names that mprof-symbolizer keeps and the runtime reads:
// DIRECTORY/mprof/names-N, where DIRECTORY is the user's cache directory. A
// file has the names of addresses in one module:
//
// - struct mprof_kept_header
// - for each source of the names: the time of its last change in nanoseconds
//   (int64_t, st_ctim, or MPROF_KEPT_ABSENT), and its path, which ends with a
//   null byte. The first source is the module. The others are the program
//   mprof-symbolizer, the file with the debug information, and the places where
//   such a file would be found if it existed.
// - for each address: the address in the module (uint64_t), the size in bytes
//   of the names (uint32_t), and the names, in the form of a reply
//   (symbolizer_protocol.h) without its first character.
//
// The names are valid as long as the time of no source changes. Numbers have
// the byte order of the machine and are not aligned.

#ifndef MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H
#define MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H

#include "symbolize/symbolizer_protocol.h"
#include "sys/hash.h"

#include <string.h>

// Increase the number when the format or the names change.
#define MPROF_KEPT_MAGIC "mprof names 2\n"
#define MPROF_KEPT_ABSENT (-1) // the source does not exist
// Limit of the files in the directory, and of the bytes in a file.
#define MPROF_KEPT_FILES 256
#define MPROF_KEPT_SIZE 262144

struct mprof_kept_header {
  char magic[16];
  char build_id[MPROF_REQUEST_BUILD_ID]; // of the module; filled up with 0
  char unused[3];
  uint32_t sources; // their number
};

// Returns the number N of the file with names in the module at the path. If two
// modules have the same number, the one that is written last is kept.
static inline unsigned mprof_kept_number(const char *path) {
  return (unsigned)(mprof_hash(MPROF_HASH_EMPTY, path, strlen(path)) %
                    MPROF_KEPT_FILES);
}

#endif // MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H
