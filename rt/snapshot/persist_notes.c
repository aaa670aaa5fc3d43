// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Adds notes to the file of the option persist; see snapshot.h.

#include "snapshot/snapshot.h"

#include "bucket/bucket.h"
#include "bucket/custom_profile.h"
#include "bucket/peak.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "process/process.h"
#include "symbolize/module_unloads.h"
#include "sys/clock.h"
#include "sys/persistent.h"
#include "thread/labels.h"
#include "unwind/python.h"

#include <string.h>

// Bit i: the set of labels i is noted in the file of the process of this epoch.
// A thread that reads an old value notes a set twice, which does no harm.
static _Atomic uint64_t noted_sets[(UINT16_MAX + 1) / 64];
// Addresses of hooked functions whose names are noted, by hash.
static _Atomic uint64_t noted_hooks[64];
// Bit i: line i of Python code is noted (mprof_python_index).
static _Atomic uint64_t noted_python[MPROF_PYTHON_LINES / 64];
static atomic_uint noted_epoch;

static void clear(_Atomic uint64_t *v, size_t len) {
  for (size_t i = 0; i < len; i++)
    atomic_store_explicit(&v[i], 0, memory_order_relaxed);
}

// Forgets what the parent has noted, because a forked child has a file of its
// own.
static void begin_note(void) {
  const uint32_t epoch = mprof_process_epoch();
  if (atomic_exchange(&noted_epoch, epoch) == epoch)
    return;
  clear(noted_sets, sizeof(noted_sets) / sizeof(noted_sets[0]));
  clear(noted_hooks, sizeof(noted_hooks) / sizeof(noted_hooks[0]));
  clear(noted_python, sizeof(noted_python) / sizeof(noted_python[0]));
}

// Returns whether the set is not noted yet, and marks it as noted.
static bool must_note(uint16_t set) {
  begin_note();
  const uint64_t bit = UINT64_C(1) << set % 64;
  return (atomic_fetch_or(&noted_sets[set / 64], bit) & bit) == 0;
}

void mprof_persist_note_labels(uint16_t set) {
  if (mprof_persist_head == NULL)
    return;
  const struct mprof_labels *s = mprof_labels_of(set);
  if (s == NULL || s->len == 0 || !must_note(set))
    return;
  // The texts of a set follow one another, each with its final 0.
  const struct mprof_label *last = &s->v[s->len - 1];
  const char *text = s->v[0].key, *end = last->value + last->value_len + 1;
  const uint32_t head[] = {set, s->len};
  mprof_persist_note(MPROF_NOTE_LABELS, head, sizeof(head), text,
                     (size_t)(end - text));
}

// Notes the name of a lock that has one.
static void note_lock(uintptr_t object) {
  char text[MPROF_LOCK_NAME + 32];
  struct mprof_text t = MPROF_TEXT(text);
  mprof_lock_label(&t, object);
  const uint64_t address = object;
  if (text[0] != '0')
    mprof_persist_note(MPROF_NOTE_LOCK, &address, sizeof(address), text,
                       t.len + 1);
}

// Notes the name of a hooked function, which a stripped libc does not have.
static void note_hook(uint64_t pc) {
  begin_note();
  _Atomic uint64_t *noted = &noted_hooks[(pc >> 4) % 64];
  const char *name = mprof_hooked_name(pc);
  if (name != NULL && atomic_exchange(noted, pc) != pc)
    mprof_persist_note(MPROF_NOTE_HOOK, &pc, sizeof(pc), name,
                       strlen(name) + 1);
}

static void note_python(mprof_pc pc) {
  struct mprof_python_line line;
  struct {
    struct mprof_persist_python head;
    char name[MPROF_PYTHON_NAME];
  } data;
  if (!mprof_python_find(pc, &line))
    return;
  begin_note();
  const size_t i = mprof_python_index(pc);
  const uint64_t bit = UINT64_C(1) << i % 64;
  if ((atomic_fetch_or(&noted_python[i / 64], bit) & bit) != 0)
    return;
  data.head = (struct mprof_persist_python){
      .pc = pc, .line = line.line, .start_line = line.start_line};
  const size_t len =
      mprof_text_copy(data.name, sizeof(data.name), line.function) + 1;
  mprof_persist_note(MPROF_NOTE_PYTHON, &data, sizeof(data.head) + len,
                     line.file, strlen(line.file) + 1);
}

static void note_profile(uint64_t size) {
  const size_t number = size - mprof_custom_profile_key(0);
  if (number >= mprof_custom_profiles())
    return;
  const char *name = mprof_custom_profile_name(number);
  mprof_persist_note(MPROF_NOTE_PROFILE, &size, sizeof(size), name,
                     strlen(name) + 1);
}

// Takes locks of the ranks from MPROF_RANK_UNLOADS on.
static void note(const struct mprof_bucket *b) {
  struct mprof_persist_head *head = mprof_persist_head;
  if (head == NULL)
    return;
  mprof_unloads_meet(b);
  for (uint32_t i = 0; i < b->stack_len; i++)
    note_python(b->stack[i]);
  if (b->labels != 0)
    mprof_persist_note_labels(b->labels);
  if (b->type == MPROF_BUCKET_CUSTOM)
    note_profile(b->size);
  else if (b->type != MPROF_BUCKET_MEM && b->stack_len > 0)
    note_hook(b->stack[0]);
  if ((b->type == MPROF_BUCKET_BLOCK || b->type == MPROF_BUCKET_MUTEX ||
       b->type == MPROF_BUCKET_WALL) &&
      b->object != 0)
    note_lock(b->object);
  if (b->type == MPROF_BUCKET_MEM && !mprof_peak_is_on())
    return;
  // Each new bucket makes the measured speed of the clock more precise.
  __atomic_store_n(&head->ticks_per_second, mprof_clock_ticks_per_second(),
                   __ATOMIC_RELAXED);
}

void mprof_persist_notes_init(void) {
  if (mprof_flags.persist[0] != '\0')
    mprof_bucket_observer = note;
}
