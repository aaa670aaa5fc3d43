// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The messages between the runtime and the program mprof
// (tools/mprof/names/serve.c). The runtime starts the program with the
// arguments MPROF_SYMBOLIZER_COMMAND and MPROF_SYMBOLIZER_VERSION, and a
// SOCK_SEQPACKET socket as standard input. A third argument is the user's cache
// directory, if answers may be kept. For each request, the program sends one
// message or several messages. Together
// they have a reply for each address, in the order of the request. A reply is
// never divided over two messages. A reply is either
//
// - MPROF_REPLY_KNOWN, a string for each frame, and an empty string. The
//   strings have the form that symbolizer_answer.h describes. If the file is
//   not the file that was loaded, there are no frames.
// - MPROF_REPLY_ASK_LLVM and an empty string, if the program cannot read the
//   file.
//
// The program ends when the runtime closes the connection.

#ifndef MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H
#define MPROF_RT_SYMBOLIZE_SYMBOLIZER_PROTOCOL_H

#include <stdint.h>

#define MPROF_SYMBOLIZER_COMMAND "serve-names"
// Increase the version when a message changes.
#define MPROF_SYMBOLIZER_VERSION "1"
#define MPROF_REPLY_KNOWN '='
#define MPROF_REPLY_ASK_LLVM '?'

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
