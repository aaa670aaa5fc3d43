// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: while a collector is down for an hour, mprof push keeps at most its
// limit of bytes and drops the oldest requests, tries again in growing pauses,
// and prints one message. It waits as long as the collector asks.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir
// RUN: %clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=address,undefined \
// RUN:   -fno-sanitize-recover=undefined -I%src/test/Inputs -I%src/tools/mprof \
// RUN:   -I%src/tools -I%rt %s %tools_fuzzed -o outbox
// RUN: ./outbox

#include "check.h"

#include "push/outbox.h"

#include <stdlib.h>
#include <string.h>

enum { BODY = 1000, LIMIT = 10 * BODY, SECOND = 1000, HOUR_S = 3600 };

static int status, tries, messages, first_body;
static long retry_after_s;

// The collector.
void http_post(const struct http_post *post, struct http_reply *reply) {
  *reply =
      (struct http_reply){.status = status, .retry_after_s = retry_after_s};
  first_body = post->body->at[0];
  tries++;
}

static void say(const char *line) {
  (void)line;
  messages++;
}

static void put(struct outbox *o, int content) {
  struct letter l = {.url = strdup("http://x?q"), .content_type = "t"};
  l.body = (struct bytes){.at = calloc(1, BODY), .length = BODY};
  l.body.at[0] = (unsigned char)content;
  outbox_put(o, &l);
}

int main(void) {
  struct outbox o = {.limit = LIMIT, .say = say};
  status = 0; // no connection
  for (int s = 0; s < HOUR_S; s++) {
    put(&o, s);
    outbox_send(&o, (int64_t)s * SECOND);
    CHECK(o.bytes <= LIMIT);
  }
  CHECK_EQ(messages, 1);
  CHECK(tries > 50 && tries < 160);
  CHECK_EQ(o.waiting, 10);
  CHECK_EQ(o.dropped, HOUR_S - 10);

  // The collector is back: the newest requests arrive, in their order.
  status = 200;
  tries = 0;
  o.next_try_ms = 0;
  outbox_send(&o, (int64_t)HOUR_S * SECOND);
  CHECK_EQ(tries, 10);
  CHECK_EQ(first_body, (HOUR_S - 1) & 255);
  CHECK_EQ(o.sent, 10);
  CHECK_EQ(o.waiting, 0);
  CHECK_EQ(messages, 2);

  // Retry-After.
  status = 429;
  retry_after_s = 100;
  put(&o, 1);
  const int64_t now = (int64_t)(HOUR_S + 1) * SECOND;
  outbox_send(&o, now);
  tries = 0;
  status = 200;
  outbox_send(&o, now + 99 * SECOND);
  CHECK_EQ(tries, 0);
  outbox_send(&o, now + 100 * SECOND);
  CHECK_EQ(tries, 1);

  // A refused request does not hold up the others.
  status = 400;
  put(&o, 1);
  put(&o, 2);
  outbox_send(&o, now + 200 * SECOND);
  CHECK_EQ(o.waiting, 0);
  CHECK_EQ(o.refused, 2);
  put(&o, 3);
  outbox_free(&o);
  return 0;
}
