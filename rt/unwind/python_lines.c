// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keeps the lines of Python code that are in stacks, and their addresses; see
// python.h. The interpreter may free its texts at any time, so the table has
// copies. Nothing in the table is ever changed or removed. So a forked child
// keeps it: stacks that the child has inherited refer to it.

#include "sys/message.h"
#include "sys/os.h"
#include "unwind/python.h"

#include <string.h>

// The table is a hash table with open addressing. The address of a line is
// MPROF_PYTHON_BEGIN + 16 * its slot + 1. The 1 is there because readers of
// stacks look for the byte before a return address.
enum {
  SLOTS = MPROF_PYTHON_LINES,
  LINES_MAX = SLOTS / 4 * 3,
  TEXT_BYTES = 12 << 20,
  ENTRY_ALIGNMENT = 8
};
// A line, or the name of a file, whose `file` is 0 and which has no address.
struct entry {
  uint64_t hash;
  uint32_t file; // offset of the file's entry in `texts`
  uint32_t line, start_line;
  char text[]; // name of the function or file
};

struct table {
  // Offset of an entry in `texts`; 0: unused. Written once.
  _Atomic uint32_t slots[SLOTS];
  atomic_size_t used;       // number of entries
  atomic_size_t texts_used; // bytes
  char texts[TEXT_BYTES];
};

// Memory is mapped for the first line. Pages are used only when they are
// written.
static _Atomic(struct table *) the_table;

static struct table *get_table(void) {
  struct table *t = atomic_load_explicit(&the_table, memory_order_acquire);
  if (t != NULL)
    return t;
  struct table *mine = mprof_os_map(sizeof(*mine));
  if (mine == NULL)
    return NULL;
  atomic_init(&mine->texts_used, ENTRY_ALIGNMENT); // offset 0 means none
  if (atomic_compare_exchange_strong(&the_table, &t, mine))
    return mine;
  mprof_os_unmap(mine, sizeof(*mine));
  return t;
}

static const struct entry *entry_at(const struct table *t, uint32_t offset) {
  return (const struct entry *)(t->texts + offset);
}

// Returns the offset of a new entry, or 0 if the table is full.
static uint32_t make(struct table *t, const struct entry *like,
                     const char *text, size_t len) {
  const size_t size = (sizeof(*like) + len + 1 + ENTRY_ALIGNMENT - 1) &
                      ~(size_t)(ENTRY_ALIGNMENT - 1);
  if (atomic_fetch_add(&t->used, 1) >= LINES_MAX)
    return 0;
  const size_t offset = atomic_fetch_add(&t->texts_used, size);
  if (offset > TEXT_BYTES - size)
    return 0;
  struct entry *e = (struct entry *)(t->texts + offset);
  *e = *like;
  memcpy(e->text, text, len + 1);
  return (uint32_t)offset;
}

static bool equals(const struct entry *e, const struct entry *like,
                   const char *text) {
  return e->hash == like->hash && e->file == like->file &&
         e->line == like->line && strcmp(e->text, text) == 0;
}

// Returns the slot of the entry, which is added if needed, or SLOTS if the
// table is full.
static size_t intern(struct table *t, const struct entry *like,
                     const char *text) {
  const size_t len = strlen(text);
  uint32_t made = 0;
  for (size_t i = like->hash % SLOTS;; i = (i + 1) % SLOTS) {
    uint32_t offset = atomic_load_explicit(&t->slots[i], memory_order_acquire);
    if (offset == 0) {
      if (made == 0 && (made = make(t, like, text, len)) == 0)
        return SLOTS;
      if (atomic_compare_exchange_strong(&t->slots[i], &offset, made))
        return i;
    }
    if (equals(entry_at(t, offset), like, text))
      return i;
  }
}

mprof_pc mprof_python_address(const struct mprof_python_line *line) {
  struct table *t = get_table();
  if (t == NULL)
    return 0;
  struct entry like = {
      .hash = mprof_hash(MPROF_HASH_EMPTY, line->file, strlen(line->file))};
  size_t slot = intern(t, &like, line->file);
  if (slot == SLOTS)
    return 0;
  like.file = atomic_load_explicit(&t->slots[slot], memory_order_relaxed);
  like.line = line->line;
  like.start_line = line->start_line;
  like.hash = mprof_hash(like.hash, line->function, strlen(line->function)) +
              line->line * UINT64_C(0x9e3779b97f4a7c15);
  like.hash ^= like.hash >> 32;
  slot = intern(t, &like, line->function);
  return slot == SLOTS ? 0 : MPROF_PYTHON_BEGIN + slot * 16 + 1;
}

bool mprof_python_find(mprof_pc pc, struct mprof_python_line *line) {
  const struct table *t =
      atomic_load_explicit(&the_table, memory_order_acquire);
  const size_t slot = mprof_python_index(pc);
  if (t == NULL || !mprof_python_has(pc))
    return false;
  const uint32_t offset =
      atomic_load_explicit(&t->slots[slot], memory_order_acquire);
  const struct entry *e = entry_at(t, offset);
  if (offset == 0 || e->file == 0)
    return false;
  *line = (struct mprof_python_line){.function = e->text,
                                     .file = entry_at(t, e->file)->text,
                                     .line = e->line,
                                     .start_line = e->start_line};
  return true;
}
