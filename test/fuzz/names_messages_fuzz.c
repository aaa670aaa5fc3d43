// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the process that reads debug files may be in the hands of such a
// file. Whatever messages it sends, mprof does not read outside of them or leak
// memory, and the profile's indices stay valid.
//
// RUN: rm -rf %t.dir && mkdir %t.dir && cd %t.dir && mkdir new
// RUN: %python -B %S/Inputs/message_seeds.py seeds
// RUN: T=%src/tools/mprof && %clang -std=gnu11 -D_GNU_SOURCE -g -O1 \
// RUN:   %fuzzer \
// RUN:   -I$T -I%src/tools -I%src/rt %s %tools_fuzzed -ldw -lelf -lz -o fuzz
// RUN: %S/Inputs/run.sh -runs=6000 -max_len=1024 new

#include "names/lock_names.h"
#include "names/names.h"
#include "names/worker.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition))                                                          \
      abort();                                                                 \
  } while (0)

static struct slice input;

// Takes the place of the process: the answer to each question is the input.
struct slice worker_ask(const struct job *job, const struct places *places) {
  (void)places;
  CHECK(job->count || job->lock_count);
  // A copy ends where the messages end, so that a read behind it is found.
  struct slice copy = {malloc(input.length ? input.length : 1), input.length};
  memcpy(copy.at, input.at, input.length);
  return copy;
}

static void add_label(struct profile *p, const char *lock) {
  const uint32_t stack[] = {0, 1};
  const struct label label = {.key = profile_text(p, "lock"),
                              .str = profile_text(p, lock)};
  profile_sample(p, stack, 2, &label, 1, 1, (const int64_t[]){1});
}

static struct profile *new_profile(void) {
  struct profile *p = profile_new();
  p->types[p->type_count++] = (struct value_type){
      profile_text(p, "delay"), profile_text(p, "nanoseconds")};
  const struct mapping maps[] = {
      {.start = 0x1000, .limit = 0x9000, .file = profile_text(p, "/app")},
      {.start = 0x10000, .limit = 0x20000, .file = profile_text(p, "/lib")}};
  for (uint32_t i = 0; i < 2; i++) {
    const uint32_t mapping = profile_mapping(p, &maps[i]);
    for (uint64_t k = 0; k < 3; k++)
      profile_location(p,
                       &(struct location){.address = maps[i].start + 16 * k,
                                          .mapping = mapping},
                       NULL);
  }
  add_label(p, "0x9100");
  add_label(p, "0x20008");
  add_label(p, "accounts (0x9100)");
  return p;
}

static void check_profile(const struct profile *p) {
  for (size_t i = 0; i < p->location_count; i++) {
    const struct location *l = &p->locations[i];
    CHECK(l->first_line <= p->line_count);
    CHECK(l->line_count <= p->line_count - l->first_line);
    for (uint32_t k = 0; k < l->line_count; k++)
      CHECK(p->lines[l->first_line + k].function < p->function_count);
  }
  for (size_t i = 0; i < p->function_count; i++)
    CHECK(p->functions[i].name < p->string_count &&
          p->functions[i].file < p->string_count);
  for (size_t i = 0; i < p->label_count; i++)
    CHECK(p->labels[i].str < p->string_count);
}

static void note(void *arg, const char *text) {
  *(size_t *)arg += strlen(text);
}

static void note_file(void *arg, const char *path, const char *name) {
  *(size_t *)arg += strlen(path) + strlen(name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct profile *p = new_profile();
  size_t length = 0;
  const struct names_request request = {.mode = size % 2 ? NAMES_FILES
                                                         : NAMES_MISSING,
                                        .warn = note,
                                        .used = note_file,
                                        .arg = &length};
  input = (struct slice){(uint8_t *)data, size};
  CHECK(names_find(p, &request) <= p->location_count);
  lock_names_find(p, &request.places);
  check_profile(p);
  profile_free(p);
  return 0;
}
