// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/collector.h"

#include "files/bytes.h"
#include "push/ending.h"
#include "push/otlp.h"
#include "push/pyroscope.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char otlp_page[] = "/v1development/profiles";
static const char pyroscope_page[] = "/push.v1.PusherService/Push";
static const char ingest_page[] = "/ingest";

// Returns the length of the address without slashes at its end and without a
// query.
static size_t path_length(const char *address) {
  size_t length = strcspn(address, "?#");
  while (length && address[length - 1] == '/')
    length--;
  return length;
}

static bool has_page(const char *address, const char *page) {
  const size_t n = path_length(address), m = strlen(page);
  return n >= m && memcmp(address + n - m, page, m) == 0;
}

// Appends the page to the path of the address, unless the address has it
// already. A query of the address stays, and a fragment does not.
static char *with_page(const char *address, const char *page) {
  const size_t length = path_length(address);
  const char *query = strchr(address, '?');
  const size_t query_length = query ? strcspn(query, "#") : 0;
  char *url = malloc(length + strlen(page) + query_length + 1);
  if (!url)
    return NULL;
  memcpy(url, address, length);
  url[length] = '\0';
  if (!has_page(address, page))
    strcat(url, page);
  return query ? strncat(url, query, query_length) : url;
}

const char *collector_set_address(struct collector *m, const char *address,
                                  bool is_otlp) {
  if (strncmp(address, "http://", 7) != 0 &&
      strncmp(address, "https://", 8) != 0)
    return "the address must begin with http:// or https://";
  m->form = is_otlp                          ? COLLECTOR_OTLP
            : has_page(address, ingest_page) ? COLLECTOR_INGEST
                                             : COLLECTOR_PYROSCOPE;
  m->url = with_page(address, is_otlp                       ? otlp_page
                              : m->form == COLLECTOR_INGEST ? ingest_page
                                                            : pyroscope_page);
  if (m->form == COLLECTOR_OTLP)
    m->box.hint = "OTLP profiles need the Collector 0.150 or later";
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

void collector_add_profile(struct collector *m, struct profile *p,
                           const char *kind, const struct bytes *zipped,
                           long pid) {
  if (p->sample_count == 0)
    return;
  struct resource r = resource_of(p, pid, &m->resource);
  struct letter l = {.content_type = "application/x-protobuf"};
  switch (m->form) {
  case COLLECTOR_OTLP:
    l.url = strdup(m->url);
    l.body = otlp_request(p, &r);
    zip(&l);
    break;
  case COLLECTOR_PYROSCOPE:
    l.url = strdup(m->url);
    l.content_type = "application/proto";
    l.body = pyroscope_request(kind, &r, zipped);
    break;
  case COLLECTOR_INGEST:
    l.url = pyroscope_ingest_url(m->url, p, &r);
    l.content_type = "application/octet-stream";
    l.body = copy(zipped);
    break;
  }
  resource_free(&r);
  outbox_put(&m->box, &l);
}

// --- sending ---

enum { MS_NS = 1000000, PAUSE_MS = 100 };

void collector_send_until(struct collector *m, int64_t end_ms) {
  const struct timespec pause = {0, PAUSE_MS * MS_NS};
  for (int64_t now; m->box.first && (now = ending_now_ms()) < end_ms;) {
    outbox_send(&m->box, now);
    if (m->box.first)
      nanosleep(&pause, NULL);
  }
}
