// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the module that contains a code address; see rules.h.

#include "unwind/rules.h"

#include "process/modules.h"
#include "sys/os.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

// --- glibc 2.35 and later ---

// The answer of _dl_find_object, which headers of older versions do not
// declare. (glibc: struct dl_find_object, for processors without dlfo_eh_dbase)
struct answer {
  unsigned long long flags;
  void *map_start, *map_end;
  struct link_map *map;
  void *eh_frame_hdr;
  unsigned long long reserved[7];
};
typedef int find_object_fn(void *pc, struct answer *answer);

// NULL: libc lacks _dl_find_object. Found by name, because a reference would
// make the runtime's libraries depend on glibc 2.35. Written at start.
static find_object_fn *find_object;

void mprof_find_module_init(void) {
  find_object = (find_object_fn *)mprof_module_symbol("_dl_find_object", NULL);
}

// --- the headers of a module ---

// Returns the address of the program's ELF header, which is in the page of its
// program headers. The program stays loaded, so its memory can be read.
static uintptr_t program_base(void) {
  return getauxval(AT_PHDR) & -getauxval(AT_PAGESZ);
}

// Copies from the ELF header at address `base`. The kernel makes the copy,
// because another thread may unload the module that a wrong base belongs to.
// Makes no system call for the program, which may forbid it (seccomp).
static bool copy_headers(void *to, uintptr_t base, size_t len) {
  if (base != program_base())
    return mprof_os_copy(to, base, len);
  memcpy(to, (const void *)base, len);
  return true;
}

// Stores the module whose ELF header is at address `base`, if the module
// contains pc.
static bool read_module(uintptr_t base, uintptr_t pc,
                        struct mprof_code_module *m) {
  enum { HEADERS_MAX = 24 };
  unsigned char bytes[sizeof(Elf64_Ehdr) + HEADERS_MAX * sizeof(Elf64_Phdr)];
  Elf64_Ehdr file;
  Elf64_Phdr p;
  if (base == 0 || !copy_headers(bytes, base, sizeof(bytes)))
    return false;
  memcpy(&file, bytes, sizeof(file));
  if (memcmp(file.e_ident, ELFMAG, SELFMAG) != 0 ||
      file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_phentsize != sizeof(p) ||
      file.e_phoff > sizeof(bytes) ||
      file.e_phnum > (sizeof(bytes) - file.e_phoff) / sizeof(p))
    return false;
  uintptr_t bias = 0, tables = 0;
  *m = (struct mprof_code_module){0, 0, NULL};
  for (unsigned i = 0; i < file.e_phnum; i++) {
    memcpy(&p, bytes + file.e_phoff + i * sizeof(p), sizeof(p));
    if (p.p_type == PT_GNU_EH_FRAME)
      tables = p.p_vaddr;
    if (p.p_type != PT_LOAD)
      continue;
    // Segments are sorted by address. The first one has the ELF header.
    if (m->limit == 0)
      bias = base + p.p_offset - p.p_vaddr;
    m->start = base;
    m->limit = bias + p.p_vaddr + p.p_memsz;
  }
  m->eh_frame_hdr = (const void *)(bias + tables);
  return tables != 0 && pc >= m->start && pc < m->limit;
}

// --- the loader's list ---

enum { MODULES_MAX = 10000 };

// Returns the loader's list of modules, or NULL in a static program. The
// program stays loaded, so its memory can be read.
static const struct link_map *loaded_modules(void) {
  const Elf64_Phdr *p = (const Elf64_Phdr *)getauxval(AT_PHDR);
  const size_t count = getauxval(AT_PHNUM);
  const Elf64_Phdr *own = NULL; // the header of the headers
  const Elf64_Dyn *d = NULL;
  for (size_t i = 0; p && i < count; i++) {
    if (p[i].p_type == PT_PHDR)
      own = &p[i];
    // Linkers write PT_PHDR first. Without it, the program has no loader.
    if (p[i].p_type == PT_DYNAMIC && own)
      d = (const Elf64_Dyn *)((uintptr_t)p - own->p_vaddr + p[i].p_vaddr);
  }
  for (; d && d->d_tag != DT_NULL; d++)
    if (d->d_tag == DT_DEBUG && d->d_un.d_ptr != 0)
      return ((const struct r_debug *)d->d_un.d_ptr)->r_map;
  return NULL;
}

// Returns the highest address at or below pc at which the loader has loaded a
// module, or 0. Other threads may change the list meanwhile. So the kernel
// copies its elements, and the caller checks the result.
static uintptr_t loaded_below(uintptr_t pc) {
  uintptr_t best = 0;
  const struct link_map *at = loaded_modules();
  struct link_map map;
  for (int i = 0; i < MODULES_MAX && at != NULL; i++, at = map.l_next) {
    if (!mprof_os_copy(&map, (uintptr_t)at, sizeof(map)))
      break;
    if (map.l_addr <= pc && map.l_addr > best)
      best = map.l_addr;
  }
  return best;
}

// The bases of modules that were found before, in no order. Each base is
// checked whenever it is used, because its module may be unloaded.
enum { KNOWN_MAX = 128 };
static _Atomic uintptr_t known[KNOWN_MAX];
static atomic_uint known_next;

static bool find_in_list(uintptr_t pc, struct mprof_code_module *m) {
  uintptr_t best = 0;
  size_t slot = 0;
  if (read_module(program_base(), pc, m))
    return true;
  for (size_t i = 0; i < KNOWN_MAX; i++) {
    const uintptr_t base =
        atomic_load_explicit(&known[i], memory_order_relaxed);
    if (base <= pc && base > best) {
      best = base;
      slot = i;
    }
  }
  if (read_module(best, pc, m))
    return true;
  const uintptr_t base = loaded_below(pc);
  if (!read_module(base, pc, m))
    return false;
  // Modules do not overlap, so an address inside of the found module was the
  // base of an unloaded one.
  if (best <= base)
    slot = atomic_fetch_add_explicit(&known_next, 1, memory_order_relaxed) %
           KNOWN_MAX;
  atomic_store_explicit(&known[slot], base, memory_order_relaxed);
  return true;
}

bool mprof_find_module(uintptr_t pc, struct mprof_code_module *m) {
  struct answer a;
  if (mprof_unlikely(!find_object))
    return find_in_list(pc, m);
  if (find_object((void *)pc, &a) != 0)
    return false;
  *m = (struct mprof_code_module){(uintptr_t)a.map_start, (uintptr_t)a.map_end,
                                  a.eh_frame_hdr};
  // If the module's segments have gaps, glibc reports only the segment with pc.
  const uintptr_t tables = (uintptr_t)m->eh_frame_hdr;
  if (tables != 0 && (tables < m->start || tables >= m->limit))
    return read_module(program_base(), pc, m) ||
           read_module(a.map->l_addr, pc, m);
  return tables != 0;
}

// --- symbols ---

// Copies bytes that may end at the end of a mapping.
static bool copy(void *window, void *to, uintptr_t from, size_t size) {
  return mprof_window_copy(window, to, from, size,
                           (from | (MPROF_PAGE - 1)) + 1);
}

size_t mprof_find_definitions(const char *name, struct mprof_window *w,
                              uintptr_t *found, size_t max) {
  const struct link_map *at = loaded_modules();
  struct link_map map;
  size_t n = 0;
  w->len = 0;
  for (int i = 0; i < MODULES_MAX && at != NULL && n < max;
       i++, at = map.l_next) {
    if (!copy(w, &map, (uintptr_t)at, sizeof(map)))
      break;
    found[n] = mprof_symbol_find(
        &(struct mprof_symbol_source){map.l_addr, (uintptr_t)map.l_ld, copy, w},
        name);
    n += found[n] != 0;
  }
  return n;
}
