// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file that appears under its name only when it is complete.

#ifndef MPROF_RT_FILE_OUTFILE_H
#define MPROF_RT_FILE_OUTFILE_H

#include "file/path.h"
#include "sys/base.h"

#define MPROF_OUTFILE_BUFFER 65536
// The same of one with a patience: what a reader has not taken yet.
#define MPROF_OUTFILE_BACKLOG (4 * MPROF_OUTFILE_BUFFER)

// Too large for a stack of 16 KiB: keep it in memory from mprof_os_map.
struct mprof_outfile {
  int fd;
  int error;         // the first errno value; later writes do nothing
  uint64_t dev, ino; // what fd was when it was opened
  uint64_t written;
  bool is_gzip;
  bool is_lent; // the descriptor is not ours, and has no name
  bool is_new;  // never replaces a file
  // Of one that is lent and has a reader: how long that may take nothing.
  int patience_ms;   // 0: for ever
  uint64_t reserved; // bytes, from the file's begin
  size_t buffered;
  uint32_t crc;
  uint32_t plain_len; // of all data, modulo 2^32, for gzip's trailer
  char path[MPROF_PATH_MAX];
  char temp[MPROF_PATH_MAX + 64];
  size_t buf_bytes;
  unsigned char *buf;
};
// Opens path's temporary name (O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600), never as
// descriptor 0 to 2, and above those that programs close in a loop if the limit
// allows it. gzip: data goes out in stored blocks. 0 or errno;
// EOPNOTSUPP if path is a device or the like, which a rename would destroy.
int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip);
// From here on files that are opened never replace another: closing gives
// EEXIST instead; or they do again. Guarded by writer_lock.
void mprof_outfile_keep_others(bool keep);
// The same file by a descriptor above 2: one of those would be taken for the
// program's, where it is closed. An error stays as it is.
long mprof_outfile_move_up(long fd);
// To a descriptor of the caller's, which stays open. patience_ms: if it is a
// pipe or the like. 0 or errno.
int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms);
// Sends of what is buffered what a reader takes now, or at first within that
// time. True if nothing is left, and of a file without a reader.
bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms);
// Sees to it that so many more bytes can be written to a file that is not lent,
// where its file system can. 0 or errno, EFBIG above the size that the process
// may give it; what was not used is given back.
int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes);
// Writes what is buffered, not in gzip. 0 or the first errno value so far.
int mprof_outfile_flush(struct mprof_outfile *f);
// Begins a file that is neither lent nor in gzip anew, without what was written
// and without its error. 0 or errno.
int mprof_outfile_restart(struct mprof_outfile *f);
// Text to stderr. 0 or errno; EBADF if it is closed or not what it was.
int mprof_outfile_open_stderr(struct mprof_outfile *f);
void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len);
void mprof_outfile_text(struct mprof_outfile *f, const char *s);
void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v);
void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v); // without 0x
// In a forked child: the file is the parent's.
void mprof_outfile_forget(struct mprof_outfile *f);
// Finishes, closes and renames; on an error removes the temporary file. 0 or
// the first errno value.
int mprof_outfile_close(struct mprof_outfile *f);

#endif // MPROF_RT_FILE_OUTFILE_H
