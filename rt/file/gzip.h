// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the headers and the trailer of gzip data with stored (uncompressed)
// blocks. outfile.c writes these headers and the trailer around the data.
// Stored blocks are used because they need no memory and no table of 64 KiB.
// Every gzip reader accepts stored blocks, and a profile is small even without
// compression.
//
// layout: header(10) { block header(5) data(0..65535) }... trailer(8)

#ifndef MPROF_RT_FILE_GZIP_H
#define MPROF_RT_FILE_GZIP_H

#include "sys/base.h"

enum {
  MPROF_GZIP_HEADER = 10,
  MPROF_GZIP_BLOCK_HEADER = 5,
  MPROF_GZIP_BLOCK_MAX = 65535,
  MPROF_GZIP_TRAILER = 8,
};

void mprof_gzip_header(unsigned char out[MPROF_GZIP_HEADER]);
void mprof_gzip_block_header(unsigned char out[MPROF_GZIP_BLOCK_HEADER],
                             size_t len, bool is_last);
void mprof_gzip_trailer(unsigned char out[MPROF_GZIP_TRAILER], uint32_t crc,
                        uint32_t plain_len);
// Returns the checksum of earlier data followed by data. crc is the checksum of
// the earlier data, 0 if there is none.
uint32_t mprof_gzip_crc32(uint32_t crc, const void *data, size_t len);

#endif // MPROF_RT_FILE_GZIP_H
