// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "files/read_alloc_log.h"

#include "common/memory.h"
#include "unwind/python.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// A line of a log has at most a path and some numbers.
enum { BUFFER = 1 << 16 };

// Frames that were found before, by a hash of their address. Another frame with
// the same hash replaces the frame.
enum { KNOWN_BITS = 17 };
struct known_frame {
  uint64_t address;
  uint32_t frame;
  uint32_t list; // number of the list of modules; 0: no frame
};

struct reader {
  FILE *file;
  const char *name;
  struct alloc_log *log;
  struct log_part part;
  unsigned long line_number;
  char *error; // NULL: no error yet

  char *buffer;
  size_t at, end;   // the part of the buffer that is not read yet
  bool is_over;     // the file has no more bytes
  char *line;       // the last line, which a 0 byte ends
  char *line_end;   // the place of this byte
  const char *next; // what is parsed next

  // The modules that are mapped, by their start.
  uint32_t *modules;
  size_t module_count, module_capacity;
  bool is_sorted;
  bool lists_modules;        // the last lines were "# modules" and "# module"
  uint32_t list;             // number of this list of modules, from 1 on
  struct known_frame *known; // 1 << KNOWN_BITS
  // The stack of one record.
  uint32_t *frames;
  size_t frame_count, frame_capacity;
};

__attribute__((format(printf, 2, 3))) static bool
fail(struct reader *r, const char *format, ...) {
  va_list args;
  va_start(args, format);
  if (!r->error && vasprintf(&r->error, format, args) < 0)
    r->error = zeroed(1, 1);
  va_end(args);
  return false;
}

static bool fail_line(struct reader *r) {
  return fail(r, "%s:%lu: not a line of an allocation log: %.80s", r->name,
              r->line_number, r->line);
}

// --- lines ---

// Reads bytes into the buffer, from the index `at` on. Returns their number, or
// 0 at the end of the file and after an error.
static size_t read_bytes(struct reader *r, size_t at) {
  if (r->is_over)
    return 0;
  const size_t n = fread(r->buffer + at, 1, BUFFER - at, r->file);
  r->is_over = n < BUFFER - at;
  if (r->is_over && ferror(r->file))
    fail(r, "%s: %s", r->name, strerror(errno));
  return n;
}

// Reads the rest of a line that fills the buffer. Such a line is invalid,
// unless it is an incomplete last line: if the machine crashed, zeros may
// follow the log. Returns false.
static bool skip_long_line(struct reader *r) {
  size_t n = r->end;
  do {
    if (memchr(r->buffer, '\n', n))
      return r->line_number == 0
                 ? fail(r, "%s: not an allocation log of MProf", r->name)
                 : fail(r, "%s:%lu: not a line of an allocation log", r->name,
                        r->line_number + 1);
    n = read_bytes(r, 0);
  } while (n > 0);
  return false;
}

// Makes room in the buffer and reads more. Returns false at the end of the
// file, or after an error.
static bool read_more(struct reader *r) {
  if (r->at > 0) {
    memmove(r->buffer, r->buffer + r->at, r->end - r->at);
    r->end -= r->at;
    r->at = 0;
  }
  if (r->end == BUFFER)
    return skip_long_line(r);
  const size_t n = read_bytes(r, r->end);
  r->end += n;
  return n > 0;
}

// Reads the next line. Returns false at the end of the file, or after an error.
static bool next_line(struct reader *r) {
  char *newline = NULL;
  for (size_t searched = 0;;) {
    const size_t length = r->end - r->at;
    if (length > searched)
      newline = memchr(r->buffer + r->at + searched, '\n', length - searched);
    if (newline)
      break;
    searched = length;
    if (!read_more(r)) {
      // If the process was killed, the last line may be incomplete.
      r->part.is_cut = r->line_number > 0 && length > 0;
      return false;
    }
  }
  *newline = '\0';
  r->line = r->buffer + r->at;
  r->line_end = newline;
  r->next = r->line;
  r->at = (size_t)(newline - r->buffer) + 1;
  r->line_number++;
  return true;
}

// --- parts of a line ---

static bool is_end(const struct reader *r) { return r->next == r->line_end; }

static bool take(struct reader *r, const char *text) {
  const size_t length = strlen(text);
  if (strncmp(r->next, text, length) != 0)
    return false;
  r->next += length;
  return true;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

static bool take_hex(struct reader *r, uint64_t *value) {
  enum { MAX_DIGITS = 16 };
  if (r->next[0] != '0' || r->next[1] != 'x')
    return false;
  const char *c = r->next + 2;
  *value = 0;
  int digits = 0;
  for (int digit; digits < MAX_DIGITS && (digit = hex_digit(*c)) >= 0; digits++)
    *value = *value << 4 | (unsigned)digit, c++;
  r->next = c;
  return digits > 0;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool take_number(struct reader *r, uint64_t *value) {
  *value = 0;
  const char *c = r->next;
  for (; is_digit(*c); c++)
    if (__builtin_mul_overflow(*value, 10u, value) ||
        __builtin_add_overflow(*value, (unsigned)(*c - '0'), value))
      return false;
  const bool is_number = c > r->next;
  r->next = c;
  return is_number;
}

// Reads seconds with a fraction.
static bool take_time(struct reader *r, double *value) {
  static const double powers[] = {1,   1e1, 1e2, 1e3, 1e4,
                                  1e5, 1e6, 1e7, 1e8, 1e9};
  const char *begin = r->next;
  uint64_t whole, fraction;
  if (!take_number(r, &whole) || !take(r, "."))
    return false;
  const char *point = r->next;
  if (!take_number(r, &fraction) || r->next - point > 9)
    return false;
  // Both numbers are exact in a double, so the quotient is rounded once, as by
  // strtod.
  if (r->next - begin <= 16)
    *value = (double)(whole * (uint64_t)powers[r->next - point] + fraction) /
             powers[r->next - point];
  else
    *value = strtod(begin, NULL);
  return true;
}

// --- modules ---

static bool read_module(struct reader *r) {
  struct log_module m;
  // The runtime writes all modules at once. So the modules are sorted once for
  // each list, and hostile logs take no quadratic time.
  if (!r->lists_modules || !take(r, "# module ") || !take_hex(r, &m.start) ||
      !take(r, "-") || !take_hex(r, &m.limit) || !take(r, " ") ||
      !take_hex(r, &m.bias) || !take(r, " "))
    return fail_line(r);
  m.build_id = r->next;
  if (!take(r, "-"))
    while (hex_digit(*r->next) >= 0)
      r->next++;
  char *id_end = r->line + (r->next - r->line);
  if (r->next == m.build_id || !take(r, " ") || is_end(r))
    return fail_line(r);
  m.path = r->next;
  if (m.path + strlen(m.path) != r->line_end)
    return fail_line(r);
  *id_end = '\0';
  *APPEND(r->modules, r->module_count, r->module_capacity) =
      alloc_log_module(r->log, &m);
  r->is_sorted = false;
  return true;
}

static int compare_modules(const void *a, const void *b, void *arg) {
  const struct reader *r = arg;
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  const uint64_t i = r->log->modules[x].start, k = r->log->modules[y].start;
  return i != k ? (i > k) - (i < k) : (x > y) - (x < y);
}

// Returns the module that contains the address, or LOG_NO_MODULE. Modules do
// not overlap.
static uint32_t module_at(struct reader *r, uint64_t address) {
  if (!r->is_sorted && r->module_count)
    qsort_r(r->modules, r->module_count, sizeof *r->modules, compare_modules,
            r);
  r->is_sorted = true;
  size_t low = 0, high = r->module_count; // the first module after the address
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (r->log->modules[r->modules[middle]].start <= address)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && address < r->log->modules[r->modules[low - 1]].limit
             ? r->modules[low - 1]
             : LOG_NO_MODULE;
}

// --- comments ---

static bool read_count(struct reader *r, const char *before, uint64_t *count) {
  return (take(r, before) && take_number(r, count) && is_end(r)) ||
         fail_line(r);
}

static bool begins_with_word(const char *text, const char *word) {
  const size_t length = strlen(word);
  return strncmp(text, word, length) == 0 &&
         (text[length] == ' ' || text[length] == '\0');
}

static bool read_comment(struct reader *r) {
  const char *text = r->line + 2;
  uint64_t lost;
  if (begins_with_word(text, "module"))
    return read_module(r);
  if (begins_with_word(text, "modules")) {
    r->module_count = 0;
    r->lists_modules = true;
    r->list++;
    return true;
  }
  r->lists_modules = false;
  if (begins_with_word(text, "heap_rate")) {
    r->part.has_heap_rate = true;
    return read_count(r, "# heap_rate ", &r->part.heap_rate);
  }
  if (!read_count(r, "# lost ", &lost))
    return false;
  if (__builtin_add_overflow(r->part.lost, lost, &r->part.lost))
    r->part.lost = UINT64_MAX;
  return true;
}

// --- records ---

static bool is_truncated(const struct reader *r) {
  static const char text[] = "\t[truncated]";
  return r->line_end - r->line == sizeof text - 1 &&
         memcmp(r->line, text, sizeof text) == 0;
}

// Returns whether the line is "\tADDRESS", "\tADDRESS MODULE+OFFSET", or, for a
// line of Python code, "\tADDRESS FUNCTION FILE:LINE".
static bool is_frame(struct reader *r, uint64_t *address) {
  if (*r->line != '\t')
    return false;
  r->next = r->line + 1;
  if (!take_hex(r, address))
    return false;
  if (is_end(r) || (*r->next == ' ' && mprof_python_has(*address)))
    return true;
  const char *end = r->line_end;
  while (hex_digit(end[-1]) >= 0)
    end--;
  return *r->next == ' ' && end < r->line_end && end - r->next >= 4 &&
         memcmp(end - 3, "+0x", 3) == 0;
}

static uint32_t frame_at(struct reader *r, uint64_t address) {
  const uint64_t hash = address * UINT64_C(0x9e3779b97f4a7c15);
  struct known_frame *known = &r->known[hash >> (64 - KNOWN_BITS)];
  if (known->address != address || known->list != r->list) {
    *known = (struct known_frame){
        address, alloc_log_frame(r->log, address, module_at(r, address)),
        r->list};
    struct log_frame *f = &r->log->frames[known->frame];
    if (r->next < r->line_end && mprof_python_has(address) && !f->python) {
      const size_t length = (size_t)(r->line_end - r->next) - 1;
      f->python = zeroed(length + 1, 1);
      memcpy(f->python, r->next + 1, length);
    }
  }
  return known->frame;
}

// Reads the frames of a record and the line that follows them. Returns false at
// the end of the file.
static bool read_stack(struct reader *r) {
  r->frame_count = 0;
  while (next_line(r)) {
    uint64_t address;
    uint32_t frame;
    if (is_frame(r, &address))
      frame = frame_at(r, address);
    else if (is_truncated(r))
      frame = LOG_TRUNCATED;
    else
      return true;
    *APPEND(r->frames, r->frame_count, r->frame_capacity) = frame;
  }
  return false;
}

// Reads the first line of a record.
static bool read_event(struct reader *r, struct log_record *record) {
  *record = (struct log_record){.kind = LOG_COLLECTION};
  if (take(r, "tracegc()"))
    return is_end(r) || fail_line(r);
  if (take(r, "tracealloc("))
    record->kind = LOG_ALLOC;
  else if (take(r, "tracefree("))
    record->kind = LOG_FREE;
  else
    return fail_line(r);
  if (!take_hex(r, &record->address))
    return fail_line(r);
  if (take(r, ", 0x")) {
    r->next -= 2;
    record->has_size = true;
    if (!take_hex(r, &record->size))
      return fail_line(r);
  }
  if (record->kind == LOG_ALLOC && !record->has_size)
    return fail_line(r);
  if (take(r, ", gc"))
    record->owner = LOG_COLLECTOR;
  else if (take(r, ", custom"))
    record->owner = LOG_CUSTOM;
  return (take(r, ")") && is_end(r)) || fail_line(r);
}

// Reads "thread ID [SECONDS]:".
static bool read_thread(struct reader *r, struct log_record *record) {
  uint64_t id;
  if (!take(r, "thread ") || !take_number(r, &id) || !take(r, " [") ||
      !take_time(r, &record->time) || !take(r, "]:") || !is_end(r))
    return fail_line(r);
  record->thread = alloc_log_thread(r->log, id);
  return true;
}

// Reads the lines of a record after the first one. Returns false at the end of
// the file, or after an error.
static bool read_rest(struct reader *r, struct log_record *record) {
  if (!next_line(r) || !read_thread(r, record) || !read_stack(r))
    return false;
  if (record->kind == LOG_COLLECTION && take(r, "end tracegc") && is_end(r) &&
      !next_line(r))
    return false;
  return r->line == r->line_end || fail_line(r);
}

// Reads all lines after the first one.
static void read_records(struct reader *r) {
  while (!r->error && next_line(r)) {
    struct log_record record, *added;
    if (strncmp(r->line, "# ", 2) == 0) {
      read_comment(r);
      continue;
    }
    r->lists_modules = false;
    if (!read_event(r, &record))
      return;
    if (!read_rest(r, &record)) {
      r->part.is_cut = true;
      return;
    }
    record.stack = alloc_log_stack(r->log, r->frames, r->frame_count);
    added = alloc_log_record(r->log);
    if (!added) {
      fail(r, "%s: the log has too many records", r->name);
      return;
    }
    *added = record;
  }
}

// --- files ---

static bool read_head(struct reader *r) {
  struct log_part *p = &r->part;
  if (next_line(r) && take(r, "# MProf allocation log 1, pid ") &&
      take_number(r, &p->pid) && take(r, ", part ") &&
      take_number(r, &p->number) && take(r, ", begun ") &&
      take_number(r, &p->begun) && is_end(r))
    return true;
  return fail(r, "%s: not an allocation log of MProf", r->name);
}

// Opens the file and reads its head. path must live as long as the reader.
static bool begin(struct reader *r, FILE *file, const char *path,
                  struct alloc_log *log) {
  *r = (struct reader){.file = file, .name = path, .log = log};
  r->list = 1;
  r->buffer = zeroed(BUFFER, 1);
  r->known = zeroed((size_t)1 << KNOWN_BITS, sizeof *r->known);
  if (!file)
    return fail(r, "%s: %s", path, strerror(errno));
  return read_head(r);
}

// Ends the reader. Returns the error, which the caller frees, or NULL.
static char *finish(struct reader *r) {
  if (r->file && r->file != stdin)
    fclose(r->file);
  free(r->known);
  free(r->buffer);
  free(r->modules);
  free(r->frames);
  return r->error;
}

char *read_alloc_log_part(FILE *file, const char *name, struct alloc_log *log,
                          struct log_part *part) {
  struct reader r;
  if (begin(&r, file, name, log))
    read_records(&r);
  *part = r.part;
  return finish(&r);
}

// Reads path.1 if it is the part of the log before `last`.
static char *read_part_before(const char *path, const struct log_part *last,
                              struct alloc_log *log, struct log_files *files) {
  char *before = zeroed(strlen(path) + 3, 1);
  strcat(strcpy(before, path), ".1");
  struct reader r;
  const bool fits = begin(&r, fopen(before, "re"), before, log) &&
                    r.part.pid == last->pid && r.part.begun == last->begun &&
                    r.part.number == last->number - 1;
  if (fits) {
    read_records(&r);
    files->first_number = r.part.number;
    files->part = r.part; // its losses are added to those of the last part
  } else {
    files->lacks_part_before = true;
    free(r.error);
    r.error = NULL;
  }
  char *error = finish(&r);
  free(before);
  return error;
}

char *read_alloc_log(const char *path, struct alloc_log *log,
                     struct log_files *files) {
  *files = (struct log_files){0};
  struct reader r;
  const bool is_stdin = strcmp(path, "-") == 0;
  if (!begin(&r, is_stdin ? stdin : fopen(path, "re"), path, log))
    return finish(&r);
  files->first_number = r.part.number;
  if (r.part.number != 1 && !is_stdin)
    r.error = read_part_before(path, &r.part, log, files);
  if (!r.error)
    read_records(&r);
  const struct log_part before = files->part;
  files->part = r.part;
  files->part.is_cut |= before.is_cut;
  if (__builtin_add_overflow(before.lost, r.part.lost, &files->part.lost))
    files->part.lost = UINT64_MAX;
  return finish(&r);
}
