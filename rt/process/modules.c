// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the loader's list of modules. Finds the module that contains an
// address, and counts the modules that were loaded and unloaded.

#include "process/modules.h"

#include <link.h>

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
