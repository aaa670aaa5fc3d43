// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: gzip and Python read back exactly the bytes that MProf has written to
// a gzip file. The data ends before, at and after the end of a gzip block.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %unit -D_GNU_SOURCE %s %rtlib -o app && ./app
// RUN: gzip -t *.gz
// RUN: %python -c "import gzip, glob; bad = [n for n in glob.glob('*.gz') \
// RUN:   if gzip.open(n).read() != open(n[:-3], 'rb').read()]; \
// RUN:   assert not bad and len(glob.glob('*.gz')) == 8, bad"
// RUN: sh -c '! ls -a | grep tmp'

#include "core.h"

#include "file/outfile.h"

static unsigned char data[300000];

static void write_both(size_t len, size_t step) {
  char name[32];
  static struct mprof_outfile f;
  for (int gzip = 0; gzip <= 1; gzip++) {
    snprintf(name, sizeof(name), "%zu%s", len, gzip ? ".gz" : "");
    CHECK_EQ(mprof_outfile_open(&f, name, gzip), 0);
    for (size_t at = 0; at < len; at += step)
      mprof_outfile_put(&f, data + at, len - at < step ? len - at : step);
    CHECK_EQ(mprof_outfile_close(&f), 0);
  }
}

int main(void) {
  uint32_t x = 1;
  for (size_t i = 0; i < sizeof(data); i++)
    data[i] = (unsigned char)((x = x * 1103515245 + 12345) >> 16);
  size_t cap = MPROF_OUTFILE_BUFFER - 5; // data of a block beside its header
  write_both(0, 1);
  write_both(1, 1);
  write_both(cap - 1, 100);
  write_both(cap, cap);
  write_both(cap + 1, 7);
  write_both(2 * cap, 4096);
  write_both(2 * cap + 1, 2 * cap + 1);
  write_both(sizeof(data), 70000);
  return 0;
}
