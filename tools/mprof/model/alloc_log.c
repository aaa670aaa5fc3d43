// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "model/alloc_log.h"

#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

struct alloc_log *alloc_log_new(void) {
  struct alloc_log *log = zeroed(1, sizeof *log);
  // Frame LOG_TRUNCATED. No other frame is equal to it, because frame_set does
  // not contain it.
  *APPEND(log->frames, log->frame_count, log->capacity.frames) =
      (struct log_frame){0, LOG_NO_MODULE, NULL};
  return log;
}

void alloc_log_free(struct alloc_log *log) {
  for (size_t i = 0; i < log->module_count; i++)
    free((char *)log->modules[i].path);
  for (size_t i = 0; i < log->frame_count; i++)
    free(log->frames[i].python);
  free(log->modules);
  free(log->frames);
  free(log->stack_frames);
  free(log->stacks);
  free(log->threads);
  free(log->records);
  intern_free(&log->module_set);
  intern_free(&log->frame_set);
  intern_free(&log->stack_set);
  idmap_clear(&log->thread_set);
  free(log);
}

// An element that is searched.
struct wanted {
  const struct alloc_log *log;
  const struct log_module *module;
  struct log_frame frame;
  const uint32_t *frames;
  size_t count;
};

static bool is_module(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct log_module *a = w->module, *b = &w->log->modules[index];
  return a->start == b->start && a->limit == b->limit && a->bias == b->bias &&
         strcmp(a->build_id, b->build_id) == 0 && strcmp(a->path, b->path) == 0;
}

// Copies the texts into one piece of memory, which begins with the path.
static struct log_module copy_module(const struct log_module *m) {
  const size_t path = strlen(m->path) + 1, id = strlen(m->build_id) + 1;
  char *texts = zeroed(path + id, 1);
  memcpy(texts, m->path, path);
  memcpy(texts + path, m->build_id, id);
  struct log_module copy = *m;
  copy.path = texts;
  copy.build_id = texts + path;
  return copy;
}

uint32_t alloc_log_module(struct alloc_log *log, const struct log_module *m) {
  const uint64_t numbers[] = {m->start, m->limit, m->bias};
  uint32_t hash = intern_hash(0, numbers, sizeof numbers);
  hash = intern_hash(hash, m->path, strlen(m->path));
  const struct wanted w = {.log = log, .module = m};
  const uint32_t next = (uint32_t)log->module_count;
  const uint32_t index =
      intern_find(&log->module_set, hash, next, is_module, &w);
  if (index == next)
    *APPEND(log->modules, log->module_count, log->capacity.modules) =
        copy_module(m);
  return index;
}

static bool is_frame(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct log_frame *f = &w->log->frames[index];
  return f->address == w->frame.address && f->module == w->frame.module;
}

uint32_t alloc_log_frame(struct alloc_log *log, uint64_t address,
                         uint32_t module) {
  const struct wanted w = {.log = log, .frame = {address, module, NULL}};
  const uint32_t hash = intern_hash(module, &address, sizeof address),
                 next = (uint32_t)log->frame_count;
  const uint32_t index = intern_find(&log->frame_set, hash, next, is_frame, &w);
  if (index == next)
    *APPEND(log->frames, log->frame_count, log->capacity.frames) = w.frame;
  return index;
}

static bool is_stack(const void *arg, uint32_t index) {
  const struct wanted *w = arg;
  const struct log_stack *s = &w->log->stacks[index];
  return s->count == w->count &&
         (s->count == 0 || memcmp(&w->log->stack_frames[s->first], w->frames,
                                  s->count * sizeof *w->frames) == 0);
}

uint32_t alloc_log_stack(struct alloc_log *log, const uint32_t *frames,
                         size_t count) {
  const struct wanted w = {.log = log, .frames = frames, .count = count};
  const uint32_t hash = intern_hash(0, frames, count * sizeof *frames),
                 next = (uint32_t)log->stack_count;
  const uint32_t index = intern_find(&log->stack_set, hash, next, is_stack, &w);
  if (index != next)
    return index;
  *APPEND(log->stacks, log->stack_count, log->capacity.stacks) =
      (struct log_stack){log->stack_frame_count, count};
  log->stack_frames =
      grow(log->stack_frames, &log->capacity.stack_frames,
           log->stack_frame_count + count, sizeof *log->stack_frames);
  if (count)
    memcpy(&log->stack_frames[log->stack_frame_count], frames,
           count * sizeof *frames);
  log->stack_frame_count += count;
  return index;
}

uint32_t alloc_log_thread(struct alloc_log *log, uint64_t id) {
  size_t index;
  if (idmap_find(&log->thread_set, id, &index))
    return (uint32_t)index;
  index = log->thread_count;
  idmap_add(&log->thread_set, id, index);
  *APPEND(log->threads, log->thread_count, log->capacity.threads) = id;
  return (uint32_t)index;
}

struct log_record *alloc_log_record(struct alloc_log *log) {
  // The indices of records have 32 bits; UINT32_MAX is none of them.
  return log->record_count < UINT32_MAX
             ? APPEND(log->records, log->record_count, log->capacity.records)
             : NULL;
}
