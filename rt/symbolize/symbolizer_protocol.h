// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages between the runtime and the program mprof
// (tools/mprof/names/serve.c). The runtime starts the program with the
// arguments MPROF_SYMBOLIZER_COMMAND and MPROF_SYMBOLIZER_VERSION, and a
// SOCK_SEQPACKET socket as standard input. A third argument is the user's cache
// directory, if answers may be kept. For each request, the program first sends
// a message with a string: a line for people about the file if some of its
// names are missing, or an empty string. One message or several messages
// follow. Together they have a reply for each address, in the order of the
// request. A reply is never divided over two messages. It has
// a string for each frame, innermost first, and an empty string at the end.
// There are no frames if the file cannot be read, or is not the file that was
// loaded. Names of such a file are not kept.
//
// The string of a frame consists of function, file, line and the line at which
// the function begins, with MPROF_FRAME_SEPARATOR between them. Other control
// characters in a name are replaced by escape sequences such as \012, as in
// /proc/self/maps. Names that are too long are shortened, and then contain
// MPROF_CUT_MARK.
//
// The program ends when the runtime closes the connection.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H

#include <stdint.h>

#define MPROF_SYMBOLIZER_COMMAND "serve-names"
// Increase the version when a message changes. An mprof of another version ends
// at once with this exit status.
#define MPROF_SYMBOLIZER_VERSION "3"
#define MPROF_SYMBOLIZER_OTHER 2
#define MPROF_FRAME_SEPARATOR '\x1f'
#define MPROF_CUT_MARK "<...>" // no demangler writes it

// Sizes of the strings in a mapping (maps.h), limit of the addresses in a
// request, and limit of the bytes in a message with replies.
#define MPROF_REQUEST_FILE 256
#define MPROF_REQUEST_BUILD_ID 41
#define MPROF_REQUEST_ADDRESSES 1024
#define MPROF_REPLY_SIZE 32768

struct mprof_symbolizer_request {
  // The time at which the mapping was first seen (CLOCK_REALTIME). A file
  // without build ID must not have changed since this time.
  int64_t noted_ns;
  char file[MPROF_REQUEST_FILE];
  char build_id[MPROF_REQUEST_BUILD_ID];
  uint32_t count; // number of addresses
  uint64_t addresses[MPROF_REQUEST_ADDRESSES];
};

#endif // MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H
