// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The stacks, names and label sets of a trace in the file of the option
// persist; see trace_stacks.h.

#include "persist/trace_stacks.h"

#include "bucket/bucket.h"
#include "common/memory.h"
#include "symbolize/symbolize.h"
#include "sys/clock.h"
#include "sys/persistent.h"
#include "thread/labels.h"
#include "trace/trace_rows.h"
#include "trace/trace_user.h"
#include "trace_hooks/trace_hooks.h"

#include <stdlib.h>
#include <string.h>

static struct {
  struct persist_stacks *stacks;
  struct mprof_labels *labels; // the set that was asked for last
} state;

void persist_stacks_begin(struct persist_stacks *s, struct persist_file *f) {
  *s = (struct persist_stacks){.file = f, .names = profile_new()};
}

void persist_stacks_end(struct persist_stacks *s) {
  profile_free(s->names);
  idmap_clear(&s->locations);
  idmap_clear(&s->buckets);
}

// --- the stacks ---

static void add_address(struct persist_stacks *s, uint64_t pc, uint32_t gone) {
  size_t found;
  const uint64_t shown = persist_shown(s->file, pc, gone);
  if (pc != 0 && !idmap_find(&s->locations, shown, &found))
    idmap_add(&s->locations, shown,
              persist_location(s->file, s->names, shown - 1));
}

bool persist_stacks_add(struct persist_stacks *s, uint64_t handle) {
  struct mprof_bucket b;
  size_t found;
  if (handle == 0 || idmap_find(&s->buckets, handle, &found))
    return true;
  const uint64_t address = persist_object(s->file, (uint32_t)handle);
  if (handle > UINT32_MAX || !persist_copy(s->file, address, &b, sizeof b) ||
      b.type != MPROF_BUCKET_TRACE || b.stack_len > MPROF_MAX_STACK_DEPTH ||
      (b.size == MPROF_TRACE_IS_START && b.stack_len == 0))
    return false;
  const uint8_t *stack =
      persist_at(s->file, address + sizeof b, b.stack_len * sizeof(mprof_pc));
  if (!stack)
    return false;
  for (uint32_t i = 0; i < b.stack_len; i++) {
    uint64_t pc;
    memcpy(&pc, stack + i * sizeof pc, sizeof pc);
    add_address(s, pc, mprof_bucket_gone(&b));
  }
  idmap_add(&s->buckets, handle, 0);
  return true;
}

bool persist_stacks_has_name(struct persist_stacks *s, uint64_t handle) {
  uint32_t length; // of the text that follows; see struct name in trace_user.c
  if (handle == 0)
    return true;
  const uint64_t address = persist_object(s->file, (uint32_t)handle);
  if (handle > UINT32_MAX ||
      !persist_copy(s->file, address, &length, sizeof length))
    return false;
  const uint8_t *text =
      persist_at(s->file, address + sizeof length, (size_t)length + 1);
  return text && memchr(text, '\0', (size_t)length + 1) == text + length;
}

void persist_stacks_use(struct persist_stacks *s) {
  state.stacks = s;
  mprof_persistent_base = s ? (char *)s->file->bytes->at : NULL;
  free(state.labels);
  state.labels = NULL;
}

// --- what the runtime's writer calls ---

// The start of the file. The handles that the writer uses were checked.
char *mprof_persistent_base;

int mprof_symbolize_begin(bool names) {
  (void)names;
  return 0;
}

void mprof_symbolize_end(void) {}

mprof_pc mprof_symbolize_shown(mprof_pc pc, uint32_t gone) {
  return persist_shown(state.stacks->file, pc, gone);
}

bool mprof_symbolize(mprof_pc pc,
                     void (*fn)(const struct mprof_frame *, void *),
                     void *arg) {
  const struct profile *p = state.stacks->names;
  const struct persist_module *m =
      persist_find_module(state.stacks->file, pc - 1);
  size_t i;
  if (!m || !idmap_find(&state.stacks->locations, pc, &i))
    return false;
  const struct location *l = &p->locations[i];
  struct mprof_frame frame = {
      .function = "",
      .file = "",
      .module = m->note.file,
      .is_library = strcmp(m->note.file, state.stacks->file->head.program) != 0,
      .offset = pc - 1 - m->note.shift - m->note.bias};
  for (uint32_t n = 0; n < l->line_count; n++) {
    const struct line *line = &p->lines[l->first_line + n];
    const struct function *f = &p->functions[line->function];
    frame.function = p->strings[f->name];
    frame.file = p->strings[f->file];
    frame.line = (unsigned)line->line;
    frame.start_line = (unsigned)f->start_line;
    fn(&frame, arg);
  }
  if (l->line_count == 0)
    fn(&frame, arg);
  return true;
}

// The keys of messages that the writer adds. No name of the file has these
// handles, because its memory has at most 2^31 units.
enum { FIRST_KEY = 0x80000000u, NAME_KEY = FIRST_KEY, LABELS_KEY, CHARGE_KEY };

uint32_t mprof_trace_name_key(void) { return NAME_KEY; }
uint32_t mprof_trace_labels_key(void) { return LABELS_KEY; }
uint32_t mprof_trace_charge_key(void) { return CHARGE_KEY; }

const char *mprof_trace_name_text(uint32_t handle) {
  static const char *const keys[] = {"thread.name", "labels", "lock.waited_ns"};
  if (handle >= FIRST_KEY)
    return keys[handle - FIRST_KEY];
  return handle
             ? (const char *)mprof_persistent_pointer(handle) + sizeof(uint32_t)
             : "";
}

uint64_t mprof_trace_new_g(void) { return ++state.stacks->last_g; }

uint64_t mprof_clock_ticks_per_second(void) {
  const uint64_t ticks = state.stacks->file->head.ticks_per_second;
  return ticks ? ticks : 1000000000;
}

uint64_t mprof_trace_frequency(void) {
  const uint64_t div = state.stacks->file->head.trace_tick_div;
  const uint64_t frequency = mprof_clock_ticks_per_second() / (div ? div : 1);
  return frequency != 0 ? frequency : 1;
}

uint64_t mprof_clock_ns(uint64_t ticks) {
  const double ns =
      (double)ticks * 1e9 / (double)mprof_clock_ticks_per_second() + 0.5;
  return ns < 0x1p63 ? (uint64_t)ns : INT64_MAX;
}

static void add_label(struct mprof_labels *set, const char *key,
                      const char *value) {
  set->v[set->len++] =
      (struct mprof_label){.key = key,
                           .value = value,
                           .key_len = (uint16_t)strlen(key),
                           .value_len = (uint16_t)strlen(value)};
}

const struct mprof_labels *mprof_labels_of(uint16_t id) {
  enum { LABELS_MAX = 1024 };
  const struct persist_note *sets = state.stacks->file->label_sets;
  uint32_t count;
  if (id == 0 || !sets || !sets[id].data)
    return NULL;
  if (!state.labels)
    state.labels = zeroed(1, sizeof *state.labels +
                                 LABELS_MAX * sizeof(struct mprof_label));
  state.labels->id = id;
  state.labels->len = 0;
  memcpy(&count, sets[id].data + 4, sizeof count);
  const uint8_t *p = sets[id].data + 8, *end = sets[id].data + sets[id].length;
  for (; p && count > 0 && state.labels->len < LABELS_MAX; count--) {
    const char *key, *value;
    p = persist_next_label(p, end, &key, &value);
    if (p)
      add_label(state.labels, key, value);
  }
  return state.labels;
}
