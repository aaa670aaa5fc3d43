// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reply to a request of the HTTP server: status, headers and body. A body
// is either a short constant text or a file in memory.

#ifndef MPROF_RT_HTTP_REPLY_H
#define MPROF_RT_HTTP_REPLY_H

#include "file/outfile.h"
#include "sys/text.h"

// --- files in memory ---
//
// They hold the body of a reply. A profile is written to such a file first, so
// that a client that reads slowly holds no lock of the runtime, and so that the
// length of the reply is known before its first byte is sent.

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

// --- replies ---

#define MPROF_TYPE_TEXT "text/plain; charset=utf-8"
#define MPROF_TYPE_HTML "text/html; charset=utf-8"
#define MPROF_TYPE_BYTES "application/octet-stream"

enum { MPROF_REPLY_TEXT = 256 };

struct mprof_reply {
  int status;
  const char *type;             // Content-Type
  const char *allow;            // methods, for status 405; NULL: none
  const char *location;         // for status 301; NULL: none
  char file_name[96];           // name for the client's file; "": none
  bool is_error;                // the body is an error text of the profiler
  char text[MPROF_REPLY_TEXT];  // the body if there is no file
  struct mprof_reply_file body; // the body; fd.fd -1: `text` is the body
};

// Makes *r an empty reply with status 200.
void mprof_reply_init(struct mprof_reply *r);
// Makes *r an error. Drops a body that was set before.
// what: a sentence, which becomes the body; a line feed is added.
// error: -errno, whose text is appended to the sentence; 0: none.
void mprof_reply_error(struct mprof_reply *r, int status, const char *what,
                       int error);
// Appends the status line and the headers to t.
// closes: the connection ends after the reply.
void mprof_reply_put_head(struct mprof_text *t, const struct mprof_reply *r,
                          bool is_http_1_0, bool closes);
// Returns the length of the body in bytes.
uint64_t mprof_reply_body_len(const struct mprof_reply *r);
// Closes the file of the body.
void mprof_reply_drop(struct mprof_reply *r);

#endif // MPROF_RT_HTTP_REPLY_H
