// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the runtime and the program mprof (tools/mprof/names/serve.c) exchange:
// messages, and files of names that mprof keeps and the runtime reads.
//
// The runtime starts the program with the arguments MPROF_SYMBOLIZER_COMMAND
// and MPROF_SYMBOLIZER_VERSION, and a SOCK_SEQPACKET socket as standard input.
// A third argument is the user's cache directory, if answers may be kept. For
// each request, the program first sends a message with a string: a line for
// people about the file if some of its names are missing, or an empty string.
// One message or several messages follow. Together they have a reply for each
// address, in the order of the request. A reply is never divided over two
// messages. It has a string for each frame, innermost first, and an empty
// string at the end. There are no frames if the file cannot be read, or is not
// the file that was loaded. Names of such a file are not kept.
//
// The string of a frame consists of function, file, line and the line at which
// the function begins, with MPROF_FRAME_SEPARATOR between them. Other control
// characters in a name are replaced by escape sequences such as \012, as in
// /proc/self/maps. Names that are too long are shortened, and then contain
// MPROF_CUT_MARK.
//
// The reply for the address of a variable has one string at most: the name of
// the variable, and the offset in it if it is not 0, such as table+0x50.
//
// The program ends when the runtime closes the connection.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H

#include "sys/message.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define MPROF_SYMBOLIZER_COMMAND "serve-names"
// Increase the version when a message changes. An mprof of another version ends
// at once with this exit status, which it does not use otherwise.
#define MPROF_SYMBOLIZER_VERSION "5"
#define MPROF_SYMBOLIZER_OTHER 121
#define MPROF_FRAME_SEPARATOR '\x1f'
// No demangler writes the mark. LLVM's writes "<...>" for an empty list.
#define MPROF_CUT_MARK "<....>"

// Sizes of the strings in a mapping (maps.h), limit of the addresses in a
// request, and limit of the bytes in a message with replies.
#define MPROF_REQUEST_FILE 256
#define MPROF_REQUEST_BUILD_ID 41
#define MPROF_REQUEST_ADDRESSES 1024
#define MPROF_REPLY_SIZE 32768

// Code that a process has made at run time has the file name "[JIT PID]", where
// PID is the number of the process in its own namespace. The addresses are
// those in memory.
#define MPROF_JIT_FILE "[JIT"

struct mprof_symbolizer_request {
  // The time at which the mapping was first seen (CLOCK_REALTIME). A file
  // without build ID must not have changed since this time.
  int64_t noted_ns;
  char file[MPROF_REQUEST_FILE];
  char build_id[MPROF_REQUEST_BUILD_ID];
  bool are_variables; // the addresses are those of variables
  uint32_t count;     // number of addresses
  uint64_t addresses[MPROF_REQUEST_ADDRESSES];
};

// --- lists of names ---
//
// A list of names, as messages and files have it: texts that are not empty,
// each with its terminating 0, and then an empty text.

// Returns the size in bytes of the list at s, including the empty text at its
// end. Returns 0 if the list does not end within the `room` bytes at s.
static inline size_t mprof_name_list_size(const char *s, size_t room) {
  size_t size = 0;
  while (size < room && s[size] != '\0') {
    const char *end = memchr(s + size, '\0', room - size);
    if (end == NULL)
      return 0;
    size = (size_t)(end - s) + 1;
  }
  return size < room ? size + 1 : 0;
}

// Returns whether the size bytes at s are exactly one list.
static inline bool mprof_is_name_list(const char *s, size_t size) {
  return size != 0 && mprof_name_list_size(s, size) == size;
}

// --- kept names ---
//
// A file of kept names, DIRECTORY/mprof/names-N, where DIRECTORY is the user's
// cache directory, has the names of addresses in one module:
//
// - struct mprof_kept_header
// - for each source of the names: its stamp (uint64_t), and its path with a
//   null byte at the end. The first source is the module, the second one is the
//   program mprof. The others are the file with the debug information, and the
//   places where such a file would be found if it existed.
// - for each address: the address in the module (uint64_t), the size in bytes
//   of the names (uint32_t), and the names, in the form of a reply.
//
// The names are valid as long as no source has another stamp. Only the short
// form of the path of a source file stays as it was when the names were kept.
// Numbers have the byte order of the machine and are not aligned.

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

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H
