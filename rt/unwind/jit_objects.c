// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the object files that the program has registered for GDB; see rules.h.
// Compilers such as LLVM's make code at run time, and keep an ELF file in
// memory that describes it. They register this file in a list, so that
// debuggers find names and unwind tables. (GDB: JIT Compilation Interface)
//
//   __jit_debug_descriptor --> entry --> entry --> ...     the list
//                                |         |
//                               file      file             section headers:
//                                                          .text, .eh_frame,
//                                                          .symtab
//
// Another thread may change or free all of this at any time, and it may contain
// any values. So the kernel copies what is read, and all loops are limited.

#include "sys/arch.h"
#include "sys/clock.h"
#include "sys/message.h"
#include "sys/os.h"
#include "unwind/rules.h"

#include <elf.h>
#include <string.h>

// A variable of the program. The modules' tables have no symbol for it if the
// program defines it, but does not export it.
struct descriptor {
  uint32_t version, action;
  uintptr_t relevant, first; // entries: the last change, and the list
};
extern struct descriptor __jit_debug_descriptor __attribute__((weak));

struct entry {
  uintptr_t next, before, file;
  uint64_t size;
};

enum {
  VERSION = 1,
  DESCRIPTORS = 4,
  ENTRIES_MAX = 4096,     // in all lists
  SECTIONS_MAX = 1 << 16, // in all files
  RANGES_MAX = 8192,
  SYMBOLS_MAX = 1 << 16,
  NAMES = 8192, // slots
  NAMES_MAX = NAMES / 4 * 3,
  NAME_MAX_BYTES = 512, // a longer name is cut
  TEXT_BYTES = 1 << 19,
  // A list of so few entries is read whenever an address is not found. A longer
  // one, and the modules' symbols, are read only from time to time: the next
  // reading waits so many times as long as the last one has taken.
  FEW = 64,
  WAIT_FACTOR = 50,
  SPINS = 1000 // so long waits a thread for another one
};

// Code, and the file that describes it.
struct range {
  uintptr_t start, limit, file;
  uint64_t size;
};

// The name of the function with the address pc. Never removed, because the code
// may be freed before a profile is written.
struct name {
  _Atomic uintptr_t pc; // 0: unused
  _Atomic uint32_t at;  // of the text; 0: none yet
};

struct tables {
  struct range ranges[RANGES_MAX];
  struct name names[NAMES]; // a hash table with open addressing
  char texts[TEXT_BYTES];   // a text is never changed
};

static struct {
  atomic_flag is_busy; // guards the fields up to `tables`
  uintptr_t descriptors[DESCRIPTORS];
  struct descriptor seen[DESCRIPTORS]; // as it was when the list was read
  size_t descriptor_count;
  size_t entry_count, range_count;
  uint64_t next_search, next_reading; // times in ticks; 0: now
  uint32_t name_count, text_len;
  struct mprof_window window;
  char name[NAME_MAX_BYTES];
  // Set once, when the first descriptor is found.
  _Atomic(struct tables *) tables;
} jit = {.is_busy = ATOMIC_FLAG_INIT};

void mprof_jit_objects_reset(void) { atomic_flag_clear(&jit.is_busy); }

// --- an object file ---

struct file {
  uintptr_t at, limit;
  Elf64_Ehdr h;
};

// Returns whether the file has size bytes at this offset.
static bool has(const struct file *f, uint64_t offset, uint64_t size) {
  return offset <= f->limit - f->at && size <= f->limit - f->at - offset;
}

static bool open_file(struct file *f, uintptr_t at, uint64_t size) {
  const uint64_t most = UINT64_C(1) << 32;
  if (at == 0 || size > most || at > UINTPTR_MAX - size)
    return false;
  f->at = at;
  f->limit = at + size;
  return has(f, 0, sizeof(f->h)) &&
         mprof_window_copy(&jit.window, &f->h, at, sizeof(f->h), f->limit) &&
         memcmp(f->h.e_ident, ELFMAG, SELFMAG) == 0 &&
         f->h.e_ident[EI_CLASS] == ELFCLASS64 &&
         f->h.e_shentsize == sizeof(Elf64_Shdr) &&
         has(f, f->h.e_shoff, f->h.e_shnum * sizeof(Elf64_Shdr));
}

static bool read_section(const struct file *f, size_t i, Elf64_Shdr *s) {
  return i < f->h.e_shnum &&
         mprof_window_copy(&jit.window, s,
                           f->at + f->h.e_shoff + i * sizeof(*s), sizeof(*s),
                           f->limit);
}

static bool is_code(const Elf64_Shdr *s) {
  return (s->sh_flags & SHF_ALLOC) != 0 && (s->sh_flags & SHF_EXECINSTR) != 0 &&
         s->sh_addr != 0 && s->sh_size != 0 &&
         s->sh_addr <= UINTPTR_MAX - s->sh_size;
}

static bool is_eh_frame(const struct file *f, const Elf64_Shdr *names,
                        const Elf64_Shdr *s) {
  static const char eh_frame[] = ".eh_frame";
  enum { X86_64_UNWIND = 0x70000001 };
  char name[sizeof(eh_frame)];
  return (s->sh_type == SHT_PROGBITS || s->sh_type == X86_64_UNWIND) &&
         (s->sh_flags & SHF_EXECINSTR) == 0 && names->sh_offset <= UINT32_MAX &&
         has(f, names->sh_offset + s->sh_name, sizeof(name)) &&
         mprof_os_copy(name, f->at + names->sh_offset + s->sh_name,
                       sizeof(name)) &&
         memcmp(name, eh_frame, sizeof(name)) == 0;
}

// Where a section is: in the program's memory, or only in the file.
static bool place(const struct file *f, const Elf64_Shdr *s,
                  struct mprof_eh_section *e) {
  const bool is_loaded = s->sh_addr != 0;
  if (is_loaded ? s->sh_addr > UINTPTR_MAX - s->sh_size
                : !has(f, s->sh_offset, s->sh_size))
    return false;
  e->start = is_loaded ? s->sh_addr : f->at + s->sh_offset;
  e->limit = e->start + s->sh_size;
  return true;
}

// The sections that matter for one address.
struct sections {
  size_t text_number;
  Elf64_Shdr text, symbols, names; // sh_size is 0: none
  struct mprof_eh_section unwind;  // start is 0: none
};

// Finds the sections of the file for pc. Returns false if no code of the file
// has pc.
static bool find_sections(const struct file *f, uintptr_t pc,
                          struct sections *found) {
  Elf64_Shdr s, names;
  *found = (struct sections){.text_number = 0};
  if (!read_section(f, f->h.e_shstrndx, &names))
    return false;
  for (size_t i = 0; i < f->h.e_shnum && read_section(f, i, &s); i++) {
    if (is_code(&s) && pc - s.sh_addr < s.sh_size) {
      found->text_number = i;
      found->text = s;
    } else if (s.sh_type == SHT_SYMTAB) {
      found->symbols = s;
    } else if (found->unwind.start == 0 && is_eh_frame(f, &names, &s)) {
      place(f, &s, &found->unwind);
    }
  }
  found->unwind.text = found->text.sh_addr;
  if (found->symbols.sh_size != 0 &&
      !read_section(f, found->symbols.sh_link, &found->names))
    found->symbols.sh_size = 0;
  return found->text.sh_size != 0;
}

// --- names ---

// Copies a name of the file to jit.name. Returns its length.
static size_t copy_name(const struct file *f, uint64_t offset) {
  size_t n = 0;
  while (n < NAME_MAX_BYTES - 1 && has(f, offset + n, 1) &&
         mprof_window_copy(&jit.window, &jit.name[n], f->at + offset + n, 1,
                           f->limit) &&
         jit.name[n] != '\0')
    n++;
  jit.name[n] = '\0';
  return n;
}

// Finds the function with pc, and copies its name to jit.name. Returns the
// length of the name, or 0.
static size_t find_name(const struct file *f, const struct sections *in,
                        uintptr_t pc) {
  const uintptr_t base = f->h.e_type == ET_REL ? in->text.sh_addr : 0;
  const uint64_t count = in->symbols.sh_size / sizeof(Elf64_Sym);
  Elf64_Sym s;
  if (!has(f, in->symbols.sh_offset, in->symbols.sh_size))
    return 0;
  for (uint64_t i = 0; i < count && i < SYMBOLS_MAX; i++) {
    if (!mprof_window_copy(&jit.window, &s,
                           f->at + in->symbols.sh_offset + i * sizeof(s),
                           sizeof(s), f->limit))
      return 0;
    if (ELF64_ST_TYPE(s.st_info) == STT_FUNC && s.st_shndx == in->text_number &&
        pc - base - s.st_value < s.st_size)
      return in->names.sh_offset <= UINT32_MAX
                 ? copy_name(f, in->names.sh_offset + s.st_name)
                 : 0;
  }
  return 0;
}

static struct name *slot_of(struct tables *t, uintptr_t pc) {
  size_t i = (size_t)(mprof_rule_hash(pc) >> 32) % NAMES;
  for (size_t n = 0; n < NAMES; n++, i = (i + 1) % NAMES) {
    const uintptr_t its =
        atomic_load_explicit(&t->names[i].pc, memory_order_acquire);
    if (its == pc || its == 0)
      return &t->names[i];
  }
  return NULL;
}

// Remembers that the function with pc has the name jit.name.
static void keep_name_locked(struct tables *t, uintptr_t pc, size_t len) {
  struct name *n = slot_of(t, pc);
  if (n == NULL || jit.text_len + len + 1 > TEXT_BYTES)
    return;
  // Each invalid character becomes one byte.
  struct mprof_text text = {t->texts + jit.text_len, len + 1, 0};
  mprof_text_clean(&text, jit.name, len);
  const uint32_t old = atomic_load_explicit(&n->at, memory_order_relaxed);
  if (old != 0 ? strcmp(t->texts + old, text.buf) == 0
               : jit.name_count == NAMES_MAX)
    return;
  jit.name_count += old == 0;
  atomic_store_explicit(&n->at, jit.text_len, memory_order_release);
  atomic_store_explicit(&n->pc, pc, memory_order_release);
  jit.text_len += (uint32_t)text.cap;
}

const char *mprof_jit_object_name(uintptr_t pc) {
  struct tables *t = atomic_load_explicit(&jit.tables, memory_order_acquire);
  const struct name *n = t ? slot_of(t, pc) : NULL;
  if (n == NULL || atomic_load_explicit(&n->pc, memory_order_acquire) != pc)
    return NULL;
  return t->texts + atomic_load_explicit(&n->at, memory_order_acquire);
}

// --- the lists ---

// Adds the code of a file. Returns the number of its sections.
static size_t add_file_locked(struct tables *t, const struct entry *e) {
  struct file f;
  Elf64_Shdr s;
  size_t i = 0;
  if (!open_file(&f, e->file, e->size))
    return 0;
  for (; jit.range_count < RANGES_MAX && read_section(&f, i, &s); i++)
    if (is_code(&s))
      t->ranges[jit.range_count++] =
          (struct range){s.sh_addr, s.sh_addr + s.sh_size, e->file, e->size};
  return i;
}

static void read_lists_locked(struct tables *t) {
  size_t sections = 0;
  struct entry e;
  const uint64_t begin = mprof_clock_now();
  jit.range_count = jit.entry_count = 0;
  jit.window.len = 0;
  for (size_t i = 0; i < jit.descriptor_count; i++) {
    if (!mprof_os_copy(&jit.seen[i], jit.descriptors[i], sizeof(jit.seen[i])) ||
        jit.seen[i].version != VERSION)
      continue;
    for (uintptr_t at = jit.seen[i].first;
         at != 0 && jit.entry_count < ENTRIES_MAX && sections < SECTIONS_MAX &&
         mprof_os_copy(&e, at, sizeof(e));
         at = e.next) {
      jit.entry_count++;
      sections += add_file_locked(t, &e);
    }
  }
  const uint64_t end = mprof_clock_now();
  jit.next_reading = end + (end - begin) * WAIT_FACTOR;
}

// Looks for descriptors. Returns the tables, or NULL if there is no descriptor.
static struct tables *search_locked(void) {
  struct tables *t = atomic_load_explicit(&jit.tables, memory_order_relaxed);
  uintptr_t found[DESCRIPTORS] = {0};
  const uint64_t begin = mprof_clock_now();
  size_t n = 0;
  if (&__jit_debug_descriptor != NULL)
    found[n++] = (uintptr_t)&__jit_debug_descriptor;
  n += mprof_find_definitions("__jit_debug_descriptor", &jit.window, found + n,
                              DESCRIPTORS - n);
  if (n > 1 && found[0] == found[1])
    found[1] = found[--n];
  const uint64_t end = mprof_clock_now();
  jit.next_search = (end + (end - begin) * WAIT_FACTOR) | 1;
  if (n > 0 && t == NULL) {
    t = mprof_os_map(sizeof(*t));
    jit.text_len = 1;
    atomic_store_explicit(&jit.tables, t, memory_order_release);
  }
  memcpy(jit.descriptors, found, sizeof(found));
  jit.descriptor_count = t != NULL ? n : 0;
  return jit.descriptor_count > 0 ? t : NULL;
}

static bool is_past(uint64_t time) {
  return time == 0 || (int64_t)(mprof_clock_now() - time) >= 0;
}

static bool have_changed_locked(void) {
  struct descriptor now;
  for (size_t i = 0; i < jit.descriptor_count; i++)
    if (mprof_os_copy(&now, jit.descriptors[i], sizeof(now)) &&
        memcmp(&now, &jit.seen[i], sizeof(now)) != 0)
      return true;
  return false;
}

// Finds the file that describes pc, among those that were read last.
static bool find_known_locked(const struct tables *t, uintptr_t pc,
                              struct file *f, struct sections *in) {
  jit.window.len = 0;
  for (size_t i = 0; i < jit.range_count; i++)
    if (pc - t->ranges[i].start < t->ranges[i].limit - t->ranges[i].start)
      return open_file(f, t->ranges[i].file, t->ranges[i].size) &&
             find_sections(f, pc, in);
  return false;
}

// Does the same, but reads the lists again if that may help. Cached rules may
// belong to code that was freed, so they are dropped when a list has changed.
static bool find_locked(uintptr_t pc, struct file *f, struct sections *in) {
  struct tables *t = atomic_load_explicit(&jit.tables, memory_order_relaxed);
  const bool may_read = jit.entry_count <= FEW || is_past(jit.next_reading);
  if (t != NULL && may_read && have_changed_locked()) {
    read_lists_locked(t);
    mprof_unwind_forget();
  }
  if (t != NULL && find_known_locked(t, pc, f, in))
    return true;
  const bool may_search = is_past(jit.next_search);
  if (may_search)
    t = search_locked();
  if (t == NULL || jit.descriptor_count == 0 || (!may_search && !may_read))
    return false;
  read_lists_locked(t);
  return find_known_locked(t, pc, f, in);
}

// --- the rule of an address ---

// Code at this address may be another by now, so the rule leads to a guess. A
// chain of frame pointers is followed without a rule.
static struct mprof_cfa_rule to_guess(struct mprof_cfa_rule r) {
  if (r.base == MPROF_CFA_FROM_SP)
    r.base = MPROF_CFA_LEAVES;
  else if (r.base != MPROF_CFA_ROOT)
    r = (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
  return r;
}

bool mprof_jit_object_rule(uintptr_t pc, struct mprof_cfa_rule *r,
                           bool *is_settled) {
  struct file f;
  struct sections in;
  int spins = 0;
  while (atomic_flag_test_and_set_explicit(&jit.is_busy, memory_order_acquire))
    if (spins++ == SPINS)
      return *is_settled = false;
    else
      mprof_relax();
  const bool is_found = find_locked(pc, &f, &in);
  if (is_found) {
    *r = (struct mprof_cfa_rule){.base = MPROF_CFA_UNKNOWN};
    if (in.unwind.start != 0)
      *r = to_guess(mprof_eh_rule_in(&in.unwind, pc, &jit.window));
    const size_t len = find_name(&f, &in, pc);
    if (len > 0)
      keep_name_locked(jit.tables, pc, len);
  }
  atomic_flag_clear_explicit(&jit.is_busy, memory_order_release);
  return is_found;
}
