// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries of dlopen and dlmopen. A library that is loaded with RTLD_DEEPBIND
// finds the functions of its own dependencies first, so it calls libc's malloc
// and not the interceptor. The entry of dlopen therefore changes the references
// of such a library, and of the libraries that were loaded with it, to the
// interceptors, after dlopen has returned. Allocations by the constructors of
// these libraries have then passed. Their blocks are not counted, and a later
// free of such a block does no harm.
//
// Only references to the function that the interceptor itself calls are
// changed. A library with an allocator of its own keeps its allocator.
//
// dlopen uses the address of its caller: a name without a directory is also
// looked up in the directories of the calling module's RUNPATH. So the entry
// jumps to dlopen for such a name, and for all calls without RTLD_DEEPBIND, and
// dlopen sees the same caller as without MProf.

#include "entry/entry_load.h"

#include "heap/beneath.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/abi_words.h"
#include "sys/base.h"
#include "sys/os_memory.h"
#include "sys/stats.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

// Weak, because static programs need not have these functions. The linker gold
// prints a warning for static programs that do.
#pragma weak dlopen

size_t (*mprof_load_more)(struct mprof_replacement *v, size_t cap);

#ifdef RTLD_DEEPBIND // not in musl

#pragma weak dlmopen
#pragma weak dlsym
#pragma weak dlerror

enum { MAX_REPLACEMENTS = 512 };

struct patch {
  struct mprof_replacement v[MAX_REPLACEMENTS];
  // Whether the loaded library's calls that are not bound yet would reach
  // v[i].beneath.
  bool is_reached[MAX_REPLACEMENTS];
  size_t count;
  // Modules of the loader's list to leave out: those that were loaded before.
  unsigned skip, seen;
  struct mprof_loads old; // the loader's counts before the call of dlopen
  unsigned number;        // of this call in `begun`
  // The loader appends new modules to its list. If it also unloaded some, or
  // another thread opened a library with its own definitions, it is not known
  // which modules are new. Then only bound references are changed.
  bool is_known;
  struct link_map *handle; // the opened library
  bool is_opened; // the module, and those after it on the list, may be new
};

// Number of calls of dlopen with RTLD_DEEPBIND that have begun.
static atomic_uint begun;

// Appends the functions with interceptors. Appends none in a static program,
// whose table has `plain`.
static void add_interceptors(struct patch *p) {
  if (mprof_intercept_c->plain)
    return;
  for (const struct mprof_intercept *i = mprof_intercept_c; i->name; i++)
    if (i->own && i->next && *i->next)
      p->v[p->count++] = (struct mprof_replacement){i->name, *i->next, i->own};
}

static void *find(const struct mprof_reference *reference, void *arg) {
  const struct patch *p = arg;
  for (size_t i = 0; i < p->count; i++)
    if (reference->is_bound ? reference->now == p->v[i].beneath
                            : p->is_known && p->is_reached[i] &&
                                  strcmp(reference->name, p->v[i].name) == 0)
      return p->v[i].own;
  return NULL;
}

static int change(struct dl_phdr_info *info, size_t size, void *arg) {
  struct patch *p = arg;
  (void)size;
  // The list does not change during dl_iterate_phdr, so another thread that has
  // added to it has counted in `begun` before.
  p->is_known = p->is_known && info->dlpi_subs == p->old.subs &&
                atomic_load(&begun) == p->number;
  const bool may_be_new = !p->is_known || p->seen >= p->skip;
  p->seen++;
  // The loader appends a library before its dependencies. Modules before it are
  // older, also those that another thread loaded during the call of dlopen.
  if (may_be_new && info->dlpi_addr == p->handle->l_addr)
    p->is_opened = true;
  if (p->is_opened)
    mprof_relocations_replace(info, find, p);
  return 0;
}

static int count_module(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)info;
  (void)size;
  ++*(unsigned *)arg;
  return 0;
}

// Changes the references of the libraries that the call of dlopen has loaded.
// The handle is a reference to them, so no other thread unloads them.
static void patch(struct patch *p) {
  const struct mprof_loads now = mprof_module_loads();
  if (now.adds == p->old.adds)
    return;
  add_interceptors(p);
  if (mprof_load_more)
    p->count += mprof_load_more(p->v + p->count, MAX_REPLACEMENTS - p->count);
  p->is_known = now.subs == p->old.subs && atomic_load(&begun) == p->number;
  for (size_t i = 0; p->is_known && dlsym && i < p->count; i++) {
    void *const f = dlsym(p->handle, p->v[i].name);
    p->is_reached[i] = f == p->v[i].beneath;
    if (f == NULL && dlerror)
      dlerror(); // the program must not find this error
  }
  dl_iterate_phdr(change, p);
}

static void *open_deep(const char *file, int mode) {
  const int before = errno;
  struct patch *p = mprof_os_map(sizeof(*p));
  if (p == NULL) {
    errno = before;
    return dlopen(file, mode);
  }
  p->number = atomic_fetch_add(&begun, 1) + 1;
  p->old = mprof_module_loads();
  dl_iterate_phdr(count_module, &p->skip);
  errno = before;
  void *const handle = dlopen(file, mode);
  const int after = errno;
  p->handle = handle; // glibc's handles are link maps
  if (handle != NULL)
    patch(p);
  mprof_os_unmap(p, sizeof(*p));
  errno = after;
  return handle;
}

// Returns whether the result of dlopen does not depend on its caller.
static bool has_directory(const char *file) {
  return file && strchr(file, '/') && !strchr(file, '$');
}

MPROF_ENTRY void *__mprof_dlopen(const char *file, int mode) {
  if ((mode & RTLD_DEEPBIND) && has_directory(file) && mprof_init_ready() &&
      mprof_intercepted.c) __attribute__
    ((musttail)) return open_deep(file, mode);
  __attribute__((musttail)) return dlopen(file, mode);
}

MPROF_ENTRY void *__mprof_dlmopen(Lmid_t space, const char *file, int mode) {
  if (space != LM_ID_BASE)
    mprof_stat_add(MPROF_STAT_namespaces, 1);
  __attribute__((musttail)) return dlmopen(space, file, mode);
}

// --- the libraries that are not counted ---

struct count {
  uintptr_t own, beneath; // an address in the modules that are not counted
  bool is_lost;
  unsigned lost;
};

static bool contains(const struct dl_phdr_info *info, uintptr_t address) {
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
    if (ph->p_type == PT_LOAD &&
        address - info->dlpi_addr - ph->p_vaddr < ph->p_memsz)
      return true;
  }
  return false;
}

static void *note_direct(const struct mprof_reference *reference, void *arg) {
  struct count *c = arg;
  if (!reference->is_bound || !reference->is_of_calls)
    return NULL;
  for (const struct mprof_intercept *i = mprof_intercept_c; i->name; i++)
    if (i->next && reference->now == *i->next)
      c->is_lost = true;
  return NULL;
}

static int count_direct(struct dl_phdr_info *info, size_t size, void *arg) {
  struct count *c = arg;
  (void)size;
  c->is_lost = false;
  if (!contains(info, c->own) && !contains(info, c->beneath))
    mprof_relocations_replace(info, note_direct, c);
  c->lost += c->is_lost;
  return 0;
}

void mprof_load_count_lost(void) {
  struct count c = {.lost = 0};
  if (!mprof_intercepted.c || mprof_intercept_c->plain ||
      mprof_module_loads().adds == mprof_module_adds_at_start)
    return;
  c.own = (uintptr_t)mprof_intercept_c->own;
  c.beneath = (uintptr_t)*mprof_intercept_c->next;
  dl_iterate_phdr(count_direct, &c);
  if (c.lost > 0)
    mprof_stat_add(MPROF_STAT_libraries_uncounted, c.lost);
}

#else

MPROF_ENTRY void *__mprof_dlopen(const char *file, int mode) {
  __attribute__((musttail)) return dlopen(file, mode);
}

void mprof_load_count_lost(void) {}

#endif
