// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files in memory that hold the body of a reply. A profile is written to such a
// file first, so that a client that reads slowly holds no lock of the runtime,
// and so that the length of the reply is known before its first byte is sent.

#ifndef MPROF_RT_HTTP_REPLY_FILE_H
#define MPROF_RT_HTTP_REPLY_FILE_H

#include "file/own_fd.h"

struct mprof_outfile;

// Maximum size of a file in bytes.
#define MPROF_REPLY_FILE_MAX (UINT64_C(256) << 20)

struct mprof_reply_file {
  struct mprof_own_fd fd;
  uint64_t len;
};
// Sets whether files are written without the pauses that leave the processor to
// the program.
void mprof_reply_file_hurry(bool does);
// Creates an empty file. Returns 0 or -errno.
int mprof_reply_file_open(struct mprof_reply_file *f);
// Creates a file and calls write(out, arg) to fill it. Returns 0 or -errno;
// after an error there is no file. Returns -EFBIG if the file would exceed
// MPROF_REPLY_FILE_MAX. gzip: the file is in gzip format.
int mprof_reply_file_write(struct mprof_reply_file *f, bool gzip,
                           int (*write)(struct mprof_outfile *out, void *arg),
                           void *arg);
// Sets f->len to the position up to which the file was written.
int mprof_reply_file_measure(struct mprof_reply_file *f);
void mprof_reply_file_close(struct mprof_reply_file *f);

#endif // MPROF_RT_HTTP_REPLY_FILE_H
