// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes output files. Data are written to a temporary file, which is renamed
// when the output file is closed. So an output file appears under its name only
// when it is complete.
//
// A lent file is a struct mprof_outfile that writes to an existing descriptor,
// such as stderr. A lent file is never renamed, and its descriptor is never
// closed.
//
// A file keeps its first error, and later writes to the file do nothing. The
// descriptor is checked before each use, because the program may have closed
// the descriptor and reused its number.

#ifndef MPROF_RT_FILE_OUTFILE_H
#define MPROF_RT_FILE_OUTFILE_H

#include "sys/arch.h"
#include "sys/base.h"
#include "sys/lock.h"
#include "sys/message.h"

// --- paths (path.c) ---
//
// Makes the paths of output files: expands the patterns in the options log_path
// and alloc_log. If a path does not fit in its buffer, the expansion fails. A
// path is never truncated.

// Maximum length in bytes of an output file's path, including the terminating
// 0.
#define MPROF_PATH_MAX 1024

// Expands %p (process id), %e (program), %h (host), %t (time) and %% in
// pattern. Stores the result in buf, which has cap bytes. If pattern is empty
// or ends in '/', appends the default value of log_path, so that the files are
// in this directory and not hidden. If pattern has no %p, appends ".<pid>", so
// that a child never overwrites its parent's file. Copies any other % unchanged
// and reports this % on stderr. Returns 0, -ENAMETOOLONG or -EPERM.
int mprof_path_expand(char *buf, size_t cap, const char *pattern);
// Expands the option log_path. If log_path is "stderr", expands the option's
// default value instead. Use this function for output that is never written to
// stderr, such as the trace. Returns 0, -ENAMETOOLONG or -EPERM, or -ENODEV if
// log_path is /dev/null, so no file is wanted.
int mprof_path_base(char *buf, size_t cap);
// Returns whether log_path=/dev/null says that no file is to be written.
bool mprof_path_discards_files(void);
// Returns whether the option log_path is stderr.
bool mprof_path_is_stderr(void);
// Expands pattern as mprof_path_expand does, but never appends ".<pid>".
// option: name of the option that contains the pattern, for messages. Stores in
// *has_pid whether the pattern contains %p. Returns -EPERM if the path is
// relative and the program has more rights than its user
// (mprof_flags_is_secure).
int mprof_path_fill(char *buf, size_t cap, const char *option,
                    const char *pattern, bool *has_pid);
// Appends the base name of the program's executable file to t.
void mprof_path_program(struct mprof_text *t);

// Makes the directory of the file at `path`, and the directories above it, if
// they do not exist. On failure does nothing: the caller then cannot open the
// file and reports this. A program that has more rights than its user makes no
// directory. Makes system calls only if the path has a directory.
void mprof_path_make_directory(const char *path);

// --- one file ---

// Lets only one thread at a time write a profile. writer_lock has the lowest
// rank, so a thread takes it before any other lock of the runtime.
extern MPROF_HIDDEN struct mprof_lock mprof_writer_lock;
// The state of the writing thread when it called the runtime (arch.h). A
// profile of all threads' stacks shows the writing thread's stack from the
// program's function that made this call. The frames that the call has added
// belong to the runtime and are not shown. Guarded by writer_lock.
extern MPROF_HIDDEN struct mprof_caller mprof_writer_caller;

// --- files ---

#define MPROF_OUTFILE_BUFFER 65536 // bytes
// Size in bytes of the buffer of a file with patience_ms > 0. The buffer holds
// the data that the pipe or socket has not accepted yet.
#define MPROF_OUTFILE_BACKLOG (4 * MPROF_OUTFILE_BUFFER)

// An output file. Allocate this struct with mprof_os_map, because the struct is
// too large for a stack of 16 KiB.
struct mprof_outfile {
  int fd;
  int error;         // first error as -errno; 0: no error
  uint64_t dev, ino; // device and inode number of the file opened as fd
  uint64_t written;  // bytes
  bool is_gzip;
  bool is_lent;  // fd belongs to the program or is stderr
  bool is_new;   // closing the file must not replace an existing file
  bool is_muted; // data are dropped; see mprof_symbolize_collect
  // For a pipe or socket of the program (is_lent): the longest time in
  // milliseconds for which it may accept no data. After this time, writing
  // fails with -ETIMEDOUT.
  int patience_ms;   // 0: no limit
  uint64_t reserved; // end of the reserved disk space, as a file offset
  size_t buffered;
  uint32_t crc;
  uint32_t plain_len; // length of the data modulo 2^32, for gzip's trailer
  char path[MPROF_PATH_MAX];
  char temp[MPROF_PATH_MAX + 64];
  size_t buf_bytes;
  unsigned char *buf;
  size_t piece_bytes; // the buffer is written when it has this many bytes; 0:
                      // when it is full
  // Called each time that the buffer was written, or NULL.
  void (*written_some)(void);
};
// Creates the temporary file for path (O_EXCL|O_NOFOLLOW|O_CLOEXEC, 0600). The
// descriptor is never 0, 1 or 2. If the descriptor limit allows it, the
// descriptor is also above the numbers that some programs close in a loop.
// gzip: data are written in the gzip format. Returns 0 or -errno. Returns
// -EOPNOTSUPP if path is a device or another special file, because the rename
// would replace the special file.
int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip);
// Sets whether files that are opened later may replace existing files when they
// are closed. keep = true: closing a file fails with -EEXIST if its path
// exists. keep = false: closing a file replaces an existing file at its path.
// Call with writer_lock held.
void mprof_outfile_keep_others(bool keep);
// Moves descriptor fd to a number above 2 if fd is 0, 1 or 2. Returns the new
// number or -errno. Without the move, the runtime's file could have the number
// of a standard descriptor that the program has closed. The program would then
// use the runtime's file as its standard input or output. Returns any other fd
// unchanged, including an error (-errno).
long mprof_outfile_move_up(long fd);
// Opens a lent file that writes to the caller's descriptor fd. Closing the lent
// file leaves fd open. patience_ms: longest time for which a pipe or a socket
// may accept no data; ignored if fd is a regular file. Returns 0 or -errno.
int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms);
// Makes f, a lent file to which nothing has been written, write its data in
// pieces of at most `bytes` bytes, and call written_some after each of them.
void mprof_outfile_set_pieces(struct mprof_outfile *f, size_t bytes,
                              void (*written_some)(void));
// Makes f, a lent file to which nothing has been written, a gzip file.
void mprof_outfile_make_gzip(struct mprof_outfile *f);
// Waits up to timeout_ms milliseconds until the pipe or socket to which f
// writes accepts data. Then sends buffered data until sending would block.
// Returns true if the buffer is empty and the file has no error. If the file's
// patience_ms is 0, does nothing and returns true.
bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms);
// Reserves disk space for `bytes` further bytes. Does nothing if is_lent is set
// or the file system does not support reservations. Closing the file releases
// unused space. Returns 0 or -errno. Returns -EFBIG if the file would exceed
// the process's file size limit.
int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes);
// Writes the buffered data of a file that is not gzip. Returns 0 or the file's
// first error.
int mprof_outfile_flush(struct mprof_outfile *f);
// Truncates the file to 0 bytes and clears its error. The fields is_lent and
// is_gzip must be false. Returns 0 or -errno.
int mprof_outfile_restart(struct mprof_outfile *f);
// Opens f so that it writes to stderr. Closing f leaves stderr open. Returns 0
// or -errno. Returns -EBADF if stderr is closed or refers to another file than
// at the runtime's start.
int mprof_outfile_open_stderr(struct mprof_outfile *f);
// These functions append len bytes of data, a string, a decimal number or a
// hexadecimal number to the file.
void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len);
void mprof_outfile_text(struct mprof_outfile *f, const char *s);
void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v);
void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v); // without 0x
// Closes the descriptor of the parent's file in a forked child. Does not write,
// rename or remove the file, because the file belongs to the parent.
void mprof_outfile_forget(struct mprof_outfile *f);
// Writes the buffered data, closes the temporary file and renames it to the
// final path. After an error, removes the temporary file instead. Returns 0 or
// the file's first error.
int mprof_outfile_close(struct mprof_outfile *f);

// Sets the file's error to `error` (-errno or 0) if the file has no error yet.
// When a file with an error is closed, its temporary file is removed, and an
// existing file at its path stays unchanged. Returns 0 or the file's first
// error.
static inline int mprof_outfile_fail(struct mprof_outfile *f, int error) {
  if (f->error == 0)
    f->error = error;
  return f->error;
}

// Opens the file `path`, calls write(f, arg) to fill it, and closes it. Returns
// 0 or -errno. On an error, an existing file of this name stays unchanged. Call
// with writer_lock held.
// path: name of the file; NULL: writes to stderr instead.
// gzip: true: the file is in gzip format, but without compression.
int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg);

// --- descriptors that the runtime keeps open while the program runs ---
//
// The program may close such a descriptor, for example a daemon that closes
// all, and the kernel may then give its number to another file. So the device
// and inode number of the file are compared before each use.

struct mprof_own_fd {
  int fd; // -1: none
  uint64_t dev, ino;
};
#define MPROF_NO_FD {.fd = -1}

// Moves fd to a high number and stores it in *d.
// Returns 0, or -errno if fd is an error or cannot be moved.
int mprof_own_fd_set(struct mprof_own_fd *d, long fd);
// Returns whether d still is the descriptor that was set.
bool mprof_own_fd_is_open(const struct mprof_own_fd *d);
// Closes the descriptor, unless the program has closed it before.
void mprof_own_fd_close(struct mprof_own_fd *d);

// --- limits of the number of old files (keep_newest.c) ---
//
// Limits the number of old output files. A set is the files of one output.
// There are three lists of sets: the snapshots that a process writes at signals
// and the traces of slow tasks (option dump_keep), and the outputs of all
// forked children (option children_keep). A new set in a full list replaces the
// oldest set, whose files are removed. If log_path is relative, and the program
// has changed its directory after it wrote the oldest set, the files of this
// set stay.

enum mprof_keep_list {
  MPROF_KEEP_SNAPSHOTS,
  MPROF_KEEP_SLOW_TASKS,
  MPROF_KEEP_CHILDREN,
  MPROF_KEEP_LISTS
};

// Maximum bytes of the paths of a set. If the paths are longer, the files of
// the set are never removed.
#define MPROF_KEEP_BYTES 8192

// The paths of a set.
struct mprof_keep_set {
  size_t len; // bytes used; MPROF_KEEP_BYTES + 1: the paths do not fit
  char paths[MPROF_KEEP_BYTES]; // one after the other, each ends with a 0
};

// Adds the path of a file that was written.
void mprof_keep_add(struct mprof_keep_set *set, const char *path);
// Adds the set to a list, and removes the files of the set that it replaces.
// Does nothing if the list's option sets no limit. Call with writer_lock held.
void mprof_keep_newest(enum mprof_keep_list which,
                       const struct mprof_keep_set *set);

// Creates the list of children. Called at start.
void mprof_keep_init(void);
// Empties the lists of snapshots and of slow tasks in a forked child, because
// these files belong to its parent.
void mprof_keep_reset(void);

#endif // MPROF_RT_FILE_OUTFILE_H
