// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An output file that appears under its name only when it is complete: data go
// to a temporary file, and closing renames it. Data may also go to a descriptor
// of the program ("lent": never renamed or closed). The first error is kept,
// and later writes do nothing. Before each use the descriptor is checked, since
// the program may have closed it and reused its number.

#ifndef MPROF_RT_FILE_OUTFILE_H
#define MPROF_RT_FILE_OUTFILE_H

#include "file/path.h"
#include "sys/base.h"

#define MPROF_OUTFILE_BUFFER 65536 // bytes
// Buffer size of a file with patience_ms, in bytes. The buffer holds the data
// that the reader has not taken yet.
#define MPROF_OUTFILE_BACKLOG (4 * MPROF_OUTFILE_BUFFER)

// Too large for a stack of 16 KiB, so allocate it with mprof_os_map.
struct mprof_outfile {
  int fd;
  int error;         // first error, -errno; 0: none
  uint64_t dev, ino; // identity of the file that was opened as fd
  uint64_t written;  // bytes
  bool is_gzip;
  bool is_lent; // the descriptor belongs to the program or is stderr
  bool is_new;  // must not replace an existing file
  // How long the reader of a lent pipe or socket may take no data.
  int patience_ms;   // 0: no limit
  uint64_t reserved; // bytes from the start of the file
  size_t buffered;
  uint32_t crc;
  uint32_t plain_len; // bytes of data modulo 2^32, for gzip's trailer
  char path[MPROF_PATH_MAX];
  char temp[MPROF_PATH_MAX + 64];
  size_t buf_bytes;
  unsigned char *buf;
};
// Opens the temporary file for path (O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600). The
// descriptor is never 0 to 2, and, if the descriptor limit allows it, above the
// numbers that programs close in a loop. gzip: data are written as stored
// blocks. Returns 0 or -errno; -EOPNOTSUPP if path is a device or
// another special file, which a rename would destroy.
int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip);
// true: files that are opened from now on never replace an existing file;
// closing one fails with -EEXIST instead. false: they replace again. Guarded by
// writer_lock.
void mprof_outfile_keep_others(bool keep);
// Moves a descriptor 0 to 2 to a number above 2 and returns the new number.
// Otherwise the runtime's file would be mistaken for a standard descriptor that
// the program has closed. Returns an error in fd (-errno) unchanged.
long mprof_outfile_move_up(long fd);
// Opens a file on the caller's descriptor, which stays open. patience_ms is
// ignored for a regular file. Returns 0 or -errno.
int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms);
// Sends the part of the buffered data that the reader takes at once, or as soon
// as it takes any within timeout_ms. Returns true if nothing remains, or if the
// file has no reader.
bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms);
// Reserves space for so many further bytes, if the file system supports that
// and the file is not lent. Closing gives unused space back. Returns 0 or
// -errno; -EFBIG if the file would exceed the process's size limit.
int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes);
// Writes the buffered data. Not for gzip. Returns 0 or the first error so far.
int mprof_outfile_flush(struct mprof_outfile *f);
// Empties the file and clears its error. Only for files that are neither lent
// nor gzip. Returns 0 or -errno.
int mprof_outfile_restart(struct mprof_outfile *f);
// Opens a file for text on stderr. Returns 0 or -errno; -EBADF if stderr
// is closed or no longer the file that it was at start.
int mprof_outfile_open_stderr(struct mprof_outfile *f);
// Append data, a string, or a number to the file.
void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len);
void mprof_outfile_text(struct mprof_outfile *f, const char *s);
void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v);
void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v); // without 0x
// Drops the parent's file in a forked child, and leaves it to the parent.
void mprof_outfile_forget(struct mprof_outfile *f);
// Writes the buffered data, closes the file and renames it. On an error,
// removes the temporary file. Returns 0 or the first error.
int mprof_outfile_close(struct mprof_outfile *f);

// Makes a file fail with error (-errno), unless error is 0 or the file has
// failed already: closing it then keeps the file that had its name before.
// Returns 0 or the file's first error.
static inline int mprof_outfile_fail(struct mprof_outfile *f, int error) {
  if (f->error == 0)
    f->error = error;
  return f->error;
}

#endif // MPROF_RT_FILE_OUTFILE_H
