// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills the headers and the trailer of gzip data. outfile.c writes them around
// the data. The data are in stored blocks, that is, they are not compressed,
// because a compressor would need a table of 64 KiB. Every gzip reader accepts
// stored blocks, and a profile is small even without compression.
//
// layout, with sizes in bytes:
// header (10), {block header (5), data (0 to 65535)}..., trailer (8)

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
// Returns the checksum (CRC-32) of some earlier data followed by the len bytes
// at data. crc: the checksum of the earlier data, 0 if there are none.
uint32_t mprof_gzip_crc32(uint32_t crc, const void *data, size_t len);

#endif // MPROF_RT_FILE_GZIP_H
