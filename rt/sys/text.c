// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds text without stdio; see message.h.

#include "sys/message.h"

#include <errno.h>
#include <string.h>

void mprof_text_mem(struct mprof_text *t, const char *s, size_t len) {
  if (t->cap == 0)
    return;
  size_t room = t->cap - 1 - t->len;
  if (len > room)
    len = room;
  memcpy(t->buf + t->len, s, len);
  t->len += len;
  t->buf[t->len] = '\0';
}

void mprof_text_str(struct mprof_text *t, const char *s) {
  mprof_text_mem(t, s, strlen(s));
}

size_t mprof_utf8_length(const unsigned char *s, size_t len) {
  static const struct {
    // Each row describes characters whose first byte is in [first, last]. The
    // second byte of the character must be in [from, to]. The character has
    // `length` bytes.
    unsigned char first, last, from, to;
    unsigned char length;
  } forms[] = {{0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
               {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3},
               {0xee, 0xef, 0x80, 0xbf, 3}, {0xf0, 0xf0, 0x90, 0xbf, 4},
               {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
  if (s[0] < 0x80)
    return 1;
  for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
    if (s[0] < forms[i].first || s[0] > forms[i].last)
      continue;
    size_t n = forms[i].length;
    if (n > len || s[1] < forms[i].from || s[1] > forms[i].to)
      return 0;
    for (size_t k = 2; k < n; k++)
      if (s[k] >> 6 != 2)
        return 0;
    return n;
  }
  return 0;
}

void mprof_text_clean(struct mprof_text *t, const char *s, size_t len) {
  for (size_t i = 0, n; i < len; i += n) {
    const unsigned char *c = (const unsigned char *)s + i;
    n = mprof_utf8_length(c, len - i);
    bool is_text = n > 0 && *c >= ' ' && *c != 0x7f;
    n = n > 0 ? n : 1;
    if (t->cap - t->len <= n)
      return; // there is no room for the whole character
    mprof_text_mem(t, is_text ? s + i : "?", is_text ? n : 1);
  }
}

static void put_base(struct mprof_text *t, uint64_t v, unsigned base) {
  char digits[20];
  size_t i = sizeof(digits);
  do {
    digits[--i] = "0123456789abcdef"[v % base];
    v /= base;
  } while (v != 0);
  mprof_text_mem(t, digits + i, sizeof(digits) - i);
}

void mprof_text_dec(struct mprof_text *t, uint64_t v) { put_base(t, v, 10); }
void mprof_text_hex(struct mprof_text *t, uint64_t v) { put_base(t, v, 16); }

void mprof_text_address(struct mprof_text *t, const char *name, uint64_t v) {
  const bool has_name = *name != '\0';
  mprof_text_str(t, name);
  mprof_text_str(t, has_name ? " (0x" : "0x");
  mprof_text_hex(t, v);
  mprof_text_str(t, has_name ? ")" : "");
}

// Appends v as exactly width decimal digits, with leading zeros.
static void put_padded(struct mprof_text *t, uint64_t v, int width) {
  char digits[20];
  if (width > (int)sizeof(digits))
    width = sizeof(digits);
  for (int i = width; i-- > 0; v /= 10)
    digits[i] = '0' + v % 10;
  mprof_text_mem(t, digits, width);
}

void mprof_text_fixed(struct mprof_text *t, uint64_t v, int digits) {
  uint64_t unit = 1;
  for (int i = 0; i < digits; i++)
    unit *= 10;
  mprof_text_dec(t, v / unit);
  if (digits <= 0)
    return;
  mprof_text_str(t, ".");
  put_padded(t, v % unit, digits);
}

void mprof_text_grouped(struct mprof_text *t, uint64_t v) {
  char plain[24];
  struct mprof_text p = MPROF_TEXT(plain);
  mprof_text_dec(&p, v);
  for (size_t i = 0; i < p.len; i++) {
    if (i > 0 && (p.len - i) % 3 == 0)
      mprof_text_str(t, ",");
    mprof_text_mem(t, plain + i, 1);
  }
}

void mprof_text_size(struct mprof_text *t, uint64_t bytes, bool is_brief) {
  static const char *const units[] = {" B",   " KiB", " MiB",
                                      " GiB", " TiB", " PiB"};
  // Three digits of 1023.6 KiB would be 1024 KiB, so that is 1.00 MiB.
  const uint64_t most = 1024 * 1024 - (is_brief ? 512 : 0);
  if (bytes < 1024) {
    mprof_text_grouped(t, bytes);
    mprof_text_str(t, units[0]);
    return;
  }
  int unit = 1;
  for (; unit < 5 && bytes >= most; unit++)
    bytes /= 1024;
  const uint64_t hundredths = (bytes * 100 + 512) / 1024;
  if (!is_brief || hundredths < 1000)
    mprof_text_fixed(t, hundredths, 2);
  else if ((bytes * 10 + 512) / 1024 < 1000)
    mprof_text_fixed(t, (bytes * 10 + 512) / 1024, 1);
  else
    mprof_text_dec(t, (bytes + 512) / 1024);
  mprof_text_str(t, units[unit]);
}

// Converts days since 1970-01-01 to a date. In this computation, a year begins
// in March, so that the leap day is the last day of a year. The time_t
// functions of libc are not used, because they read the time zone file.
static void split_days(int64_t days, int64_t *year, int *month, int *day) {
  days += 719468; // days is now counted from 0000-03-01
  int64_t era = days / 146097;
  int64_t doe = days % 146097; // day within the era of 400 years
  int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
  int mp = (int)((5 * doy + 2) / 153);
  *day = (int)(doy - (153 * mp + 2) / 5 + 1);
  *month = mp < 10 ? mp + 3 : mp - 9;
  *year = yoe + era * 400 + (*month <= 2);
}

void mprof_text_utc(struct mprof_text *t, int64_t time_ns, bool for_name) {
  int64_t sec = time_ns < 0 ? 0 : time_ns / 1000000000;
  int64_t year;
  int month, day;
  split_days(sec / 86400, &year, &month, &day);
  int64_t rest = sec % 86400;
  const char *dash = for_name ? "" : "-", *colon = for_name ? "" : ":";
  put_padded(t, year, 4);
  mprof_text_str(t, dash);
  put_padded(t, month, 2);
  mprof_text_str(t, dash);
  put_padded(t, day, 2);
  mprof_text_str(t, for_name ? "T" : " ");
  put_padded(t, rest / 3600, 2);
  mprof_text_str(t, colon);
  put_padded(t, rest / 60 % 60, 2);
  mprof_text_str(t, colon);
  put_padded(t, rest % 60, 2);
  if (!for_name)
    mprof_text_str(t, " UTC");
}

// The runtime cannot use strerror, because strerror takes locks for the locale.
// The table has the errors that may occur when files are opened, written and
// renamed, and when memory is mapped.
void mprof_text_errno(struct mprof_text *t, int error) {
  static const struct {
    int number; // errno value
    char text[36];
  } table[] = {
      {EPERM, "operation not permitted"},
      {ENOENT, "no such file or directory"},
      {EINTR, "interrupted"},
      {EIO, "input/output error"},
      {ENXIO, "no such device or address"},
      {EBADF, "bad file descriptor"},
      {EAGAIN, "resource temporarily unavailable"},
      {ENOMEM, "out of memory"},
      {EACCES, "permission denied"},
      {EBUSY, "device or resource busy"},
      {EEXIST, "file exists"},
      {ENODEV, "no such device"},
      {ENOTDIR, "not a directory"},
      {EISDIR, "is a directory"},
      {EINVAL, "invalid argument"},
      {ENFILE, "too many open files in the system"},
      {EMFILE, "too many open files"},
      {EFBIG, "file too large"},
      {ENOSPC, "no space left on device"},
      {EROFS, "read-only file system"},
      {EPIPE, "broken pipe"},
      {ENAMETOOLONG, "file name too long"},
      {ENOSYS, "not supported by the system"},
      {ELOOP, "too many levels of symbolic links"},
      {EOPNOTSUPP, "not a regular file"},
      {ETIMEDOUT, "timed out"},
      {EDQUOT, "disk quota exceeded"},
      {ESTALE, "stale file handle"},
      {EPROTO, "malformed data"},
      {ESRCH, "no such process"},
      {E2BIG, "argument list too long"},
      {ENOEXEC, "not an executable file"},
      {ECHILD, "no child process"},
      {ETXTBSY, "the file is being executed"},
      {EADDRINUSE, "address already in use"},
      {EADDRNOTAVAIL, "not an address of this computer"},
      {EAFNOSUPPORT, "address family not supported"},
      {ENOBUFS, "no buffer space available"},
      {ECONNREFUSED, "connection refused"},
      {ECONNRESET, "connection reset"},
  };
  for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
    if (table[i].number == -error) {
      mprof_text_str(t, table[i].text);
      return;
    }
  mprof_text_str(t, "error ");
  mprof_text_dec(t, -(int64_t)error);
}
