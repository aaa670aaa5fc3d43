// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/outbox.h"

#include "common/memory.h"
#include "files/wire.h"
#include "push/otlp_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_PAUSE_MS = 1000, LAST_PAUSE_MS = 60000, SECOND_MS = 1000 };

static void free_letter(struct letter *l) {
  free(l->url);
  free(l->body.at);
  free(l);
}

static void take_first(struct outbox *o) {
  struct letter *l = o->first;
  o->first = l->next;
  if (!o->first)
    o->last = NULL;
  o->bytes -= l->body.length;
  o->waiting--;
  free_letter(l);
}

void outbox_put(struct outbox *o, const struct letter *letter) {
  struct letter *l = zeroed(1, sizeof *l);
  *l = *letter;
  l->next = NULL;
  *(o->last ? &o->last->next : &o->first) = l;
  o->last = l;
  o->bytes += l->body.length;
  o->waiting++;
  while (o->bytes > o->limit && o->first != o->last) {
    take_first(o);
    o->dropped++;
  }
}

// --- replies ---

// Returns whether the same request may succeed later. (OTLP: retryable
// response codes)
static bool may_try_again(const struct outbox *o, int status) {
  if (o->awaits_rights && (status == 401 || status == 403))
    return true;
  return status == 0 || status == 408 || status == 429 ||
         (status >= 500 && status != 501 && status != 505);
}

// A collector may accept a request, but reject some of its profiles.
static void look_for_rejected(struct outbox *o, const struct bytes *body) {
  struct wire w = {body->at, body->at ? body->at + body->length : body->at,
                   false};
  struct wire_field field, part;
  char line[512];
  while (wire_next(&w, &field)) {
    if (field.number != OTLP_RESPONSE_PARTIAL_SUCCESS ||
        field.type != WIRE_BYTES)
      return;
    int64_t rejected = 0;
    struct wire why = {NULL, NULL, false};
    while (wire_next(&field.message, &part))
      if (part.number == OTLP_PARTIAL_REJECTED)
        rejected = (int64_t)part.value;
      else if (part.number == OTLP_PARTIAL_MESSAGE && part.type == WIRE_BYTES)
        why = part.message;
    if (rejected <= 0)
      continue;
    snprintf(line, sizeof line,
             "the collector rejected %" PRId64 " profile%s: %.*s", rejected,
             rejected == 1 ? "" : "s", why.at ? (int)(why.end - why.at) : 0,
             why.at ? (const char *)why.at : "");
    if (o->refused == 0)
      o->say(line);
    o->refused += (unsigned long)rejected;
  }
}

// --- sending ---

// The length of the address without its query.
static int address_length(const struct letter *l) {
  return (int)strcspn(l->url, "?");
}

static void wait_after_failure(struct outbox *o, const struct http_reply *reply,
                               int64_t now_ms) {
  char line[1024];
  if (!o->is_down) {
    snprintf(line, sizeof line,
             "cannot send to %.*s: %s; keeping the profiles and trying again",
             address_length(o->first), o->first->url, reply->why);
    o->say(line);
    o->is_down = true;
    o->down_since_ms = now_ms;
    o->pause_ms = FIRST_PAUSE_MS;
  }
  // Many agents that have lost the same collector must not come back at once.
  const int64_t part = o->pause_ms / 2;
  o->next_try_ms = now_ms + part + (part ? random() % part : 0);
  const int64_t asked_ms = (int64_t)reply->retry_after_s * SECOND_MS;
  if (o->next_try_ms < now_ms + asked_ms)
    o->next_try_ms = now_ms + asked_ms;
  o->pause_ms *= 2;
  if (o->pause_ms > LAST_PAUSE_MS)
    o->pause_ms = LAST_PAUSE_MS;
}

static void note_success(struct outbox *o, int64_t now_ms) {
  char line[256];
  if (o->is_down) {
    snprintf(line, sizeof line,
             "the collector accepts profiles again after %lld s; %lu "
             "request%s dropped",
             (long long)((now_ms - o->down_since_ms) / SECOND_MS), o->dropped,
             o->dropped == 1 ? " was" : "s were");
    o->say(line);
  }
  o->is_down = false;
  o->sent++;
}

static void note_refusal(struct outbox *o, const struct http_reply *reply) {
  char line[1024];
  const bool has_hint = o->hint && reply->status == 400;
  snprintf(line, sizeof line, "%.*s refuses a profile: %s%s%s%s",
           address_length(o->first), o->first->url, reply->why,
           has_hint ? " (" : "", has_hint ? o->hint : "", has_hint ? ")" : "");
  if (o->refused++ == 0)
    o->say(line);
}

// Sends the first letter. Returns whether the next one may be sent.
static bool send_first(struct outbox *o, int64_t now_ms) {
  const struct letter *l = o->first;
  const struct http_post post = {.url = l->url,
                                 .content_type = l->content_type,
                                 .content_encoding =
                                     l->is_zipped ? "gzip" : NULL,
                                 .auth_file = o->auth_file,
                                 .ca_file = o->ca_file,
                                 .body = &l->body,
                                 .ends_since = o->ends_since};
  struct http_reply reply;
  http_post(&post, &reply);
  const bool is_good = reply.status >= 200 && reply.status <= 299;
  const bool must_wait = !is_good && may_try_again(o, reply.status);
  if (must_wait) {
    wait_after_failure(o, &reply, now_ms);
  } else {
    if (is_good) {
      note_success(o, now_ms);
      look_for_rejected(o, &reply.body);
    } else {
      note_refusal(o, &reply);
    }
    take_first(o);
  }
  free(reply.body.at);
  return !must_wait;
}

void outbox_send(struct outbox *o, int64_t now_ms) {
  while (o->first && now_ms >= o->next_try_ms && send_first(o, now_ms))
    ;
}

void outbox_free(struct outbox *o) {
  while (o->first)
    take_first(o);
}
