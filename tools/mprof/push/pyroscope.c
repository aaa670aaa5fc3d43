// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "push/pyroscope.h"

#include "files/wire.h"
#include "push/resource.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

// The numbers of the fields.
enum {
  REQUEST_SERIES = 1,
  SERIES_LABELS = 1,
  SERIES_SAMPLES = 2,
  PAIR_NAME = 1,
  PAIR_VALUE = 2,
  RAW_PROFILE = 1,
  RAW_ID = 2
};

// The names that Pyroscope gives the profiles of Go programs, so that its pages
// know their values.
static const char *name_of(const char *kind) {
  return strcmp(kind, "heap") == 0      ? "memory"
         : strcmp(kind, "threads") == 0 ? "goroutines"
                                        : kind;
}

static void put_pair(struct put *out, const char *name, const char *value) {
  const size_t start = begin_message(out, SERIES_LABELS);
  put_text(out, PAIR_NAME, name);
  put_text(out, PAIR_VALUE, value);
  end_message(out, start);
}

// Names of labels have only letters, digits and underscores.
static void clean(char name[128], const char *key) {
  snprintf(name, 128, "%s%s", isdigit((unsigned char)key[0]) ? "_" : "", key);
  for (char *c = name; *c != '\0'; c++)
    *c = isalnum((unsigned char)*c) ? *c : '_';
}

struct bytes pyroscope_request(const char *kind, const struct resource *r,
                               const struct bytes *zipped) {
  struct put out = {{0}, 0};
  char name[128], id[UUID_SIZE];
  const size_t series = begin_message(&out, REQUEST_SERIES);
  put_pair(&out, "__name__", name_of(kind));
  for (size_t i = 0; i < r->count; i++) {
    clean(name, r->attributes[i].key);
    put_pair(&out, name, r->attributes[i].value);
  }
  const size_t sample = begin_message(&out, SERIES_SAMPLES);
  put_data(&out, RAW_PROFILE, zipped->at, zipped->length);
  random_uuid(id);
  put_text(&out, RAW_ID, id);
  end_message(&out, sample);
  end_message(&out, series);
  return out.bytes;
}

static void put_escaped(FILE *out, const char *text) {
  for (; *text != '\0'; text++)
    if (isalnum((unsigned char)*text) || strchr("._-", *text))
      fputc(*text, out);
    else
      fprintf(out, "%%%02X", (unsigned char)*text);
}

char *pyroscope_ingest_url(const char *base, const struct profile *p,
                           const struct resource *r) {
  char *url = NULL, name[128];
  size_t size;
  const char *separator = "{";
  FILE *out = open_memstream(&url, &size);
  if (!out)
    return NULL;
  const char *service = resource_get(r, "service.name");
  fprintf(out,
          "%s%sformat=pprof&spyName=mprof&from=%lld&until=%lld&name=", base,
          strchr(base, '?') ? "&" : "?",
          (long long)((p->time_ns - p->duration_ns) / 1000000000),
          (long long)(p->time_ns / 1000000000));
  put_escaped(out, service ? service : "mprof");
  for (size_t i = 0; i < r->count; i++) {
    if (strcmp(r->attributes[i].key, "service.name") == 0)
      continue;
    clean(name, r->attributes[i].key);
    put_escaped(out, separator);
    put_escaped(out, name);
    put_escaped(out, "=");
    put_escaped(out, r->attributes[i].value);
    separator = ",";
  }
  if (separator[0] == ',')
    put_escaped(out, "}");
  fclose(out);
  return url;
}
