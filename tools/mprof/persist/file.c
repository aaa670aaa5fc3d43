// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the head and the notes of the file of the option persist; see file.h.
// Structs are copied out of the file before their members are used, because a
// damaged file may have an address without alignment.

#include "persist/file.h"

#include "bucket/bucket.h"
#include "common/memory.h"
#include "symbolize/symbolizer_protocol.h"
#include "sys/persistent.h"
#include "sys/stats.h"
#include "unwind/python.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- the file ---

const uint8_t *persist_at(struct persist_file *f, uint64_t address,
                          size_t length) {
  const uint64_t offset = address - f->head.base;
  if (address < f->head.base || offset > f->bytes->length ||
      length > f->bytes->length - offset) {
    f->is_damaged = true;
    return NULL;
  }
  return f->bytes->at + offset;
}

bool persist_copy(struct persist_file *f, uint64_t address, void *to,
                  size_t length) {
  const uint8_t *from = persist_at(f, address, length);
  if (from)
    memcpy(to, from, length);
  return from != NULL;
}

size_t persist_longest_list(const struct persist_file *f) {
  return f->bytes->length / 16;
}

// The magic without its last letter, which is the version.
enum { ANY_VERSION = sizeof MPROF_PERSIST_MAGIC - 2 };

bool persist_is(const struct bytes *bytes) {
  return bytes->length >= sizeof MPROF_PERSIST_MAGIC &&
         memcmp(bytes->at, MPROF_PERSIST_MAGIC, ANY_VERSION) == 0 &&
         bytes->at[ANY_VERSION + 1] == '\0';
}

static const char *read_head(struct persist_file *f) {
  struct mprof_persist_head *h = &f->head;
  static const char other[] =
      "written by another version of MProf; use its mprof";
  if (!persist_is(f->bytes))
    return "not a file of the option persist";
  if (memcmp(f->bytes->at, MPROF_PERSIST_MAGIC, sizeof MPROF_PERSIST_MAGIC) !=
      0)
    return other;
  if (f->bytes->length < sizeof *h)
    return "the file ends in its head; nothing was recorded";
  memcpy(h, f->bytes->at, sizeof *h);
  h->version[sizeof h->version - 1] = '\0';
  h->program[sizeof h->program - 1] = '\0';
  if (h->head_size != sizeof *h ||
      h->bucket_size != sizeof(struct mprof_bucket) ||
      h->cell_size != sizeof(struct mprof_cell) ||
      h->stats_len != MPROF_STAT_COUNT)
    return other;
  if (h->check != mprof_persist_check(h))
    return "the head of the file is damaged";
  return NULL;
}

// --- notes ---

static void add_note(struct persist_notes *notes, struct persist_note note) {
  *APPEND(notes->v, notes->count, notes->capacity) = note;
}

const struct persist_note *persist_find_note(const struct persist_notes *notes,
                                             uint64_t key) {
  for (size_t i = 0; i < notes->count; i++)
    if (notes->v[i].key == key)
      return &notes->v[i];
  return NULL;
}

static bool is_text(const uint8_t *data, size_t length) {
  return length > 0 && memchr(data, '\0', length) == data + length - 1;
}

static void add_module(struct persist_file *f, const uint8_t *data,
                       size_t length) {
  struct persist_module m = {0};
  if (length != sizeof m.note)
    return;
  memcpy(&m.note, data, length);
  m.note.file[sizeof m.note.file - 1] = '\0';
  m.note.build_id[sizeof m.note.build_id - 1] = '\0';
  m.shown = m.note.start + m.note.shift;
  if (m.note.limit <= m.note.start ||
      m.shown > UINT64_MAX - (m.note.limit - m.note.start)) {
    f->is_damaged = true;
    return;
  }
  *APPEND(f->modules, f->module_count, f->module_capacity) = m;
}

// note: its data are those of a struct mprof_persist_python without pc.
static void add_python(struct persist_file *f, const uint8_t *data,
                       struct persist_note note) {
  memcpy(&note.key, data, sizeof note.key);
  const uint8_t *const name = note.data + 8;
  const uint8_t *const file =
      note.length > 8 ? memchr(name, '\0', note.length - 8) : NULL;
  if (!file || !mprof_python_has(note.key) ||
      !is_text(file + 1, (size_t)(note.data + note.length - file) - 1)) {
    f->is_damaged = true;
    return;
  }
  if (!f->python)
    f->python = zeroed(MPROF_PYTHON_LINES, sizeof *f->python);
  f->python[mprof_python_index(note.key)] = note;
}

static void read_note(struct persist_file *f,
                      const struct mprof_persist_note *head,
                      const uint8_t *data) {
  uint32_t set;
  struct persist_note note = {.data = data + 8, .length = head->len - 8};
  if (head->type == MPROF_NOTE_MODULE) {
    add_module(f, data, head->len);
  } else if (head->len < 8) {
    f->is_damaged = true;
  } else if (head->type == MPROF_NOTE_LABELS) {
    memcpy(&set, data, sizeof set);
    note.data = data;
    note.length = head->len;
    if (!f->label_sets)
      f->label_sets = zeroed(PERSIST_LABEL_SETS, sizeof *f->label_sets);
    if (set < PERSIST_LABEL_SETS)
      f->label_sets[set] = note;
  } else if (head->type == MPROF_NOTE_PYTHON) {
    add_python(f, data, note);
  } else if (is_text(note.data, note.length)) {
    memcpy(&note.key, data, sizeof note.key);
    // The newest name of a lock comes first.
    if (head->type == MPROF_NOTE_LOCK)
      add_note(&f->locks, note);
    else if (head->type == MPROF_NOTE_PROFILE)
      add_note(&f->names, note);
    else if (head->type == MPROF_NOTE_HOOK &&
             !persist_find_note(&f->hooks, note.key))
      add_note(&f->hooks, note);
  }
}

static void read_notes(struct persist_file *f) {
  uint64_t next = f->head.roots[MPROF_PERSIST_NOTES];
  for (size_t left = persist_longest_list(f); next && left > 0; left--) {
    struct mprof_persist_note head;
    if (!persist_copy(f, next, &head, sizeof head))
      return;
    const uint8_t *data = persist_at(f, next + sizeof head, head.len);
    if (data)
      read_note(f, &head, data);
    next = head.next;
  }
}

uint64_t persist_object(const struct persist_file *f, uint32_t handle) {
  return f->head.base + (uint64_t)handle * 64;
}

const uint8_t *persist_next_label(const uint8_t *p, const uint8_t *end,
                                  const char **key, const char **value) {
  const uint8_t *key_end = memchr(p, '\0', (size_t)(end - p));
  const uint8_t *at = key_end ? key_end + 1 : end;
  const uint8_t *value_end = memchr(at, '\0', (size_t)(end - at));
  *key = (const char *)p;
  *value = (const char *)at;
  return value_end ? value_end + 1 : NULL;
}

// --- modules ---

const struct persist_module *persist_find_module(const struct persist_file *f,
                                                 uint64_t address) {
  for (size_t i = 0; i < f->module_count; i++) {
    const struct persist_module *m = &f->modules[i];
    if (address - m->shown < m->note.limit - m->note.start)
      return m;
  }
  return NULL;
}

uint64_t persist_shown(const struct persist_file *f, uint64_t pc,
                       uint32_t gone) {
  for (size_t i = 0; gone && i < f->module_count; i++) {
    const struct mprof_persist_module *m = &f->modules[i].note;
    if (m->from < gone && gone <= m->to &&
        pc - 1 - m->start < m->limit - m->start)
      return pc + m->shift;
  }
  return pc;
}

uint32_t persist_mapping(struct profile *p, const struct persist_module *m) {
  return profile_mapping(
      p, &(struct mapping){.start = m->shown,
                           .limit = m->shown + (m->note.limit - m->note.start),
                           .offset = m->note.offset,
                           .file = profile_text(p, m->note.file),
                           .build_id = profile_text(p, m->note.build_id)});
}

// Adds the mapping of code that is in no file.
static uint32_t add_jit(const struct persist_file *f, struct profile *p) {
  char name[32];
  snprintf(name, sizeof name, MPROF_JIT_FILE " %d]", f->head.pid);
  return profile_mapping(p, &(struct mapping){.file = profile_text(p, name)});
}

static uint32_t add_python_location(struct profile *p, uint64_t address,
                                    const struct persist_note *note) {
  const char *const name = (const char *)note->data + 8;
  uint32_t numbers[2];
  memcpy(numbers, note->data, sizeof numbers);
  const string_id id = profile_text(p, name);
  const struct line line = {
      .function = profile_function(
          p,
          &(struct function){id, id, profile_text(p, name + strlen(name) + 1),
                             numbers[1]}),
      .line = numbers[0]};
  const uint32_t mapping = profile_mapping(
      p, &(struct mapping){.start = MPROF_PYTHON_BEGIN,
                           .limit = MPROF_PYTHON_END,
                           .file = profile_text(p, MPROF_PYTHON_MODULE),
                           .has_functions = true,
                           .has_files = true,
                           .has_lines = true});
  return profile_location(p,
                          &(struct location){.address = address,
                                             .mapping = mapping,
                                             .line_count = 1},
                          &line);
}

uint32_t persist_location(const struct persist_file *f, struct profile *p,
                          uint64_t address) {
  if (f->python && mprof_python_has(address)) {
    const struct persist_note *python = &f->python[mprof_python_index(address)];
    if (python->key == address + 1)
      return add_python_location(p, address, python);
  }
  const struct persist_module *m = persist_find_module(f, address);
  const struct persist_note *hook = persist_find_note(&f->hooks, address + 1);
  const string_id name = hook ? profile_text(p, (const char *)hook->data) : 0;
  struct line line = {0};
  if (name)
    line.function = profile_function(
        p, &(struct function){.name = name, .system_name = name});
  return profile_location(
      p,
      &(struct location){.address = address,
                         .mapping = m ? persist_mapping(p, m) : add_jit(f, p),
                         .line_count = name != 0},
      &line);
}

// --- the whole ---

const char *persist_open(struct persist_file *f, const struct bytes *bytes) {
  *f = (struct persist_file){.bytes = bytes};
  const char *error = read_head(f);
  if (!error)
    read_notes(f);
  return error;
}

void persist_close(struct persist_file *f) {
  free(f->label_sets);
  free(f->locks.v);
  free(f->names.v);
  free(f->hooks.v);
  free(f->python);
  free(f->modules);
}
