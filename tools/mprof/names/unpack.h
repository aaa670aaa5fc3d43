// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decompresses sections that are compressed with zstd, which libdw reads only
// since elfutils 0.189, and only if it was built so.

#ifndef MPROF_TOOL_UNPACK_H
#define MPROF_TOOL_UNPACK_H

// Returns the descriptor itself if the file has no such sections, or else that
// of an anonymous copy without compression. Closes the other one.
int unpack(int fd);

#endif
