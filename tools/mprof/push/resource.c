// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/resource.h"

#include "common/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

static char *copy(const char *text, size_t length) {
  char *c = zeroed(length + 1, 1);
  memcpy(c, text, length);
  return c;
}

// Sets an attribute, or replaces its value.
static void set(struct resource *r, const char *key, size_t key_length,
                const char *value) {
  for (size_t i = 0; i < r->count; i++) {
    struct attribute *a = &r->attributes[i];
    if (strlen(a->key) == key_length && memcmp(a->key, key, key_length) == 0) {
      free(a->value);
      a->value = copy(value, strlen(value));
      return;
    }
  }
  *APPEND(r->attributes, r->count, r->capacity) =
      (struct attribute){copy(key, key_length), copy(value, strlen(value))};
}

static void set_text(struct resource *r, const char *key, const char *value) {
  if (value[0] != '\0')
    set(r, key, strlen(key), value);
}

// The first mapping of a profile is the program's.
static void set_program(struct resource *r, const struct profile *p) {
  if (p->mapping_count == 0)
    return;
  const char *path = p->strings[p->mappings[0].file];
  const char *name = basename(path);
  set_text(r, "service.name", name);
  set_text(r, "process.executable.name", name);
  set_text(r, "process.executable.path", path);
}

struct resource resource_of(const struct profile *p, long pid,
                            const struct text_list *given) {
  struct resource r = {0};
  char host[256] = "", number[24];
  set_text(&r, "service.name", "unknown_service");
  set_program(&r, p);
  if (gethostname(host, sizeof host - 1) == 0)
    set_text(&r, "host.name", host);
  snprintf(number, sizeof number, "%ld", pid);
  if (pid > 0)
    set_text(&r, "process.pid", number);
  set_text(&r, "telemetry.sdk.name", "mprof");
  set_text(&r, "telemetry.sdk.language", "cpp");
  set_text(&r, "telemetry.sdk.version", MPROF_VERSION);
  for (size_t i = 0; i < given->count; i++) {
    const char *text = given->items[i], *equals = strchr(text, '=');
    set(&r, text, (size_t)(equals - text), equals + 1);
  }
  return r;
}

void resource_free(struct resource *r) {
  for (size_t i = 0; i < r->count; i++) {
    free(r->attributes[i].key);
    free(r->attributes[i].value);
  }
  free(r->attributes);
}

const char *resource_get(const struct resource *r, const char *key) {
  for (size_t i = 0; i < r->count; i++)
    if (strcmp(r->attributes[i].key, key) == 0)
      return r->attributes[i].value;
  return NULL;
}

// --- random ids ---

void random_id(uint8_t id[RANDOM_ID]) {
  static uint64_t count;
  if (getrandom(id, RANDOM_ID, 0) == RANDOM_ID)
    return;
  // Without random numbers, the time and the process are still unique.
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  const uint64_t words[] = {(uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec,
                            (uint64_t)getpid() << 32 ^ ++count};
  memcpy(id, words, RANDOM_ID);
}

void random_uuid(char text[UUID_SIZE]) {
  uint8_t id[RANDOM_ID];
  char *at = text;
  random_id(id);
  id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
  id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
  for (int i = 0; i < RANDOM_ID; i++)
    at += snprintf(at, (size_t)(text + UUID_SIZE - at), "%s%02x",
                   i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}
