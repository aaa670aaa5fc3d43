// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the functions of Python that a thread runs from the structures of
// CPython 3.9 to 3.14; see python.h. The interpreter is never called:
//
//   value of a pthread key -> PyThreadState
//     -> [_PyCFrame ->] frame -> frame of the caller -> ...
//                         -> PyCodeObject -> name, file, table of lines
//
// Every word is read by a system call, which fails if the memory is not mapped,
// and every object must have the type that it should have. In a complete stack,
// the frames must also end where the interpreter's functions end.

#include "unwind/python.h"
#include "options/flags.h"
#include "process/modules.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "unwind/rules.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#pragma weak pthread_getspecific

// --- the layout of the structures ---

// How the table of a code object gives the line of an instruction.
enum lines {
  LINES_NONE,      // the version of the interpreter is not known
  LINES_LNOTAB,    // 3.9: co_lnotab
  LINES_RANGES,    // 3.10: co_linetable, PEP 626
  LINES_LOCATIONS, // from 3.11: co_linetable, PEP 657
};

// Which frames belong to the same call of the interpreter's function.
enum grouping {
  GROUP_SINGLE,      // 3.9, 3.10: each call runs one frame
  GROUP_TO_ENTRY,    // 3.11: the outermost frame is marked
  GROUP_TO_SENTINEL, // from 3.12: a frame without code follows
};

// Offsets of fields.
struct layout {
  enum lines lines_format;
  enum grouping grouping;
  unsigned thread_id, current; // of PyThreadState
  // From 3.11 on: the list of interpreters in _PyRuntime, and their lists of
  // thread states with the ids of the kernel. 0: no list.
  unsigned interpreters, next_interpreter, threads, next_thread, kernel_id;
  // From 3.11 to 3.12, PyThreadState.cframe leads to a struct with the current
  // frame. Otherwise, the thread state itself has it.
  bool has_cframe;
  unsigned in_cframe;
  // Fields of a frame. mark: the field that tells whether a group ends.
  unsigned previous, code, instruction, mark;
  // Fields of PyCodeObject. start: the first instruction.
  unsigned file, name, lines, first_line, start;
  // Fields of str: the characters if all of them are ASCII, or if not, and the
  // place of `kind` in the bits of the state.
  unsigned ascii, characters, kind_at;
};

// Fields that are at the same place in all versions.
enum {
  OBJECT_TYPE = 8,
  BYTES_LENGTH = 16,
  BYTES_DATA = 32,
  STR_LENGTH = 16,
  STR_STATE = 32
};

// Number of bytes that are read of a frame and of a code object.
enum { FRAME_BYTES = 112, CODE_BYTES = 144 };

static const struct layout layouts[] = {
    [9] = {LINES_LNOTAB, GROUP_SINGLE, .thread_id = 176, .current = 24,
           .previous = 24, .code = 32, .instruction = 104, .file = 104,
           .name = 112, .lines = 120, .first_line = 40, .ascii = 48,
           .characters = 72, .kind_at = 2},
    [10] = {LINES_RANGES, GROUP_SINGLE, .thread_id = 176, .current = 24,
            .previous = 24, .code = 32, .instruction = 96, .file = 104,
            .name = 112, .lines = 120, .first_line = 40, .ascii = 48,
            .characters = 72, .kind_at = 2},
    [11] = {LINES_LOCATIONS,    GROUP_TO_ENTRY,
            .interpreters = 40, .next_interpreter = 0,
            .threads = 16,      .next_thread = 8,
            .kernel_id = 160,   .thread_id = 152,
            .current = 56,      .has_cframe = true,
            .in_cframe = 8,     .previous = 48,
            .code = 32,         .instruction = 56,
            .mark = 68,         .file = 112,
            .name = 128,        .lines = 136,
            .first_line = 72,   .start = 184,
            .ascii = 48,        .characters = 72,
            .kind_at = 2},
    [12] = {LINES_LOCATIONS,    GROUP_TO_SENTINEL,
            .interpreters = 40, .next_interpreter = 0,
            .threads = 72,      .next_thread = 8,
            .kernel_id = 144,   .thread_id = 136,
            .current = 56,      .has_cframe = true,
            .in_cframe = 0,     .previous = 8,
            .code = 0,          .instruction = 56,
            .mark = 70,         .file = 112,
            .name = 128,        .lines = 136,
            .first_line = 68,   .start = 192,
            .ascii = 40,        .characters = 56,
            .kind_at = 2},
};

struct mprof_python mprof_python;

// Written once, before mprof_python.end.
static struct {
  struct layout layout;
  // Addresses of _PyRuntime, PyCode_Type and PyUnicode_Type.
  uintptr_t runtime, code_type, str_type;
  // The part of the interpreter's function that the compiler has moved to
  // rarely executed code; empty if there is none.
  struct mprof_code_range cold;
} interpreter;

// --- finding the interpreter ---

// From 3.13 on, _PyRuntime begins with the offsets of fields, as 64-bit
// numbers. These are the indices of the numbers that are needed.
struct indices {
  unsigned char thread, frame, code; // of the first number of these structs
};
enum {
  OFFSETS = 64,
  AT_VERSION = 1,
  AT_FREE_THREADED = 2,
  AT_INTERPRETERS = 5,
  AT_INTERPRETER = 6 // the first number of this struct
};

static bool is_plausible(const struct layout *l) {
  enum { WORD = 8, STATE_BYTES = 4096 };
  const unsigned of_frame[] = {l->previous, l->code, l->instruction, l->mark},
                 of_code[] = {l->file, l->name, l->lines, l->first_line};
  for (size_t i = 0; i < 4; i++)
    if (of_frame[i] > FRAME_BYTES - WORD || of_code[i] > CODE_BYTES - WORD)
      return false;
  return l->thread_id < STATE_BYTES && l->current < STATE_BYTES;
}

// Reads the offsets from _PyRuntime. Sets *l if they are plausible.
static void read_offsets(uintptr_t runtime, uint32_t version,
                         struct layout *l) {
  static const char cookie[8] = {'x', 'd', 'e', 'b', 'u', 'g', 'p', 'y'};
  const struct indices at = version >> 16 == 0x30d
                                ? (struct indices){19, 28, 34}
                                : (struct indices){22, 31, 39};
  uint64_t v[OFFSETS];
  struct layout found;
  if (mprof_sys_copy(v, runtime, sizeof(v)) != sizeof(v) ||
      memcmp(v, cookie, sizeof(cookie)) != 0 || v[AT_VERSION] != version ||
      v[AT_FREE_THREADED] != 0)
    return;
  found = (struct layout){.lines_format = LINES_LOCATIONS,
                          .grouping = GROUP_TO_SENTINEL,
                          .interpreters = (unsigned)v[AT_INTERPRETERS],
                          .next_interpreter = (unsigned)v[AT_INTERPRETER + 2],
                          .threads = (unsigned)v[AT_INTERPRETER + 3],
                          .next_thread = (unsigned)v[at.thread + 2],
                          .current = (unsigned)v[at.thread + 4],
                          .thread_id = (unsigned)v[at.thread + 5],
                          .kernel_id = (unsigned)v[at.thread + 6],
                          .previous = (unsigned)v[at.frame + 1],
                          .code = (unsigned)v[at.frame + 2],
                          .instruction = (unsigned)v[at.frame + 3],
                          .mark = (unsigned)v[at.frame + 5],
                          .file = (unsigned)v[at.code + 1],
                          .name = (unsigned)v[at.code + 3],
                          .lines = (unsigned)v[at.code + 4],
                          .first_line = (unsigned)v[at.code + 5],
                          .start = (unsigned)v[at.code + 9],
                          .ascii = 40,
                          .characters = 56,
                          .kind_at = version >> 16 == 0x30d ? 2 : 16};
  if (is_plausible(&found))
    *l = found;
}

// Finds out the version of the interpreter, and sets *l. Leaves *l as it is if
// the version is not known.
static void find_layout(uintptr_t runtime, struct layout *l) {
  const uintptr_t version_at =
      mprof_module_symbol("Py_Version", NULL); // from 3.11
  uint32_t version = 0;
  if (version_at != 0)
    mprof_sys_copy(&version, version_at, sizeof(version));
  else if (mprof_module_symbol("PyIter_Send", NULL) != 0) // from 3.10
    version = 0x30a0000;
  else if (mprof_module_symbol("PyObject_GC_IsTracked", NULL) != 0) // from 3.9
    version = 0x3090000;
  const uint32_t minor = version >> 16 & 0xff;
  if (version >> 24 != 3)
    return;
  if (minor == 13 || minor == 14)
    read_offsets(runtime, version, l);
  else if (minor < sizeof(layouts) / sizeof(layouts[0]))
    *l = layouts[minor];
}

#if defined(__x86_64__)
// Returns the cold part of a function, to which its conditional jumps lead. A
// stripped program has no symbol for it. Some bytes only look like jumps.
static struct mprof_code_range find_cold(struct mprof_code_range hot) {
  enum { JUMP_BYTES = 6, FEW = 8 };
  const struct mprof_code_range module = mprof_eh_module(hot.begin);
  struct mprof_code_range cold = {0, 0};
  unsigned inside = 0, outside = 0;
  for (uintptr_t at = hot.begin; at + JUMP_BYTES <= hot.end; at++) {
    const unsigned char *code = (const unsigned char *)at;
    int32_t offset;
    if (code[0] != 0x0f || (code[1] & 0xf0) != 0x80)
      continue;
    memcpy(&offset, code + 2, sizeof(offset));
    const uintptr_t target = at + JUMP_BYTES + (uintptr_t)(intptr_t)offset;
    if (target - hot.begin < hot.end - hot.begin ||
        target - module.begin >= module.end - module.begin)
      continue;
    if (cold.end == 0)
      cold = mprof_eh_function(target);
    if (target - cold.begin < cold.end - cold.begin)
      inside++;
    else
      outside++;
  }
  return inside > FEW * (outside + 1) ? cold : (struct mprof_code_range){0, 0};
}
#else
static struct mprof_code_range find_cold(struct mprof_code_range hot) {
  (void)hot;
  return (struct mprof_code_range){0, 0};
}
#endif

void mprof_python_look(void) {
  static atomic_bool is_searched;
  if (!mprof_flags.python_frames || mprof_python_is_on())
    return;
  const int before = errno;
  const uintptr_t runtime = mprof_module_symbol("_PyRuntime", NULL);
  const uintptr_t eval =
      runtime != 0 ? mprof_module_symbol("_PyEval_EvalFrameDefault", NULL) : 0;
  // Two threads may get here at the same time.
  if (eval != 0 && !atomic_exchange(&is_searched, true)) {
    const struct mprof_code_range code = mprof_eh_function(eval);
    interpreter.runtime = runtime;
    interpreter.cold = find_cold(code);
    interpreter.code_type = mprof_module_symbol("PyCode_Type", NULL);
    interpreter.str_type = mprof_module_symbol("PyUnicode_Type", NULL);
    find_layout(runtime, &interpreter.layout);
    mprof_python.begin = code.begin;
    atomic_store_explicit(&mprof_python.end, code.end, memory_order_release);
  }
  errno = before;
}

// --- reading memory ---

static bool read_bytes(uintptr_t at, void *to, size_t len) {
  return at >= MPROF_PAGE && mprof_sys_copy(to, at, len) == len;
}

static uintptr_t word_in(const char *struct_bytes, unsigned offset) {
  uintptr_t word;
  memcpy(&word, struct_bytes + offset, sizeof(word));
  return word;
}

static int32_t int_in(const char *struct_bytes, unsigned offset) {
  int32_t value;
  memcpy(&value, struct_bytes + offset, sizeof(value));
  return value;
}

// Reads the bytes of an object.
struct window {
  bool is_safe; // the object is certainly readable, so it is read in place
  // Otherwise: the bytes that the last system call has read.
  uintptr_t at;
  size_t len;
  unsigned char bytes[192];
};

// Returns the byte at the address, or -1 if it cannot be read.
static inline int byte_at(struct window *w, uintptr_t at) {
  if (w->is_safe)
    return *(const unsigned char *)at;
  if (at - w->at >= w->len) {
    w->at = at;
    w->len =
        at < MPROF_PAGE ? 0 : mprof_sys_copy(w->bytes, at, sizeof(w->bytes));
    if (w->len == 0)
      return -1;
  }
  return w->bytes[at - w->at];
}

// Reads `size` bytes at the address `at`, as a number. Returns false if they
// cannot be read.
static bool number_at(struct window *w, uintptr_t at, unsigned size,
                      uint64_t *number) {
  *number = 0;
  for (unsigned i = 0; i < size; i++) {
    const int byte = byte_at(w, at + i);
    if (byte < 0)
      return false;
    *number |= (uint64_t)byte << 8 * i;
  }
  return true;
}

// --- texts ---

// Appends the character c to t, in UTF-8. Returns false if there is no room.
static bool put_character(struct mprof_text *t, uint32_t c) {
  char bytes[4];
  size_t n = 0;
  if (c < 0x80) {
    bytes[n++] = (char)c;
  } else if (c < 0x800) {
    bytes[n++] = (char)(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    bytes[n++] = (char)(0xe0 | c >> 12);
    bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
  } else {
    bytes[n++] = (char)(0xf0 | c >> 18);
    bytes[n++] = (char)(0x80 | (c >> 12 & 0x3f));
    bytes[n++] = (char)(0x80 | (c >> 6 & 0x3f));
  }
  if (c >= 0x80)
    bytes[n++] = (char)(0x80 | (c & 0x3f));
  if (t->len + n >= t->cap)
    return false;
  mprof_text_mem(t, bytes, n);
  return true;
}

// Copies the str object at `at` to t. Copies only the end of a long text.
// Returns false if there is no such object.
static bool read_text(uintptr_t at, bool is_safe, struct mprof_text *t) {
  enum { ASCII = 1 << 4, COMPACT = 1 << 3, KIND = 7 };
  const struct layout *l = &interpreter.layout;
  struct window w;
  w.is_safe = is_safe;
  w.at = w.len = 0;
  uint64_t type, len, state, c;
  if (!number_at(&w, at + OBJECT_TYPE, 8, &type) ||
      type != interpreter.str_type ||
      !number_at(&w, at + STR_LENGTH, 8, &len) ||
      !number_at(&w, at + STR_STATE, 4, &state))
    return false;
  state >>= l->kind_at;
  const unsigned size = state & ASCII ? 1 : state & KIND;
  uintptr_t data = at + (state & ASCII ? l->ascii : l->characters);
  if ((state & COMPACT) == 0 || (size != 1 && size != 2 && size != 4) ||
      len > INT32_MAX)
    return false;
  if (len > t->cap - 1) {
    data += (len - (t->cap - 1)) * size;
    len = t->cap - 1;
  }
  t->buf[0] = '\0';
  for (uint64_t i = 0; i < len; i++) {
    if (!number_at(&w, data + i * size, size, &c) || c < ' ' || c > 0x10ffff)
      return false;
    const bool is_surrogate = c >= 0xd800 && c < 0xe000; // not valid in UTF-8
    if (!put_character(t, is_surrogate ? '?' : (uint32_t)c))
      break;
  }
  return true;
}

// --- lines ---

// The functions return the line of the instruction at the offset `at`, in
// bytes, 0 if the instruction has no line, and -1 if the table cannot be read.
// w: for reading the table [p, end), which begins with the line `line`.

static int line_of_lnotab(struct window *w, uintptr_t p, uintptr_t end, int at,
                          int line) {
  for (int address = 0; p + 1 < end; p += 2) {
    const int step = byte_at(w, p), lines = byte_at(w, p + 1);
    if (step < 0 || lines < 0)
      return -1;
    address += step;
    if (address > at)
      break;
    line += (signed char)lines;
  }
  return line;
}

static int line_of_ranges(struct window *w, uintptr_t p, uintptr_t end, int at,
                          int line) {
  for (int address = 0; p + 1 < end; p += 2) {
    const int step = byte_at(w, p), lines = byte_at(w, p + 1);
    if (step < 0 || lines < 0)
      return -1;
    const bool has_line = lines != 0x80;
    line += has_line ? (signed char)lines : 0;
    address += step;
    if (address > at)
      return has_line ? line : 0;
  }
  return -1;
}

// Reads a number of PEP 657, of 6 bits in each byte, and moves *p behind it.
static int read_varint(struct window *w, uintptr_t *p) {
  unsigned value = 0;
  for (unsigned shift = 0; shift < 30; shift += 6) {
    const int byte = byte_at(w, (*p)++);
    if (byte < 0)
      return 0;
    value |= (unsigned)(byte & 63) << shift;
    if ((byte & 64) == 0)
      break;
  }
  return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

static int line_of_locations(struct window *w, uintptr_t p, uintptr_t end,
                             int at, int line) {
  enum { FIRST = 0x80, ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NONE = 15 };
  int address = 0;
  while (p < end) {
    const int head = byte_at(w, p++);
    if (head < 0 || (head & FIRST) == 0)
      return -1;
    const int code = head >> 3 & 15;
    if (code == NO_COLUMNS || code == LONG)
      line += read_varint(w, &p);
    else if (code >= ONE_LINE && code < NO_COLUMNS)
      line += code - ONE_LINE;
    address += ((head & 7) + 1) * 2;
    if (address > at)
      return code == NONE ? 0 : line;
    while (p < end && (byte_at(w, p) & FIRST) == 0)
      p++;
  }
  return -1;
}

// at: offset of the instruction in bytes. It is less than 0 if the function has
// not begun.
static int line_of(const char *code, int at, bool is_safe) {
  const struct layout *l = &interpreter.layout;
  const uintptr_t table = word_in(code, l->lines);
  const int first = int_in(code, l->first_line);
  struct window w;
  w.is_safe = is_safe;
  w.at = w.len = 0;
  uint64_t len;
  if (at < 0)
    return first;
  if (!number_at(&w, table + BYTES_LENGTH, 8, &len) || len > INT32_MAX)
    return -1;
  const uintptr_t p = table + BYTES_DATA;
  if (l->lines_format == LINES_LNOTAB)
    return line_of_lnotab(&w, p, p + len, at, first);
  if (l->lines_format == LINES_RANGES)
    return line_of_ranges(&w, p, p + len, at, first);
  return line_of_locations(&w, p, p + len, at, first);
}

// --- code objects ---

// Code objects whose texts and table were read by system calls. Later, these
// are read in place: a code object has a reference to them. Threads write the
// words without a lock. A mix of the words of two threads does no harm, because
// each word is compared.
static struct {
  _Atomic uintptr_t code, name, file, lines;
} known_codes[512];

// Returns whether the code object has the same texts and table as when they
// were read before. If is_read is true, remembers them.
static bool is_known(uintptr_t at, const char *code, bool is_read) {
  const struct layout *l = &interpreter.layout;
  const uintptr_t words[] = {at, word_in(code, l->name), word_in(code, l->file),
                             word_in(code, l->lines)};
  const size_t i = at * UINT64_C(0x9e3779b97f4a7c15) >> 55;
  _Atomic uintptr_t *known = &known_codes[i].code;
  bool is_same = true;
  for (size_t j = 0; j < 4; j++) {
    if (is_read)
      atomic_store_explicit(&known[j], words[j], memory_order_relaxed);
    is_same &=
        atomic_load_explicit(&known[j], memory_order_relaxed) == words[j];
  }
  return is_same;
}

// Returns the address that stands for a line of the code object. Returns 0 if
// the code object is not as it should be, or if there are too many lines.
// at: address of the code object
// code: its first bytes
// instruction: the offset of the instruction that runs
// is_event: the code object certainly exists
static mprof_pc address_of(uintptr_t at, const char *code, int instruction,
                           bool is_event) {
  const struct layout *l = &interpreter.layout;
  char name[MPROF_PYTHON_NAME], file[MPROF_PYTHON_FILE];
  struct mprof_text name_text = MPROF_TEXT(name), file_text = MPROF_TEXT(file);
  const bool is_safe = is_event && is_known(at, code, false);
  const int line = line_of(code, instruction, is_safe);
  if (line < 0 || !read_text(word_in(code, l->name), is_safe, &name_text) ||
      !read_text(word_in(code, l->file), is_safe, &file_text))
    return 0;
  if (!is_safe)
    is_known(at, code, true);
  const mprof_pc pc = mprof_python_address(&(struct mprof_python_line){
      .function = name,
      .file = file,
      .line = (unsigned)line,
      .start_line = (unsigned)int_in(code, l->first_line)});
  if (pc == 0)
    mprof_stat_add(MPROF_STAT_python_lines_full, 1);
  return pc;
}

// --- frames ---

// The memory of the last frames that were read. From 3.11 on, the frame of a
// caller is mostly below that of the called function, in the same memory.
struct frame_memory {
  bool is_event; // the calling thread has these frames, and runs them
  uintptr_t at;
  size_t len;
  char bytes[1024];
};

// Returns the bytes of the frame, or NULL if they cannot be read.
static const char *frame_bytes(struct frame_memory *m, uintptr_t frame) {
  const struct layout *l = &interpreter.layout;
  const size_t below = sizeof(m->bytes) - FRAME_BYTES;
  const size_t needed =
      l->instruction < l->mark ? l->mark + 1 : l->instruction + 8;
  if ((frame & 7) != 0 || frame < MPROF_PAGE)
    return NULL;
  if (frame - m->at < m->len && m->len - (frame - m->at) >= needed)
    return m->bytes + (frame - m->at);
  m->at = frame - below;
  if (l->grouping != GROUP_SINGLE)
    m->len = mprof_sys_copy(m->bytes, m->at, sizeof(m->bytes));
  if (m->len == sizeof(m->bytes))
    return m->bytes + below;
  // The memory may begin, or end, near the frame.
  m->at = frame;
  m->len = mprof_sys_copy(m->bytes, frame, FRAME_BYTES);
  return m->len < needed ? NULL : m->bytes;
}

// Reads the frame at *at, and sets *at to its caller's frame. Appends the
// address of its line to pcs, and increments *n, unless it belongs to no
// function of Python. Sets *is_last if the frame is the last one of its group.
// Returns false if there is a doubt.
static bool read_frame(struct frame_memory *m, uintptr_t *at, mprof_pc *pcs,
                       size_t *n, bool *is_last) {
  const struct layout *l = &interpreter.layout;
  const char *frame = frame_bytes(m, *at);
  char code[CODE_BYTES];
  if (frame == NULL)
    return false;
  const uintptr_t code_at = word_in(frame, l->code) & ~(uintptr_t)7;
  const unsigned char mark = (unsigned char)frame[l->mark];
  *at = word_in(frame, l->previous);
  *is_last = l->grouping == GROUP_SINGLE ||
             (l->grouping == GROUP_TO_ENTRY ? mark == 1 : mark >= 3);
  // A mark is a small number.
  if (l->grouping != GROUP_SINGLE && mark > 4)
    return false;
  if (l->grouping == GROUP_TO_SENTINEL && *is_last)
    return true;
  if (!read_bytes(code_at, code, sizeof(code)) ||
      word_in(code, OBJECT_TYPE) != interpreter.code_type)
    return false;
  // The interpreter itself has such code, which cleans up after __init__.
  if (word_in(code, l->name) == word_in(code, l->file))
    return true;
  int instruction = int_in(frame, l->instruction);
  if (l->lines_format == LINES_RANGES)
    instruction *= 2;
  else if (l->lines_format == LINES_LOCATIONS)
    instruction = (int)(word_in(frame, l->instruction) - (code_at + l->start));
  pcs[*n] = address_of(code_at, code, instruction, m->is_event);
  return pcs[(*n)++] != 0;
}

// --- threads ---

// The functions return the address of a PyThreadState, or 0 if there is none.

// Returns the state of the calling thread. The value of one of its pthread keys
// is the address.
static uintptr_t own_state(void) {
  // The interpreter creates its key early, so the key is a small number.
  enum { KEYS = 64 };
  static atomic_int key_plus_1; // 0: unknown
  const int known = atomic_load_explicit(&key_plus_1, memory_order_relaxed);
  const int end = known != 0 ? known : KEYS;
  for (int i = known != 0 ? known - 1 : 0; pthread_getspecific && i < end;
       i++) {
    const uintptr_t state = (uintptr_t)pthread_getspecific((pthread_key_t)i);
    uintptr_t id;
    if ((state & 7) != 0 ||
        !read_bytes(state + interpreter.layout.thread_id, &id, sizeof(id)) ||
        id != (uintptr_t)pthread_self())
      continue;
    atomic_store_explicit(&key_plus_1, i + 1, memory_order_relaxed);
    return state;
  }
  return 0;
}

// Returns the state of the thread tid. Other threads may change the lists
// meanwhile, so their lengths are limited.
static uintptr_t state_of(int tid) {
  enum { STATES_MAX = 10000 };
  const struct layout *l = &interpreter.layout;
  uintptr_t i, state, id;
  int left = STATES_MAX;
  if (l->interpreters == 0 ||
      !read_bytes(interpreter.runtime + l->interpreters, &i, sizeof(i)))
    return 0;
  while (i != 0 && left-- > 0) {
    if (!read_bytes(i + l->threads, &state, sizeof(state)))
      return 0;
    while (state != 0 && left-- > 0) {
      if (!read_bytes(state + l->kernel_id, &id, sizeof(id)))
        return 0;
      if (id == (uintptr_t)tid)
        return state;
      if (!read_bytes(state + l->next_thread, &state, sizeof(state)))
        return 0;
    }
    if (!read_bytes(i + l->next_interpreter, &i, sizeof(i)))
      return 0;
  }
  return 0;
}

// Returns the frame that the thread runs, or 0 if it is not known.
static uintptr_t current_frame(int tid) {
  const struct layout *l = &interpreter.layout;
  const bool is_own = tid == 0 || tid == mprof_sys_gettid();
  const uintptr_t state = is_own ? own_state() : state_of(tid);
  uintptr_t frame;
  if (state == 0 || !read_bytes(state + l->current, &frame, sizeof(frame)) ||
      (l->has_cframe &&
       !read_bytes(frame + l->in_cframe, &frame, sizeof(frame))))
    return 0;
  return frame;
}

// --- stacks ---

static bool is_eval(mprof_pc pc) {
  const struct mprof_code_range cold = interpreter.cold;
  return pc - 1 - mprof_python.begin <
             atomic_load_explicit(&mprof_python.end, memory_order_relaxed) -
                 mprof_python.begin ||
         pc - 1 - cold.begin < cold.end - cold.begin;
}

// Largest number of addresses that are inserted in a stack.
enum { INSERTED_MAX = 512 };

// Writes the functions of Python that the innermost `groups` calls of the
// interpreter's function run to lines, with a 0 after each group. Returns their
// number with the 0s, or 0 if there is a doubt. If there is no room for all of
// them, leaves the outermost ones out, and sets *is_cut. is_whole: there are no
// further calls. tid: see mprof_python_insert.
static size_t read_groups(mprof_pc *lines, size_t groups, bool is_whole,
                          int tid, bool *is_cut) {
  uintptr_t frame = current_frame(tid);
  struct frame_memory m;
  size_t n = 0;
  m.is_event = tid == 0;
  m.at = m.len = 0;
  while (groups > 0) {
    bool is_last;
    *is_cut = n + 2 > INSERTED_MAX;
    if (*is_cut)
      return n;
    if (frame == 0 || !read_frame(&m, &frame, lines, &n, &is_last))
      return 0;
    if (is_last) {
      lines[n++] = 0;
      groups--;
    }
  }
  return is_whole && frame != 0 ? 0 : n;
}

// Replaces the interpreter's function in the n addresses at pcs by the groups
// of lines. A group may be empty while the interpreter begins or ends a
// function. Returns the number of addresses. Sets *is_cut if there is no room
// for all of them.
static size_t put_groups(mprof_pc *pcs, size_t n, size_t depth,
                         const mprof_pc *lines, size_t len, bool *is_cut) {
  // Moves the stack to the end of the array, and writes the new stack from the
  // start on.
  size_t from = depth - n, to = 0, at = 0;
  memmove(pcs + from, pcs, n * sizeof(*pcs));
  while (from < depth) {
    const mprof_pc pc = pcs[from++];
    if (!is_eval(pc) || (at < len && lines[at] == 0)) {
      pcs[to++] = pc;
      at += is_eval(pc);
      continue;
    }
    for (; at < len && lines[at] != 0; at++) {
      if (to == from) {
        *is_cut = true;
        if (from == depth)
          return to;
        // Drops the outermost address.
        memmove(pcs + from + 1, pcs + from, (depth - from - 1) * sizeof(*pcs));
        from++;
      }
      pcs[to++] = lines[at];
    }
    if (at++ == len)
      return to; // the other lines were left out
  }
  return to;
}

size_t mprof_python_insert(mprof_pc *pcs, size_t n, size_t depth,
                           enum mprof_stack_end *end, bool *has_python,
                           int tid) {
  mprof_pc lines[INSERTED_MAX];
  size_t calls = 0;
  bool is_cut = false;
  for (size_t i = 0; i < n; i++)
    calls += is_eval(pcs[i]);
  if (calls == 0)
    return n;
  *has_python = true;
  size_t len = 0;
  if (interpreter.layout.lines_format != LINES_NONE)
    len = read_groups(lines, calls, *end == MPROF_STACK_COMPLETE, tid, &is_cut);
  if (len == 0) {
    mprof_stat_add(MPROF_STAT_python_lost, 1);
    return n;
  }
  n = put_groups(pcs, n, depth, lines, len, &is_cut);
  if (is_cut)
    *end = MPROF_STACK_CUT_DEPTH;
  return n;
}
