// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of names that mprof keeps and the runtime reads:
// DIRECTORY/mprof/names-N, where DIRECTORY is the user's cache directory. A
// file has the names of addresses in one module:
//
// - struct mprof_kept_header
// - for each source of the names: its stamp (uint64_t), and its path with a
//   null byte at the end. The first source is the module, the second one is the
//   program mprof. The others are the file with the debug information, and the
//   places where such a file would be found if it existed.
// - for each address: the address in the module (uint64_t), the size in bytes
//   of the names (uint32_t), and the names, in the form of a reply
//   (symbolizer_protocol.h).
//
// The names are valid as long as no source has another stamp. Only the short
// form of the path of a source file stays as it was when the names were kept.
// Numbers have the byte order of the machine and are not aligned.

#ifndef MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H
#define MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H

#include "symbolize/symbolizer_protocol.h"
#include "sys/text.h"

#include <string.h>

// Increase the number when the format changes.
#define MPROF_KEPT_MAGIC "mprof names 2\n"
// Limit of the files in the directory, and of the bytes in a file.
#define MPROF_KEPT_FILES 1024
#define MPROF_KEPT_SIZE 262144

struct mprof_kept_header {
  char magic[16];
  char build_id[MPROF_REQUEST_BUILD_ID]; // of the module; filled up with 0
  char unused[3];
  uint32_t sources; // their number
};

// The stamp of a source that does not exist.
#define MPROF_KEPT_ABSENT UINT64_C(0)

// Returns the stamp of a file with this st_ctim, size and inode. The time alone
// does not suffice: some images give all files the same time.
static inline uint64_t mprof_kept_stamp(int64_t changed_ns, uint64_t size,
                                        uint64_t inode) {
  const uint64_t values[] = {(uint64_t)changed_ns, size, inode};
  return mprof_hash(MPROF_HASH_EMPTY, (const char *)values, sizeof(values)) | 1;
}

// Returns the number N of the file with names in the module at the path. If two
// modules have the same number, the one that is written last is kept.
static inline unsigned mprof_kept_number(const char *path) {
  return (unsigned)(mprof_hash(MPROF_HASH_EMPTY, path, strlen(path)) %
                    MPROF_KEPT_FILES);
}

#endif // MPROF_RT_SYMBOLIZE_KEPT_FORMAT_H
