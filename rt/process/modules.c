// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the loader's list of modules. Finds the module that contains an
// address, and counts the modules that were loaded and unloaded.

#include "process/modules.h"

#include "sys/arch.h"
#include "sys/base.h"
#include "sys/os.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

struct search {
  uintptr_t address;
  struct mprof_module found;
};

unsigned long long mprof_module_adds_at_start;

static int look(struct dl_phdr_info *info, size_t size, void *arg) {
  struct search *s = arg;
  (void)size;
  mprof_module_adds_at_start = info->dlpi_adds;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + ph->p_vaddr;
    if (ph->p_type != PT_LOAD || s->address - start >= ph->p_memsz)
      continue;
    s->found.id = (uintptr_t)info->dlpi_phdr;
    s->found.start = start;
    s->found.end = start + ph->p_memsz;
    mprof_text_copy(s->found.name, sizeof(s->found.name),
                    mprof_text_base_name(info->dlpi_name));
    return 1;
  }
  return 0;
}

struct mprof_module mprof_module_of(void *address) {
  // Most searches find the same module as the last search did, libc. No module
  // is unloaded while the runtime starts.
  static struct mprof_module last;
  struct search s = {.address = (uintptr_t)address};
  if (s.address - last.start < last.end - last.start)
    return last;
  if (address)
    dl_iterate_phdr(look, &s);
  last = s.found;
  return s.found;
}

// Weak, because static programs need not have the function.
#pragma weak dlsym

void *(*mprof_next_late)(const char *name);

void *mprof_next_definition(const char *name) {
  if (mprof_next_late)
    return mprof_next_late(name);
  return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

bool mprof_module_contains(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    if (ph->p_type == PT_LOAD &&
        address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
      return true;
  }
  return false;
}

static int has_prefix(struct dl_phdr_info *info, size_t size, void *prefix) {
  (void)size;
  return mprof_text_after(mprof_text_base_name(info->dlpi_name), prefix) !=
         NULL;
}

bool mprof_module_is_loaded(const char *prefix) {
  return dl_iterate_phdr(has_prefix, (void *)prefix) != 0;
}

static int count(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  *(struct mprof_loads *)arg =
      (struct mprof_loads){.adds = info->dlpi_adds, .subs = info->dlpi_subs};
  return 1;
}

struct mprof_loads mprof_module_loads(void) {
  struct mprof_loads loads = {0, 0};
  dl_iterate_phdr(count, &loads);
  return loads;
}

// --- references ---
//
// The module's dynamic section has the addresses of two tables of relocations:
// one for calls, and one for all other words.

struct module {
  const struct dl_phdr_info *info;
  const ElfW(Sym) * symbols;
  const char *names;
  uintptr_t begin, end; // of the module's memory
  // Pages that are read-only, once the dynamic linker has relocated the module.
  uintptr_t relro_begin, relro_end;
};

struct table {
  const ElfW(Rela) * begin;
  size_t bytes;
};

static void *address_of(const struct module *m, const ElfW(Dyn) * d) {
  return (void *)mprof_dynamic_address(m->info->dlpi_addr, d->d_un.d_ptr);
}

static const ElfW(Dyn) * read_headers(struct module *m) {
  const struct dl_phdr_info *info = m->info;
  const uintptr_t page = getauxval(AT_PAGESZ);
  const ElfW(Dyn) *dynamic = NULL;
  m->begin = UINTPTR_MAX;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    const uintptr_t at = info->dlpi_addr + ph->p_vaddr;
    if (ph->p_type == PT_DYNAMIC)
      dynamic = (const void *)at;
    if (ph->p_type == PT_GNU_RELRO) {
      m->relro_begin = at & ~(page - 1);
      m->relro_end = (at + ph->p_memsz) & ~(page - 1);
    }
    if (ph->p_type != PT_LOAD)
      continue;
    if (at < m->begin)
      m->begin = at;
    if (at + ph->p_memsz > m->end)
      m->end = at + ph->p_memsz;
  }
  return dynamic;
}

static bool is_relro(const struct module *m, const void *word) {
  return (uintptr_t)word - m->relro_begin < m->relro_end - m->relro_begin;
}

// Returns whether the word is in a segment with data. The dynamic linker makes
// segments with code writable if it has to relocate them, and code may run
// meanwhile.
static bool is_data(const struct module *m, const void *word) {
  for (int i = 0; i < m->info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &m->info->dlpi_phdr[i];
    if (ph->p_type == PT_LOAD && (ph->p_flags & PF_W) &&
        (uintptr_t)word - m->info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
      return true;
  }
  return false;
}

// Changes the word if it has the value `old`. While another thread's dlopen
// relocates the module, its RELRO pages are writable, and this function must
// not touch them: the dynamic linker writes to them, and makes them read-only
// at the end. Once they are read-only, it leaves them alone. No other thread is
// in this function, because all of them are in dl_iterate_phdr, which takes a
// lock of the loader.
static void write_word(const struct module *m, void **word, void *old,
                       void *value) {
  const uintptr_t page = getauxval(AT_PAGESZ);
  void *const at = (void *)((uintptr_t)word & ~(page - 1));
  const bool is_read_only = is_relro(m, word);
  if (is_read_only ? !mprof_sys_is_read_only((uintptr_t)word)
                   : !is_data(m, word))
    return;
  if (is_read_only && mprotect(at, page, PROT_READ | PROT_WRITE) != 0)
    return;
  // If the dynamic linker has bound the word just now, the word keeps its
  // value. If it does so just after this function, it overwrites the new value.
  // In both cases the module calls a function that it may call.
  __atomic_compare_exchange_n(word, &old, value, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
  if (is_read_only)
    mprotect(at, page, PROT_READ);
}

static void visit(const struct module *m, const ElfW(Rela) * r,
                  mprof_replace_fn *replace, void *arg) {
  const unsigned type = ELF64_R_TYPE(r->r_info);
  const unsigned symbol = ELF64_R_SYM(r->r_info);
  if (symbol == 0 ||
      (type != MPROF_CALL_RELOCATION && type != MPROF_GOT_RELOCATION &&
       type != MPROF_ADDRESS_RELOCATION))
    return;
  void **const word = (void **)(m->info->dlpi_addr + r->r_offset);
  struct mprof_reference reference = {
      .name = m->names + m->symbols[symbol].st_name,
      .now = __atomic_load_n(word, __ATOMIC_ACQUIRE),
      .is_of_calls = type != MPROF_ADDRESS_RELOCATION,
  };
  // A call that is not bound yet goes to the module's own code.
  reference.is_bound = type != MPROF_CALL_RELOCATION ||
                       m->symbols[symbol].st_shndx != SHN_UNDEF ||
                       (uintptr_t)reference.now - m->begin >= m->end - m->begin;
  void *const value = replace(&reference, arg);
  if (value != NULL && value != reference.now)
    write_word(m, word, reference.now, value);
}

void mprof_relocations_replace(const struct dl_phdr_info *info,
                               mprof_replace_fn *replace, void *arg) {
  struct module m = {.info = info};
  struct table calls = {NULL, 0}, others = {NULL, 0};
  size_t relative =
      0; // number of relocations without a symbol, which are first
  const ElfW(Dyn) *d = read_headers(&m);
  for (; d != NULL && d->d_tag != DT_NULL; d++)
    switch (d->d_tag) {
    case DT_SYMTAB:
      m.symbols = address_of(&m, d);
      break;
    case DT_STRTAB:
      m.names = address_of(&m, d);
      break;
    case DT_JMPREL:
      calls.begin = address_of(&m, d);
      break;
    case DT_PLTRELSZ:
      calls.bytes = d->d_un.d_val;
      break;
    case DT_RELA:
      others.begin = address_of(&m, d);
      break;
    case DT_RELASZ:
      others.bytes = d->d_un.d_val;
      break;
    case DT_RELACOUNT:
      relative = d->d_un.d_val;
      break;
    default:
      break;
    }
  if (m.symbols == NULL || m.names == NULL)
    return;
  const int before = errno;
  for (size_t i = 0; calls.begin && i < calls.bytes / sizeof(*calls.begin); i++)
    visit(&m, &calls.begin[i], replace, arg);
  for (size_t i = relative;
       others.begin && i < others.bytes / sizeof(*others.begin); i++)
    visit(&m, &others.begin[i], replace, arg);
  errno = before;
}

// --- symbols ---

struct symbol_search {
  const char *name;
  const void *except;
  uintptr_t found;
};

static int look_for_symbol(struct dl_phdr_info *info, size_t size, void *arg) {
  struct symbol_search *s = arg;
  struct mprof_symbol_source from = {.base = info->dlpi_addr};
  (void)size;
  if (s->except && mprof_module_contains(info, (uintptr_t)s->except))
    return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
      from.dynamic = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  s->found = from.dynamic != 0 ? mprof_symbol_find(&from, s->name) : 0;
  return s->found != 0;
}

uintptr_t mprof_module_symbol(const char *name, const void *except) {
  struct symbol_search s = {.name = name, .except = except};
  dl_iterate_phdr(look_for_symbol, &s);
  return s.found;
}
