// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "names/worker.h"

#include "names/debug_file.h"
#include "names/demangle.h"
#include "names/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A longer name is not demangled, and is cut.
enum { MAX_NAME = 1 << 16 };

static void put(FILE *out, const void *bytes, size_t length) {
  fwrite(bytes, 1, length, out);
}

static void put_text(FILE *out, const char *text) {
  put(out, text, strnlen(text, MAX_NAME));
  fputc('\0', out);
}

static void put_state(FILE *out, enum worker_state state, const char *path,
                      const char *build_id) {
  fputc(MESSAGE_STATE, out);
  fputc((int)state, out);
  put_text(out, path ? path : "");
  put_text(out, build_id ? build_id : "");
}

static void put_frames(void *arg, size_t index, const struct name_frame *frames,
                       size_t count) {
  FILE *out = arg;
  const uint32_t numbers[] = {(uint32_t)index, (uint32_t)count};
  fputc(MESSAGE_FRAMES, out);
  put(out, numbers, sizeof numbers);
  for (size_t i = 0; i < count; i++) {
    const struct name_frame *f = &frames[i];
    const int64_t lines[] = {f->line, f->start_line};
    put(out, lines, sizeof lines);
    char *plain = strnlen(f->function, MAX_NAME) < MAX_NAME
                      ? demangle(f->function)
                      : NULL;
    put_text(out, plain && strlen(plain) < MAX_NAME ? plain : f->function);
    free(plain);
    put_text(out, f->file);
  }
}

static void put_used(void *arg, const char *path, const char *name) {
  FILE *out = arg;
  fputc(MESSAGE_USED, out);
  put_text(out, path);
  put_text(out, name);
}

static void find(const struct job *job, const struct places *places,
                 FILE *out) {
  struct place place;
  char *other = NULL;
  const enum place_state found =
      places_find(places, job->path, job->build_id, &place, &other);
  if (found != PLACE_FOUND) {
    put_state(out, found == PLACE_OTHER ? WORKER_OTHER : WORKER_MISSING,
              place.path, other);
    return;
  }
  struct debug_file *f = debug_file_open(&place, places);
  put_state(out, f ? WORKER_FOUND : WORKER_BAD, job->path, NULL);
  if (!f)
    return;
  debug_file_frames(f, job->offsets, job->count, job->has_addresses, put_frames,
                    out);
  debug_file_used(f, put_used, out);
}

void worker_run(const struct job *job, const struct places *places, int fd) {
  FILE *out = fdopen(fd, "w");
  if (!out)
    return;
  // libdwfl asks the servers of this variable by itself.
  if (!places->asks_servers)
    unsetenv("DEBUGINFOD_URLS");
  limits_begin(places->asks_servers);
  find(job, places, out);
  fputc(MESSAGE_END, out);
  fclose(out);
}
