// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes output files. The data go to a temporary file in the same directory.
// When all data are written, the temporary file is renamed to the final path.
// So a reader never sees an incomplete file, and a failure leaves an existing
// file unchanged.

#include "file/outfile.h"

#include "sys/arch.h"
#include "sys/lock.h"
#include "sys/message.h"
#include "sys/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

struct mprof_lock mprof_writer_lock = MPROF_LOCK_INIT(MPROF_RANK_WRITE);
struct mprof_caller mprof_writer_caller;

// --- gzip ---
//
// The data are in stored blocks, that is, they are not compressed, because a
// compressor would need a table of 64 KiB. Every gzip reader accepts stored
// blocks, and a profile is small even without compression. RFC 1952 specifies
// the gzip format. RFC 1951, section 3.2.4, specifies stored blocks.
//
//   header (10 bytes)
//   blocks: header (5 bytes), data (0 to 65535 bytes)
//   trailer (8 bytes): the checksum and the length of all data

enum { BLOCK_HEADER = 5 };

// Processes four bits of the data at a time. The table for four bits has 16
// words; a table for eight bits would have 256 words.
// crc: the checksum (CRC-32) of the earlier data, 0 if there are none.
static uint32_t crc32(uint32_t crc, const unsigned char *data, size_t len) {
  static const uint32_t table[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  crc = ~crc;
  for (size_t i = 0; i < len; i++) {
    crc ^= data[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}

// Writes the header of a block to `out`.
static void make_block_header(unsigned char out[BLOCK_HEADER], size_t len,
                              bool is_last) {
  out[0] = is_last; // bit 0: last block; bits 1 and 2: block type 0, stored
  out[1] = (unsigned char)len;
  out[2] = (unsigned char)(len >> 8);
  out[3] = (unsigned char)~len;
  out[4] = (unsigned char)(~len >> 8);
}

// --- files ---

// True: closing a file must not replace an existing file. Guarded by
// writer_lock.
static bool keep_others;

void mprof_outfile_keep_others(bool keep) { keep_others = keep; }

enum {
  NAME_LIMIT = 255, // longest name of a file, without its directory (NAME_MAX)
  // Lowest number for the runtime's descriptors. Programs that close many
  // descriptors in a loop often stop at a lower number.
  HIGH_FD = 512,
};

// Returns the offset of the data in f->buf. In a gzip file, the header of the
// block precedes the data.
static size_t head_room(const struct mprof_outfile *f) {
  return f->is_gzip ? BLOCK_HEADER : 0;
}

// Returns whether the descriptor still refers to the file that was opened. For
// example, a daemon closes all descriptors and may then reuse their numbers for
// other files. Another thread may even close the descriptor right after this
// check. To make this unlikely, the runtime's own descriptors have high
// numbers.
static bool is_same(const struct mprof_outfile *f) {
  return mprof_sys_has_id(f->fd, f->dev, f->ino);
}

static void lose(struct mprof_outfile *f) {
  mprof_outfile_fail(f, -EBADF);
  if (!f->is_lent)
    mprof_sys_unlink(f->temp);
  f->is_lent = true; // so the file is neither closed nor renamed later
}

// Sets the file's error if the descriptor no longer refers to the opened file.
// Returns true if the file has no error. Call this function before each use of
// the descriptor.
static bool check(struct mprof_outfile *f) {
  if (f->error == 0 && !is_same(f))
    lose(f);
  return f->error == 0;
}

// Number of bytes that a pipe accepts without blocking after poll has reported
// the pipe as writable.
#define PIECE 4096u

bool mprof_outfile_send(struct mprof_outfile *f, int timeout_ms) {
  size_t sent = 0;
  if (f->patience_ms == 0)
    return true;
  while (sent < f->buffered && check(f) &&
         mprof_sys_poll_out(f->fd, sent == 0 ? timeout_ms : 0) != 0) {
    const size_t rest = f->buffered - sent, n = rest < PIECE ? rest : PIECE;
    size_t left = n;
    const int error = mprof_os_write(f->fd, f->buf + sent, &left);
    sent += n - left;
    if (error == -EAGAIN) { // another writer has filled the pipe since the poll
      mprof_sys_sleep_ms(sent == 0 ? (unsigned)timeout_ms : 0);
      break;
    }
    if (error != 0)
      mprof_outfile_fail(f, error);
  }
  memmove(f->buf, f->buf + sent, f->buffered - sent);
  f->buffered -= sent;
  f->written += sent;
  return f->error == 0 && f->buffered == 0;
}

// Sends all buffered data. Fails with -ETIMEDOUT if no data could be sent for
// patience_ms milliseconds, because the reader may have stopped reading.
static void send_all(struct mprof_outfile *f) {
  enum { STEP_MS = 10 };
  int idle_ms = 0;
  while (f->error == 0 && f->buffered != 0) {
    const size_t before = f->buffered;
    mprof_outfile_send(f, STEP_MS);
    idle_ms = f->buffered == before ? idle_ms + STEP_MS : 0;
    if (idle_ms > f->patience_ms)
      mprof_outfile_fail(f, -ETIMEDOUT);
  }
}

static void write_raw(struct mprof_outfile *f, const void *data, size_t len) {
  if (!check(f))
    return;
  mprof_outfile_fail(f, mprof_os_write_all(f->fd, data, len));
  if (f->error == 0)
    f->written += len;
}

// Number of bytes that a reservation adds to the requested bytes, so that most
// writes need no new reservation.
#define RESERVE_STEP ((uint64_t)8 << 20)

int mprof_outfile_reserve(struct mprof_outfile *f, uint64_t bytes) {
  const uint64_t end = f->written + f->buffered + bytes;
  if (f->is_lent || !check(f))
    return f->error;
  if (end > mprof_sys_file_size_limit())
    return -EFBIG;
  if (end <= f->reserved)
    return 0;
  f->reserved = end + RESERVE_STEP;
  long r = mprof_sys_reserve(f->fd, f->written, f->reserved - f->written);
  if (r < 0) {
    f->reserved = end;
    r = mprof_sys_reserve(f->fd, f->written, f->reserved - f->written);
  }
  if (r != -ENOSPC && r != -EDQUOT)
    return 0;
  // The failed call may have reserved a part of the space. A value other than 0
  // makes mprof_outfile_close truncate the file, which releases this part.
  f->reserved = 1;
  return (int)r;
}

// Writes the buffered data. In a gzip file, the data become one block. is_last:
// this block is the last block of the file.
static void flush(struct mprof_outfile *f, bool is_last) {
  size_t head = head_room(f);
  if (f->patience_ms != 0) {
    send_all(f);
    f->buffered = 0;
    return;
  }
  if (f->is_gzip) {
    const unsigned char *data = f->buf + head;
    f->crc = crc32(f->crc, data, f->buffered);
    f->plain_len += (uint32_t)f->buffered;
    make_block_header(f->buf, f->buffered, is_last);
  }
  write_raw(f, f->buf, head + f->buffered);
  f->buffered = 0;
  if (f->written_some != NULL)
    f->written_some();
}

int mprof_outfile_flush(struct mprof_outfile *f) {
  MPROF_ASSERT(!f->is_gzip);
  flush(f, false);
  return f->error;
}

int mprof_outfile_restart(struct mprof_outfile *f) {
  MPROF_ASSERT(!f->is_lent && !f->is_gzip);
  f->written = f->reserved = f->buffered = 0;
  f->error = 0;
  if (!check(f))
    return f->error;
  long r = mprof_sys_ftruncate(f->fd, 0);
  if (r == 0)
    r = mprof_sys_rewind(f->fd);
  f->error = (int)r;
  return f->error;
}

// Makes the temporary name from the directory of f->path, the base name of
// f->path, and a suffix that no other process uses. Truncates the base name so
// that base name and suffix together have at most NAME_LIMIT bytes.
static void make_temp_name(struct mprof_outfile *f) {
  char suffix[64];
  struct mprof_text s = MPROF_TEXT(suffix);
  mprof_text_str(&s, ".");
  mprof_text_dec(&s, (unsigned)mprof_sys_getpid());
  mprof_text_str(&s, ".");
  mprof_text_hex(&s, mprof_sys_random());
  mprof_text_str(&s, ".tmp");

  const char *slash = strrchr(f->path, '/');
  size_t dir = slash == NULL ? 0 : (size_t)(slash + 1 - f->path);
  size_t base = strlen(f->path) - dir;
  if (base > NAME_LIMIT - s.len)
    base = NAME_LIMIT - s.len;
  struct mprof_text t = MPROF_TEXT(f->temp);
  mprof_text_mem(&t, f->path, dir + base);
  mprof_text_str(&t, suffix);
}

long mprof_outfile_move_up(long fd) {
  if (fd < 0 || fd > 2)
    return fd;
  long moved = mprof_sys_fcntl((int)fd, F_DUPFD_CLOEXEC, 3);
  mprof_sys_close((int)fd);
  return moved;
}

// Moves the descriptor fd to a number above those that some programs close in a
// loop. If the descriptor limit forbids that, moves fd to a number above 2.
// Returns the new number or -errno. Returns an error (fd < 0) unchanged.
static long move_high(long fd) {
  if (fd < 0)
    return fd;
  const long moved = mprof_sys_fcntl((int)fd, F_DUPFD_CLOEXEC, HIGH_FD);
  if (moved < 0)
    return mprof_outfile_move_up(fd);
  mprof_sys_close((int)fd);
  return moved;
}

static long create(struct mprof_outfile *f) {
  long fd = -EEXIST;
  for (int i = 0; i < 8 && fd == -EEXIST; i++) {
    make_temp_name(f);
    fd = mprof_sys_open(
        f->temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  }
  if (fd < 0)
    return fd;
  fd = move_high(fd);
  if (fd < 0)
    mprof_sys_unlink(f->temp);
  return fd;
}

static void set_fd(struct mprof_outfile *f, int fd) {
  f->fd = fd;
  mprof_sys_fstat_id(fd, &f->dev, &f->ino);
}

static bool map_buffer(struct mprof_outfile *f, size_t bytes) {
  f->buf = mprof_os_map(bytes);
  f->buf_bytes = bytes;
  return f->buf != NULL;
}

void mprof_outfile_set_pieces(struct mprof_outfile *f, size_t bytes,
                              void (*written_some)(void)) {
  f->piece_bytes = bytes;
  f->written_some = written_some;
}

void mprof_outfile_make_gzip(struct mprof_outfile *f) {
  // Magic number (2 bytes), method deflate, no flags, no modification time (4
  // bytes), no extra flags, operating system Unix.
  static const unsigned char header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
  f->is_gzip = true;
  write_raw(f, header, sizeof(header));
}

int mprof_outfile_open(struct mprof_outfile *f, const char *path, bool gzip) {
  memset(f, 0, sizeof(*f));
  if (path[0] == '\0')
    return -ENOENT;
  if (strlen(path) >= sizeof(f->path))
    return -ENAMETOOLONG;
  if (mprof_os_is_special(path))
    return -EOPNOTSUPP;
  strcpy(f->path, path);
  f->is_new = keep_others;
  if (!map_buffer(f, MPROF_OUTFILE_BUFFER))
    return -ENOMEM;
  long fd = create(f);
  if (fd < 0) {
    mprof_os_unmap(f->buf, f->buf_bytes);
    return (int)fd;
  }
  set_fd(f, (int)fd);
  if (gzip)
    mprof_outfile_make_gzip(f);
  return 0;
}

int mprof_outfile_open_stderr(struct mprof_outfile *f) {
  memset(f, 0, sizeof(*f));
  if (!mprof_message_has_stderr())
    return -EBADF;
  f->is_lent = true;
  set_fd(f, 2);
  return map_buffer(f, MPROF_OUTFILE_BUFFER) ? 0 : -ENOMEM;
}

int mprof_outfile_open_fd(struct mprof_outfile *f, int fd, int patience_ms) {
  memset(f, 0, sizeof(*f));
  f->is_lent = true;
  set_fd(f, fd);
  f->patience_ms = mprof_os_is_regular(fd) ? 0 : patience_ms;
  const size_t bytes =
      f->patience_ms != 0 ? MPROF_OUTFILE_BACKLOG : MPROF_OUTFILE_BUFFER;
  return map_buffer(f, bytes) ? 0 : -ENOMEM;
}

void mprof_outfile_put(struct mprof_outfile *f, const void *data, size_t len) {
  size_t head = head_room(f);
  size_t cap = (f->piece_bytes != 0 ? f->piece_bytes : f->buf_bytes) - head;
  const unsigned char *p = data;
  while (len > 0 && !f->is_muted) {
    if (f->buffered == cap)
      flush(f, false);
    size_t n = cap - f->buffered;
    if (n > len)
      n = len;
    memcpy(f->buf + head + f->buffered, p, n);
    f->buffered += n;
    p += n;
    len -= n;
  }
}

void mprof_outfile_text(struct mprof_outfile *f, const char *s) {
  mprof_outfile_put(f, s, strlen(s));
}

void mprof_outfile_dec(struct mprof_outfile *f, uint64_t v) {
  char digits[24];
  struct mprof_text t = MPROF_TEXT(digits);
  mprof_text_dec(&t, v);
  mprof_outfile_put(f, digits, t.len);
}

void mprof_outfile_hex(struct mprof_outfile *f, uint64_t v) {
  char digits[24];
  struct mprof_text t = MPROF_TEXT(digits);
  mprof_text_hex(&t, v);
  mprof_outfile_put(f, digits, t.len);
}

// Closes the temporary file. Then renames the temporary file, or removes it if
// an error has occurred. The result of close is checked, because a network file
// system reports some write errors only on close.
static void finish_file(struct mprof_outfile *f) {
  if (f->reserved != 0)
    mprof_sys_ftruncate(f->fd, (long)f->written);
  long r = mprof_sys_close(f->fd);
  if (r < 0 && r != -EINTR)
    mprof_outfile_fail(f, (int)r);
  if (f->error == 0) {
    r = f->is_new ? mprof_sys_rename_new(f->temp, f->path)
                  : mprof_sys_rename(f->temp, f->path);
    if (r < 0)
      mprof_outfile_fail(f, (int)r);
  }
  if (f->error != 0)
    mprof_sys_unlink(f->temp);
}

int mprof_outfile_close(struct mprof_outfile *f) {
  flush(f, true);
  if (f->is_gzip) {
    unsigned char trailer[8]; // in little-endian order
    for (int i = 0; i < 4; i++) {
      trailer[i] = (unsigned char)(f->crc >> 8 * i);
      trailer[4 + i] = (unsigned char)(f->plain_len >> 8 * i);
    }
    write_raw(f, trailer, sizeof(trailer));
  }
  if (!f->is_lent && is_same(f))
    finish_file(f);
  else if (!f->is_lent)
    lose(f);
  mprof_os_unmap(f->buf, f->buf_bytes);
  return f->error;
}

void mprof_outfile_forget(struct mprof_outfile *f) {
  if (!f->is_lent && is_same(f))
    mprof_sys_close(f->fd);
}

int mprof_write_file(const char *path, bool gzip,
                     int (*write)(struct mprof_outfile *f, void *arg),
                     void *arg) {
  struct mprof_outfile *f = mprof_os_map(sizeof(*f));
  if (f == NULL)
    return -ENOMEM;
  MPROF_ASSERT(mprof_lock_is_held(MPROF_RANK_WRITE));
  int error = path == NULL ? mprof_outfile_open_stderr(f)
                           : mprof_outfile_open(f, path, gzip);
  if (error == 0) {
    mprof_outfile_fail(f, write(f, arg));
    error = mprof_outfile_close(f);
  }
  MPROF_ASSERT(error <= 0);
  mprof_os_unmap(f, sizeof(*f));
  return error;
}

// --- descriptors that the program may close ---

int mprof_own_fd_set(struct mprof_own_fd *d, long fd) {
  *d = (struct mprof_own_fd)MPROF_NO_FD;
  fd = move_high(fd);
  if (fd < 0)
    return (int)fd;
  d->fd = (int)fd;
  const long r = mprof_sys_fstat_id(d->fd, &d->dev, &d->ino);
  if (r != 0)
    mprof_own_fd_close(d);
  return (int)r;
}

bool mprof_own_fd_is_open(const struct mprof_own_fd *d) {
  return d->fd >= 0 && mprof_sys_has_id(d->fd, d->dev, d->ino);
}

void mprof_own_fd_close(struct mprof_own_fd *d) {
  if (mprof_own_fd_is_open(d))
    mprof_sys_close(d->fd);
  d->fd = -1;
}
