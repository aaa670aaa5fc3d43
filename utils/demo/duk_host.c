// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A realistic program: a host in C that embeds a JavaScript engine (Duktape)
// and runs the scripts on its command line, each in a heap of its own. Scripts
// can call two functions:
//   print(value...)          a line on stdout
//   native_cache_put(key)    keeps a copy of key in a cache of the host that is
//                            never emptied: the leak that the profile shows

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "duktape.h"

struct cache_entry {
  struct cache_entry *next;
  size_t len;
  char key[];
};

static struct cache_entry *cache;

static void cache_put(const char *key, size_t len) {
  struct cache_entry *e = malloc(sizeof(*e) + len + 1);
  if (!e)
    abort();
  e->next = cache;
  e->len = len;
  memcpy(e->key, key, len + 1);
  cache = e;
}

static duk_ret_t native_cache_put(duk_context *ctx) {
  duk_size_t len;
  const char *key = duk_require_lstring(ctx, 0, &len);
  cache_put(key, len);
  return 0;
}

static duk_ret_t native_print(duk_context *ctx) {
  duk_push_string(ctx, " ");
  duk_insert(ctx, 0);
  duk_join(ctx, duk_get_top(ctx) - 1);
  puts(duk_safe_to_string(ctx, -1));
  return 0;
}

// Returns the file's text, which the caller must free, or NULL.
static char *read_file(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f)
    return NULL;
  size_t len = 0, cap = 4096;
  char *text = malloc(cap);
  while (text) {
    len += fread(text + len, 1, cap - len - 1, f);
    if (len < cap - 1)
      break;
    cap *= 2;
    char *bigger = realloc(text, cap);
    if (!bigger)
      free(text);
    text = bigger;
  }
  if (text)
    text[len] = '\0';
  fclose(f);
  return text;
}

static int run_script(const char *path) {
  char *text = read_file(path);
  if (!text) {
    perror(path);
    return 1;
  }
  duk_context *ctx = duk_create_heap_default();
  if (!ctx) {
    fprintf(stderr, "%s: no heap\n", path);
    free(text);
    return 1;
  }
  duk_push_c_function(ctx, native_print, DUK_VARARGS);
  duk_put_global_string(ctx, "print");
  duk_push_c_function(ctx, native_cache_put, 1);
  duk_put_global_string(ctx, "native_cache_put");
  int failed = duk_peval_string_noresult(ctx, text);
  if (failed)
    fprintf(stderr, "%s: the script failed\n", path);
  duk_destroy_heap(ctx);
  free(text);
  return failed != 0;
}

int main(int argc, char **argv) {
  int failed = argc < 2;
  for (int i = 1; i < argc; i++)
    failed |= run_script(argv[i]);
  size_t entries = 0, bytes = 0;
  for (const struct cache_entry *e = cache; e; e = e->next) {
    entries++;
    bytes += e->len;
  }
  printf("cache: %zu entries, %zu bytes\n", entries, bytes);
  return failed;
}
