// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads a dump: a file header, and records of these kinds. (Linux:
// tools/perf/Documentation/jitdump-specification.txt)
//
//   load    a function: its address, size, number and name, and its code
//   move    the function with a number is now at another address
//   debug   for the next load: addresses with file and line
//
// A program that is running, or was killed, may have written a part of a
// record.

#include "common/memory.h"
#include "names/jit_names.h"

#include <stdlib.h>
#include <string.h>

enum { MAGIC = 0x4A695444, LOAD = 0, MOVE = 1, DEBUG = 2 };

struct file_header {
  uint32_t magic, version, size, machine, unused, pid;
  uint64_t timestamp, flags;
};
struct record {
  uint32_t kind, size;
  uint64_t timestamp;
};
struct load {
  uint32_t pid, tid;
  uint64_t virtual_address, address, size, number;
};
struct move {
  uint32_t pid, tid;
  uint64_t virtual_address, from, to, size, number;
};
struct debug {
  uint64_t address, count;
};
struct debug_line {
  uint64_t address;
  uint32_t line, column;
};

// Reads a text that ends with a null byte, at most `room` bytes of the file.
// Returns how many bytes it takes, or 0 if it does not end there.
static uint64_t read_text(FILE *in, uint64_t room, char text[JIT_MAX_NAME]) {
  size_t length = 0;
  for (uint64_t n = 1; n <= room; n++) {
    const int c = getc(in);
    if (c == EOF)
      return 0;
    if (length < JIT_MAX_NAME - 1)
      text[length++] = (char)c;
    if (c == '\0') {
      text[length] = '\0';
      return n;
    }
  }
  return 0;
}

// A debug record, and where its lines are in the file.
struct lines {
  uint64_t address, count; // of the code; number of lines
  off_t at;
  uint64_t room;
};

// Gives the addresses from w on, in the code that the record is about, the last
// place at or before them.
static void take_lines(FILE *in, const struct lines *l, struct jit_wanted *w,
                       size_t count) {
  static char file[JIT_MAX_NAME];
  uint64_t room = l->room;
  struct debug_line d;
  if (fseeko(in, l->at, SEEK_SET) != 0)
    return;
  for (uint64_t i = 0; i < l->count && room > sizeof d; i++) {
    if (fread(&d, sizeof d, 1, in) != 1)
      return;
    const uint64_t length = read_text(in, room - sizeof d, file);
    if (length == 0)
      return;
    room -= sizeof d + length;
    for (size_t k = jit_first(w, count, d.address); k < count; k++) {
      // The text 0xff stands for the file of the line before.
      if (strcmp(file, "\xff") != 0) {
        free(w[k].file);
        w[k].file = text_of("%s", file);
      }
      w[k].line = d.line;
    }
  }
}

// Returns the number of the addresses in the range, the first of which is
// w[*first].
static size_t find(const struct jit_wanted *w, size_t count, uint64_t address,
                   uint64_t size, size_t *first) {
  size_t n = 0;
  *first = jit_first(w, count, address);
  while (*first + n < count && w[*first + n].address - address < size)
    n++;
  return n;
}

struct reader {
  FILE *in;
  struct jit_wanted *w;
  size_t count;
  struct lines lines; // count is 0: there was no debug record
  bool has_moves;
  char name[JIT_MAX_NAME];
};

static void take_load(struct reader *r, uint64_t room) {
  struct load load;
  size_t first;
  if (room < sizeof load || fread(&load, sizeof load, 1, r->in) != 1)
    return;
  const size_t n = find(r->w, r->count, load.address, load.size, &first);
  if (n == 0 || read_text(r->in, room - sizeof load, r->name) == 0)
    return;
  for (size_t i = first; i < first + n; i++)
    jit_set(&r->w[i], r->name);
  if (r->lines.count && r->lines.address == load.address)
    take_lines(r->in, &r->lines, &r->w[first], n);
}

static void take_move(struct reader *r, uint64_t room) {
  struct move move;
  size_t first;
  if (room < sizeof move || fread(&move, sizeof move, 1, r->in) != 1)
    return;
  const size_t n = find(r->w, r->count, move.to, move.size, &first);
  for (size_t i = first; i < first + n; i++) {
    jit_set(&r->w[i], NULL);
    r->w[i].moved = move.number + 1;
    r->has_moves = true;
  }
}

// Gives the code that was moved its name.
static void take_load_of_moved(struct reader *r, uint64_t room) {
  struct load load;
  if (room < sizeof load || fread(&load, sizeof load, 1, r->in) != 1 ||
      read_text(r->in, room - sizeof load, r->name) == 0)
    return;
  for (size_t i = 0; i < r->count; i++)
    if (r->w[i].moved == load.number + 1) {
      jit_set(&r->w[i], r->name);
      r->w[i].moved = load.number + 1;
    }
}

static void take_debug(struct reader *r, uint64_t room) {
  struct debug debug;
  if (room < sizeof debug || fread(&debug, sizeof debug, 1, r->in) != 1)
    return;
  r->lines = (struct lines){debug.address, debug.count, ftello(r->in),
                            room - sizeof debug};
}

// Reads all records from the offset `at` on.
static void read_records(struct reader *r, off_t at, bool is_of_moved) {
  struct record record;
  while (fseeko(r->in, at, SEEK_SET) == 0 &&
         fread(&record, sizeof record, 1, r->in) == 1 &&
         record.size >= sizeof record) {
    const uint64_t room = record.size - sizeof record;
    if (record.kind == LOAD && is_of_moved)
      take_load_of_moved(r, room);
    else if (record.kind == LOAD)
      take_load(r, room);
    else if (record.kind == MOVE && !is_of_moved)
      take_move(r, room);
    if (record.kind == DEBUG)
      take_debug(r, room);
    else if (record.kind == LOAD)
      r->lines.count = 0;
    at += record.size;
  }
}

bool jit_dump_read(FILE *in, struct jit_wanted *w, size_t count) {
  static struct reader r;
  struct file_header h;
  r.in = in;
  r.w = w;
  r.count = count;
  r.lines.count = 0;
  r.has_moves = false;
  if (fread(&h, sizeof h, 1, in) != 1 || h.magic != MAGIC || h.size < sizeof h)
    return false;
  read_records(&r, h.size, false);
  if (r.has_moves)
    read_records(&r, h.size, true);
  return true;
}

// --- maps ---
//
// Reads a map: lines "START SIZE NAME" with hexadecimal numbers.

// Reads a line. Returns the name, or NULL if the line is none.
static char *parse(char *line, uint64_t *start, uint64_t *size) {
  char *end, *name;
  *start = strtoull(line, &end, 16);
  if (end == line || *end != ' ')
    return NULL;
  *size = strtoull(end, &name, 16);
  if (name == end || *name != ' ')
    return NULL;
  name++;
  name[strcspn(name, "\r\n")] = '\0';
  return *name ? name : NULL;
}

bool jit_map_read(FILE *in, struct jit_wanted *w, size_t count) {
  static char line[JIT_MAX_NAME];
  bool begins = true, has_any = false, is_empty = true;
  while (fgets(line, sizeof line, in)) {
    const bool is_begin = begins;
    uint64_t start, size;
    begins = strchr(line, '\n') != NULL;
    is_empty = false;
    const char *name = is_begin ? parse(line, &start, &size) : NULL;
    if (!name)
      continue;
    has_any = true;
    for (size_t i = jit_first(w, count, start);
         i < count && w[i].address - start < size; i++)
      jit_set(&w[i], name);
  }
  return has_any || is_empty;
}
