// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/mail.h"

#include "files/write_bytes.h"
#include "push/otlp.h"
#include "push/pyroscope.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char otlp_page[] = "/v1development/profiles";
static const char pyroscope_page[] = "/push.v1.PusherService/Push";
static const char ingest_page[] = "/ingest";

static bool ends_with(const char *text, const char *end) {
  const size_t n = strlen(text), m = strlen(end);
  return n >= m && strcmp(text + n - m, end) == 0;
}

// Appends the page to the address, unless the address has it already.
static char *with_page(const char *address, const char *page) {
  size_t length = strlen(address);
  char *url = malloc(length + strlen(page) + 1);
  if (!url)
    return NULL;
  strcpy(url, address);
  if (ends_with(url, page))
    return url;
  while (length && url[length - 1] == '/')
    url[--length] = '\0';
  return strcat(url, page);
}

const char *mail_set_address(struct mail *m, const char *address,
                             bool is_otlp) {
  if (strncmp(address, "http://", 7) != 0 &&
      strncmp(address, "https://", 8) != 0)
    return "the address must begin with http:// or https://";
  m->form = is_otlp                           ? MAIL_OTLP
            : ends_with(address, ingest_page) ? MAIL_INGEST
                                              : MAIL_PYROSCOPE;
  m->url = with_page(address, is_otlp                  ? otlp_page
                              : m->form == MAIL_INGEST ? ingest_page
                                                       : pyroscope_page);
  return m->url ? NULL : "out of memory";
}

// Compresses the body of the letter.
static void zip(struct letter *l) {
  const struct bytes zipped = bytes_zip(&l->body);
  free(l->body.at);
  l->body = zipped;
  l->is_zipped = true;
}

static struct bytes copy(const struct bytes *bytes) {
  struct bytes c = {.at = malloc(bytes->length + 1), .length = bytes->length};
  if (c.at)
    memcpy(c.at, bytes->at, bytes->length);
  else
    c.length = 0;
  return c;
}

void mail_profile(struct mail *m, struct profile *p, const char *kind,
                  const struct bytes *zipped, long pid) {
  if (p->sample_count == 0)
    return;
  struct resource r = resource_of(p, pid, &m->resource);
  struct letter l = {.content_type = "application/x-protobuf"};
  switch (m->form) {
  case MAIL_OTLP:
    l.url = strdup(m->url);
    l.body = otlp_request(p, &r);
    zip(&l);
    break;
  case MAIL_PYROSCOPE:
    l.url = strdup(m->url);
    l.content_type = "application/proto";
    l.body = pyroscope_request(kind, &r, zipped);
    break;
  case MAIL_INGEST:
    l.url = pyroscope_ingest_url(m->url, p, &r);
    l.content_type = "application/octet-stream";
    l.body = copy(zipped);
    break;
  }
  resource_free(&r);
  outbox_put(&m->box, &l);
}

// --- sending ---

enum { SECOND_MS = 1000, MS_NS = 1000000, PAUSE_MS = 100 };

int64_t mail_now_ms(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * SECOND_MS + t.tv_nsec / MS_NS;
}

void mail_send_until(struct mail *m, int64_t end_ms) {
  const struct timespec pause = {0, PAUSE_MS * MS_NS};
  for (int64_t now; m->box.first && (now = mail_now_ms()) < end_ms;) {
    outbox_send(&m->box, now);
    if (m->box.first)
      nanosleep(&pause, NULL);
  }
}
