// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes output files. An output file appears under its name only when it is
// complete: data are written to a temporary file, and closing the output file
// renames the temporary file. A lent file writes to a descriptor of the program
// instead, which is never renamed or closed. A file keeps its first error;
// writes after an error do nothing. The descriptor is checked before each use,
// since the program may have closed it and reused its number.

#ifndef MPROF_RT_FILE_OUTFILE_H
#define MPROF_RT_FILE_OUTFILE_H

#include "file/path.h"
#include "sys/base.h"

#define MPROF_OUTFILE_BUFFER 65536 // bytes
// Buffer size of a file with patience_ms > 0, in bytes. The buffer holds the
// data that the pipe or socket has not accepted yet.
#define MPROF_OUTFILE_BACKLOG (4 * MPROF_OUTFILE_BUFFER)

// Allocate this struct with mprof_os_map: it is too large for a stack of 16
// KiB.
struct mprof_outfile {
  int fd;
  int error;         // first error, -errno; 0: none
  uint64_t dev, ino; // identity of the file that was opened as fd
  uint64_t written;  // bytes
  bool is_gzip;
  bool is_lent; // the descriptor belongs to the program or is stderr
  bool is_new;  // closing must not replace an existing file
  // Longest time for which a lent pipe or socket may accept no data. Then
  // writing fails with -ETIMEDOUT.
  int patience_ms;   // 0: no limit
  uint64_t reserved; // reserved disk space, bytes from the file's start
  size_t buffered;
  uint32_t crc;
  uint32_t plain_len; // bytes of data modulo 2^32, for gzip's trailer
  char path[MPROF_PATH_MAX];
  char temp[MPROF_PATH_MAX + 64];
  size_t buf_bytes;
  unsigned char *buf;
};
// Creates the temporary file for path (O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600). The
// descriptor is never 0, 1 or 2. If the descriptor limit allows it, the
// descriptor is also above the numbers that some programs close in a loop. If
// gzip is true, data are written in the gzip format. Returns 0 or -errno;
// -EOPNOTSUPP if path is a device or another special file, which the rename
// would replace.
int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip);
// Sets whether files that are opened later replace existing files. If keep is
// true, closing a file fails with -EEXIST when another file has its path. If
// keep is false, closing a file replaces the other file. Guarded by
// writer_lock.
void mprof_outfile_keep_others(bool keep);
// Moves a descriptor fd of 0, 1 or 2 to a number above 2. Returns the new
// number or -errno. Without the move, the program could mistake the runtime's
// file for a standard descriptor that it has closed. Returns any other fd
// unchanged, including an error (-errno).
long mprof_outfile_move_up(long fd);
// Opens a lent file, which writes to the caller's descriptor fd and leaves fd
// open. patience_ms: longest time to wait for a pipe or a socket that accepts
// no data; ignored if fd is a regular file. Returns 0 or -errno.
int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms);
// Waits up to timeout_ms until the lent pipe or socket accepts data, then sends
// buffered data until sending would block. Does nothing for a file whose
// patience_ms is 0. Returns true if no data remain buffered, or if patience_ms
// is 0.
bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms);
// Reserves disk space for the given number of further bytes, unless the file is
// lent or its file system supports no reservations. Closing the file releases
// unused space. Returns 0 or -errno; -EFBIG if the file would exceed the
// process's file size limit.
int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes);
// Writes the buffered data. The file must not be gzip. Returns 0 or the file's
// first error.
int mprof_outfile_flush(struct mprof_outfile *f);
// Truncates the file to 0 bytes and clears its error. The file must be neither
// lent nor gzip. Returns 0 or -errno.
int mprof_outfile_restart(struct mprof_outfile *f);
// Opens a lent file that writes text to stderr. Returns 0 or -errno; -EBADF if
// stderr is closed or is no longer the file that it was at start.
int mprof_outfile_open_stderr(struct mprof_outfile *f);
// Append data, a string, a decimal number or a hexadecimal number to the file.
void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len);
void mprof_outfile_text(struct mprof_outfile *f, const char *s);
void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v);
void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v); // without 0x
// Closes the descriptor of the parent's file in a forked child. Neither writes
// to the file nor renames or removes it, since it belongs to the parent.
void mprof_outfile_forget(struct mprof_outfile *f);
// Writes the buffered data, closes the file and renames it. On an error,
// removes the temporary file. Returns 0 or the first error.
int mprof_outfile_close(struct mprof_outfile *f);

// Sets the file's error to error (-errno or 0) if the file has no error yet.
// Closing a file with an error removes the temporary file and leaves an
// existing file at path unchanged. Returns 0 or the file's first error.
static inline int mprof_outfile_fail(struct mprof_outfile *f, int error) {
  if (f->error == 0)
    f->error = error;
  return f->error;
}

#endif // MPROF_RT_FILE_OUTFILE_H
