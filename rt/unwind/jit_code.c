// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remembers the memory in which the program makes code at run time (just in
// time); see rules.h.
//
// The kernel's list of mappings is read when the unwinder meets an address that
// is in no module and in no known range. The address may be an arbitrary value,
// so that the list would be read again and again. Therefore the next reading
// waits 50 times as long as the last one has taken. An address that is certain
// needs no wait, unless the list did not have many of them.

#include "unwind/rules.h"

#include "sys/clock.h"
#include "sys/os.h"

#include <string.h>

enum { RANGES = 64, COPIES = 4, WAIT_FACTOR = 50, MISSES_MAX = 64 };

static struct {
  // Readers need no lock. The first `len` ranges are valid, and only grow.
  struct {
    _Atomic uintptr_t start, limit;
  } v[RANGES];
  _Atomic size_t len;
  // Code of modules that the program has mapped a second time, as V8 does with
  // its builtins.
  struct {
    uintptr_t start, limit, original;
  } copies[COPIES];
  _Atomic size_t copies_len;
  atomic_flag is_busy; // held by the thread that changes the ranges
  uint64_t next_look;  // time in ticks; guarded by is_busy
  unsigned misses;     // certain addresses that the list did not have; as above
} jit = {.is_busy = ATOMIC_FLAG_INIT};

void mprof_jit_reset(void) {
  atomic_flag_clear(&jit.is_busy);
  mprof_jit_objects_reset();
}

bool mprof_jit_holds(uintptr_t addr) {
  const size_t len = atomic_load_explicit(&jit.len, memory_order_acquire);
  for (size_t i = 0; i < len; i++)
    if (addr >= atomic_load_explicit(&jit.v[i].start, memory_order_relaxed) &&
        addr < atomic_load_explicit(&jit.v[i].limit, memory_order_relaxed))
      return true;
  return false;
}

// Adds the range [start, limit) to the range i, and what lies between them.
static void widen(size_t i, uintptr_t start, uintptr_t limit) {
  if (start < atomic_load_explicit(&jit.v[i].start, memory_order_relaxed))
    atomic_store_explicit(&jit.v[i].start, start, memory_order_relaxed);
  if (limit > atomic_load_explicit(&jit.v[i].limit, memory_order_relaxed))
    atomic_store_explicit(&jit.v[i].limit, limit, memory_order_relaxed);
}

// Adds a range. Without room, the range is lost.
static void add_locked(uintptr_t start, uintptr_t limit) {
  const size_t len = atomic_load_explicit(&jit.len, memory_order_relaxed);
  for (size_t i = 0; i < len; i++)
    if (start <= atomic_load_explicit(&jit.v[i].limit, memory_order_relaxed) &&
        limit >= atomic_load_explicit(&jit.v[i].start, memory_order_relaxed)) {
      widen(i, start, limit);
      return;
    }
  if (len == RANGES)
    return;
  atomic_store_explicit(&jit.v[len].start, start, memory_order_relaxed);
  atomic_store_explicit(&jit.v[len].limit, limit, memory_order_relaxed);
  atomic_store_explicit(&jit.len, len + 1, memory_order_release);
}

void mprof_jit_add(uintptr_t start, uintptr_t limit) {
  if (atomic_flag_test_and_set_explicit(&jit.is_busy, memory_order_acquire))
    return;
  add_locked(start, limit);
  atomic_flag_clear_explicit(&jit.is_busy, memory_order_release);
}

mprof_pc mprof_jit_original(mprof_pc pc) {
  const size_t len =
      atomic_load_explicit(&jit.copies_len, memory_order_acquire);
  for (size_t i = 0; i < len; i++)
    if (pc - 1 - jit.copies[i].start <
        jit.copies[i].limit - jit.copies[i].start)
      return pc - jit.copies[i].start + jit.copies[i].original;
  return pc;
}

static void add_copy_locked(uintptr_t start, uintptr_t limit,
                            uintptr_t original) {
  const size_t len =
      atomic_load_explicit(&jit.copies_len, memory_order_relaxed);
  if (len == COPIES || mprof_jit_original(start + 1) != start + 1)
    return;
  jit.copies[len].start = start;
  jit.copies[len].limit = limit;
  jit.copies[len].original = original;
  atomic_store_explicit(&jit.copies_len, len + 1, memory_order_release);
}

// --- the kernel's list ---

static uintptr_t read_hex(const char **p) {
  uintptr_t v = 0;
  for (;; ++*p) {
    const char c = **p;
    if (c >= '0' && c <= '9')
      v = v << 4 | (uintptr_t)(c - '0');
    else if (c >= 'a' && c <= 'f')
      v = v << 4 | (uintptr_t)(c - 'a' + 10);
    else
      return v;
  }
}

bool mprof_jit_is_memory(const char *name) {
  static const char *const memory[] = {"/memfd:", "/dev/zero", "/SYSV",
                                       "/anon_hugepage"};
  for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
    if (strncmp(name, memory[i], strlen(memory[i])) == 0)
      return true;
  return name[0] != '/' && strncmp(name, "[v", 2) != 0;
}

// A line "from-to perms offset major:minor inode   name".
struct line {
  uintptr_t from, to, offset;
  const char *perms, *file; // each with what follows; file: device and inode
  const char *name;         // ends with a newline
};

// Skips a field and the blanks behind it.
static void skip_field(const char **p) {
  *p += strcspn(*p, " \n");
  *p += strspn(*p, " ");
}

// Reads the line at *p, and moves *p to the next one. Returns false at the end.
static bool read_line(const char **p, struct line *l) {
  if (**p == '\0')
    return false;
  l->from = read_hex(p);
  *p += **p == '-';
  l->to = read_hex(p);
  *p += strspn(*p, " ");
  l->perms = *p;
  skip_field(p);
  l->offset = read_hex(p);
  *p += strspn(*p, " ");
  l->file = *p;
  skip_field(p);
  skip_field(p);
  l->name = *p;
  *p += strcspn(*p, "\n");
  *p += **p == '\n';
  return true;
}

static bool is_code(const struct line *l) {
  return l->from < l->to && strcspn(l->perms, " \n") == 4 && l->perms[2] == 'x';
}

// Returns the address of the module's code that the mapping c is a copy of, or
// 0.
static uintptr_t find_original(const char *list, const struct line *c) {
  // Device and inode, with one blank behind the inode.
  const size_t device = strcspn(c->file, " \n") + 1;
  const size_t n = device + strcspn(c->file + device, " \n") + 1;
  struct line l;
  while (read_line(&list, &l))
    if (is_code(&l) && strncmp(l.file, c->file, n) == 0 &&
        l.offset <= c->offset && c->offset - l.offset < l.to - l.from &&
        mprof_eh_module(l.from).end != 0)
      return l.from + (c->offset - l.offset);
  return 0;
}

// Adds the ranges of the list. A compiler reserves a range of addresses and
// makes more and more of it executable, so the reserved neighbours of code
// belong to its range.
static void add_list(const char *list) {
  uintptr_t start = 0, limit = 0; // of the range so far
  bool has_code = false;
  struct line l;
  for (const char *p = list; read_line(&p, &l);) {
    const bool is_memory = mprof_jit_is_memory(l.name);
    const bool belongs =
        is_memory && (is_code(&l) || strncmp(l.perms, "---p ", 5) == 0);
    if (!belongs || l.from != limit) {
      if (has_code)
        add_locked(start, limit);
      has_code = false;
      start = l.from;
    }
    limit = belongs ? l.to : 0;
    has_code |= belongs && is_code(&l);
    // Code of a file is a second mapping of a module, or has no unwind tables.
    if (!is_memory && is_code(&l) && mprof_eh_module(l.from).end == 0) {
      const uintptr_t original = find_original(list, &l);
      if (original != 0)
        add_copy_locked(l.from, l.to, original);
      add_locked(l.from, l.to);
    }
  }
  if (has_code)
    add_locked(start, limit);
}

enum mprof_jit_answer mprof_jit_look(uintptr_t addr, bool is_sure) {
  if (mprof_jit_holds(addr))
    return MPROF_JIT_CODE;
  if (atomic_flag_test_and_set_explicit(&jit.is_busy, memory_order_acquire))
    return MPROF_JIT_UNKNOWN;
  enum mprof_jit_answer answer = MPROF_JIT_UNKNOWN;
  const uint64_t begin = mprof_clock_now();
  struct mprof_procfile f;
  if ((is_sure && jit.misses < MISSES_MAX) || jit.next_look == 0 ||
      (int64_t)(begin - jit.next_look) >= 0) {
    if (mprof_procfile_read(&f, "/proc/self/maps") == 0) {
      add_list(f.data);
      mprof_procfile_free(&f);
      answer = MPROF_JIT_NONE;
    }
    const uint64_t end = mprof_clock_now();
    jit.next_look = (end + (end - begin) * WAIT_FACTOR) | 1;
  }
  if (mprof_jit_holds(addr))
    answer = MPROF_JIT_CODE;
  else if (is_sure && answer == MPROF_JIT_NONE)
    jit.misses++;
  atomic_flag_clear_explicit(&jit.is_busy, memory_order_release);
  return answer;
}

// The code that Python makes for each of its functions (python3 -X perf) has no
// frame pointer, and returns at once after its call.
struct mprof_cfa_rule mprof_jit_rule(uintptr_t pc, bool *is_settled) {
  unsigned char code[MPROF_LEAVE_BYTES];
  struct mprof_cfa_rule r;
  if (mprof_jit_object_rule(pc, &r, is_settled))
    return r;
  const int words =
      mprof_os_copy(code, pc + 1, sizeof(code)) ? mprof_leave_words(code) : 0;
  if (words == 0)
    return (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
  return (struct mprof_cfa_rule){.base = MPROF_CFA_LEAVES,
                                 .cfa_words = words,
                                 .ra_is_saved = true,
                                 .ra_words = -1};
}
