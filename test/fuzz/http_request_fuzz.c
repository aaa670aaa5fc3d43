// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the parser of HTTP requests gets any bytes, in one piece or in two.
// It does not read or write outside of them. Its result is a known status, its
// texts lie in the input, and the path is a text without control characters. A
// request that is valid in one piece is incomplete or valid when only its
// beginning has arrived.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir new
// RUN: %python -B %S/Inputs/http_seeds.py seeds
// RUN: printf '"%%s"\n' 'Content-Length: ' 'Host: ' 'HTTP/1.1' '\x0d\x0a\x0d\x0a' \
// RUN:   'Transfer-Encoding: ' 'Connection: close' '%%2e' 'seconds=' 'Host: [::1]:80' \
// RUN:   'localhost' > words
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -DMPROF_RUNTIME \
// RUN:   %fuzzer \
// RUN:   -I%src/include -I%rt %s %rt/http/http_request.c -o fuzz
// RUN: %S/Inputs/run.sh -runs=40000 -max_len=9000 -dict=words new

#include "http/http_request.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      abort();                                                                 \
  } while (0)

static void check_text(struct mprof_http_text t, const char *data,
                       size_t size) {
  CHECK(t.p == NULL ? t.len == 0 : t.p >= data && t.len <= size);
  CHECK(t.p == NULL || t.p + t.len <= data + size);
}

static void check_request(const struct mprof_http_request *r, const char *data,
                          size_t size) {
  static const char *const names[] = {"seconds", "debug", "gc", ""};
  CHECK(r->head_len > 0 && r->head_len <= size);
  CHECK(r->head_len <= MPROF_HTTP_HEAD_MAX);
  CHECK(r->path >= data && r->path[0] == '/');
  CHECK(r->path + strlen(r->path) < data + r->head_len);
  for (const char *p = r->path; *p != '\0'; p++)
    CHECK((unsigned char)*p >= ' ' && *p != 0x7f);
  check_text(r->query, data, r->head_len);
  check_text(r->host, data, r->head_len);
  CHECK(r->host.p != NULL || r->is_http_1_0);
  mprof_http_is_address(r->host);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
    char *value = malloc(8); // AddressSanitizer finds writes beyond it
    if (mprof_http_parameter(r->query, names[i], value, 8))
      CHECK(memchr(value, 0, 8) != NULL);
    free(value);
  }
}

// Parses a copy of the bytes, because the parser changes them.
static int parse(const uint8_t *data, size_t size) {
  struct mprof_http_request r;
  char *copy = malloc(size + (size == 0));
  memcpy(copy, data, size);
  const int status = mprof_http_parse(copy, size, &r);
  CHECK(status == 0 || status == MPROF_HTTP_OK || status == 400 ||
        status == 431 || status == 501 || status == 505);
  CHECK(status != 0 || size < MPROF_HTTP_HEAD_MAX);
  if (status == MPROF_HTTP_OK)
    check_request(&r, copy, size);
  free(copy);
  return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const int whole = parse(data, size);
  const int part = parse(data, size / 2);
  if (whole == MPROF_HTTP_OK)
    CHECK(part == 0 || part == MPROF_HTTP_OK);
  return 0;
}
