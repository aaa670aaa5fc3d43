// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: a text is cut at the end of its buffer. Numbers and times are printed
// in a readable form.
//
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o %t && %t

#include "core.h"

#include "sys/message.h"

#include <errno.h>

static char buf[64];
static struct mprof_text t;

static struct mprof_text *clear(void) {
  t = (struct mprof_text)MPROF_TEXT(buf);
  return &t;
}

int main(void) {
  char small[4];
  struct mprof_text s = MPROF_TEXT(small);
  mprof_text_str(&s, "ab");
  mprof_text_str(&s, "cdef");
  CHECK_STR(small, "abc");
  mprof_text_dec(&s, 1);
  CHECK_STR(small, "abc");

  // In text that comes from the program, valid UTF-8 characters are kept, and
  // control characters become question marks.
  mprof_text_clean(clear(), "a\n\t\x7f\xc3\xa4\xe2\x82\xac", 9);
  CHECK_STR(buf, "a???\xc3\xa4\xe2\x82\xac");
  mprof_text_clean(clear(), "\xf0\x9f\x98\x80|\xc3|\xa4|\xff|\xe2\x82", 13);
  CHECK_STR(buf, "\xf0\x9f\x98\x80|?|?|?|??");
  // An overlong encoding, a surrogate, and a value beyond the last character.
  mprof_text_clean(clear(),
                   "\xc0\x80 \xe0\x80\x80 \xed\xa0\x80 \xf4\x90\x80\x80", 15);
  CHECK_STR(buf, "?? ??? ??? ????");
  s.len = 0;
  mprof_text_clean(&s, "ab\xc3\xa4", 4);
  CHECK_STR(small, "ab");

  mprof_text_dec(clear(), UINT64_MAX);
  CHECK_STR(buf, "18446744073709551615");
  mprof_text_hex(clear(), 0xdeadbeef0);
  CHECK_STR(buf, "deadbeef0");
  mprof_text_fixed(clear(), 105, 2);
  CHECK_STR(buf, "1.05");
  mprof_text_fixed(clear(), 7, 0);
  CHECK_STR(buf, "7");
  mprof_text_grouped(clear(), 999);
  CHECK_STR(buf, "999");
  mprof_text_grouped(clear(), 1234567);
  CHECK_STR(buf, "1,234,567");
  // As terminal/quantity.c of the tool, and as in the report.
  mprof_text_size(clear(), 1023, true);
  CHECK_STR(buf, "1,023 B");
  mprof_text_size(clear(), 41558016, true);
  CHECK_STR(buf, "39.6 MiB");
  mprof_text_size(clear(), 41558016, false);
  CHECK_STR(buf, "39.63 MiB");
  mprof_text_size(clear(), 6250496, true);
  CHECK_STR(buf, "5.96 MiB");
  mprof_text_size(clear(), 725327, true);
  CHECK_STR(buf, "708 KiB");
  mprof_text_size(clear(), (1 << 20) - 1, true);
  CHECK_STR(buf, "1.00 MiB");
  mprof_text_size(clear(), UINT64_MAX, true);
  CHECK_STR(buf, "16384 PiB");

  mprof_text_utc(clear(), 0, false);
  CHECK_STR(buf, "1970-01-01 00:00:00 UTC");
  mprof_text_utc(clear(), 951782399ll * 1000000000, false);
  CHECK_STR(buf, "2000-02-28 23:59:59 UTC");
  mprof_text_utc(clear(), 951782400ll * 1000000000, false);
  CHECK_STR(buf, "2000-02-29 00:00:00 UTC");
  mprof_text_utc(clear(), 4107542400ll * 1000000000, true);
  CHECK_STR(buf, "21000301T000000");

  mprof_text_errno(clear(), -ENOSPC);
  CHECK_STR(buf, "no space left on device");
  mprof_text_errno(clear(), -EADDRINUSE);
  CHECK_STR(buf, "address already in use");
  mprof_text_errno(clear(), -4000);
  CHECK_STR(buf, "error 4000");
  return 0;
}
