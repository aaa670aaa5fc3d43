// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills buffers with the headers and the trailer of gzip data; see gzip.h. RFC
// 1952 specifies the gzip format. RFC 1951, section 3.2.4, specifies stored
// blocks.

#include "file/gzip.h"

#include <string.h>

static void put32(unsigned char *out, uint32_t v) {
  for (int i = 0; i < 4; i++, v >>= 8)
    out[i] = (unsigned char)v;
}

void mprof_gzip_header(unsigned char out[MPROF_GZIP_HEADER]) {
  // Bytes of the header: magic number (2 bytes), method deflate, no flags, no
  // modification time (4 bytes), no extra flags, operating system Unix.
  static const unsigned char header[MPROF_GZIP_HEADER] = {0x1f, 0x8b, 8, 0, 0,
                                                          0,    0,    0, 0, 3};
  memcpy(out, header, sizeof(header));
}

void mprof_gzip_block_header(unsigned char out[MPROF_GZIP_BLOCK_HEADER],
                             size_t len, bool is_last) {
  out[0] = is_last; // bit 0: last block; bits 1 and 2: block type 0, stored
  out[1] = (unsigned char)len;
  out[2] = (unsigned char)(len >> 8);
  out[3] = (unsigned char)~len;
  out[4] = (unsigned char)(~len >> 8);
}

void mprof_gzip_trailer(unsigned char out[MPROF_GZIP_TRAILER], uint32_t crc,
                        uint32_t plain_len) {
  put32(out, crc);
  put32(out + 4, plain_len);
}

// Processes four bits of the data at a time. The table for four bits has 16
// words; a table for eight bits would have 256 words.
uint32_t mprof_gzip_crc32(uint32_t crc, const void *data, size_t len) {
  static const uint32_t table[16] = {
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *p = data;
  crc = ~crc;
  for (size_t i = 0; i < len; i++) {
    crc ^= p[i];
    crc = crc >> 4 ^ table[crc & 15];
    crc = crc >> 4 ^ table[crc & 15];
  }
  return ~crc;
}
