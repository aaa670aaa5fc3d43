// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Entries for the shared libraries of a program: those with an allocator of
// their own, those that dlopen loads, and those that are unloaded.

#include "entry/entry.h"

#include "entry/entry_lock.h"
#include "heap/beneath.h"
#include "heap/event.h"
#include "process/modules.h"
#include "process/process.h"
#include "symbolize/module_unloads.h"
#include "sys/abi_words.h"
#include "sys/base.h"
#include "sys/libc.h"
#include "sys/os.h"
#include "sys/stats.h"
#include "sys/tls.h"
#include "unwind/python.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

// --- libraries with a private allocator ---

// A version script, the linker option -Bsymbolic or hidden visibility can bind
// a library to its own malloc or C++ operators. Blocks of such a library must
// not be passed to the program's allocator, which is the target of the pointers
// __mprof_next_* (beneath.h). These blocks are not counted. If the private
// allocator takes its memory from the program's allocator, that memory is
// counted.

// The hook of one heap function in the code of a shared library; hooks.def
// explains the fields.
struct __mprof_module_hook {
#define MPROF_MODULE_HOOK_FIELD(Type, Name) Type Name;
#include "mprof/hooks.def"
};
// Binds a hook to the program's function or to the library's own function.
MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *hook);
// Called before the allocation of a block that is not counted. size: bytes of
// the block, which the call site has subtracted from the sampling countdown. If
// the countdown has run out, draws a new countdown, so that this sample is
// lost. With the old countdown, a later block would be counted in place of this
// block.
MPROF_ENTRY void __mprof_drop_sample(size_t size);

// The hooked heap functions, in the order of mprof_heap_functions.
static void *const *const words[] = {
#define MPROF_HOOK(Symbol, Proto, Rule, Size, Count, Ptr)                      \
  &__mprof_next_##Symbol,
#include "mprof/hooks.def"
};
enum { FUNCTIONS = sizeof(words) / sizeof(words[0]) };

// A program may have no definition of a function: a C program has no C++
// operators. In this case, the definition that the first calling library uses
// counts as the program's definition. This choice ends when any library is
// unloaded.
static struct program_s {
  // The definition that the first calling library uses. NULL: no library has
  // called the function.
  _Atomic(void *) first;
  _Atomic uint64_t unloads; // number of library unloads when `first` was set
} program_s[FUNCTIONS];

// Returns the number of the function of a word, or -1.
static int number_of(void *const *word) {
  for (int i = 0; i < FUNCTIONS; i++)
    if (words[i] == word)
      return i;
  return -1;
}

static bool is_first(struct program_s *p, void *own) {
  void *first = NULL;
  const uint64_t unloads = mprof_resolve_unloads();
  if (atomic_load(&p->unloads) != unloads) {
    atomic_store(&p->unloads, unloads);
    atomic_store(&p->first, own);
  }
  return atomic_compare_exchange_strong(&p->first, &first, own) || first == own;
}

// Returns whether the library uses a definition of a hooked function that is
// not the program's definition. h describes the library and the function. After
// the runtime has started, is_private does not call the loader, because it may
// be called in any context, such as a signal handler.
static bool is_private(const struct __mprof_module_hook *h) {
  const int number = number_of(h->program_s_word);
  if (number < 0 || h->own == NULL)
    return false;
  void *address = mprof_heap_functions[number];
  if (h->own == address ||
      (address == NULL && is_first(&program_s[number], h->own)))
    return false;
  // If the runtime intercepts the hooked function, `address` is the
  // interceptor's address, and *program_s_word holds the address of the
  // function that the interceptor calls. If h->own is that function, the
  // library uses the program's allocator.
  mprof_next_find();
  return h->own != *h->program_s_word;
}

MPROF_ENTRY void __mprof_module_binds(struct __mprof_module_hook *h) {
  bool is_own = is_private(h);
  __atomic_store_n(&h->word, is_own ? &h->own : h->program_s_word,
                   __ATOMIC_RELEASE);
  __atomic_store_n(&h->entry, is_own ? h->own_entry : h->program_s_entry,
                   __ATOMIC_RELEASE);
}

MPROF_ENTRY void __mprof_drop_sample(size_t size) {
  uint64_t rate;
  mprof_sample_hit(size, &rate);
}

// --- loads ---

// A library that is loaded with RTLD_DEEPBIND
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

// Weak, because static programs need not have these functions. The linker gold
// prints a warning for static programs that do.
#pragma weak dlopen

typedef void *dlopen_type(const char *file, int mode);
// Returns dlopen, to be called by its address: for arm64, clang cannot make a
// tail call of a weak function.
static inline dlopen_type *address_of_dlopen(void) {
  dlopen_type *address = dlopen;
  __asm__("" : "+r"(address));
  return address;
}

size_t (*mprof_load_more)(struct mprof_replacement *v, size_t cap);
void (*mprof_load_after)(void);

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

static void *replacement_of(const struct mprof_reference *reference,
                            void *arg) {
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
    mprof_relocations_replace(info, replacement_of, p);
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

static void *open_late(const char *file, int mode) {
  void *const handle = dlopen(file, mode);
  if (handle != NULL)
    mprof_load_after();
  return handle;
}

// Returns whether the result of dlopen does not depend on its caller.
static bool has_directory(const char *file) {
  return file && strchr(file, '/') && !strchr(file, '$');
}

// An interpreter that an earlier call has loaded is found in the next call: it
// loads modules of its own.
MPROF_ENTRY void *__mprof_dlopen(const char *file, int mode) {
  if (mprof_process_ready())
    mprof_python_look();
  if (mprof_load_after && has_directory(file)) __attribute__
    ((musttail)) return open_late(file, mode);
  if ((mode & RTLD_DEEPBIND) && has_directory(file) && mprof_process_ready() &&
      mprof_intercepted.c) __attribute__
    ((musttail)) return open_deep(file, mode);
  dlopen_type *const open = address_of_dlopen();
  __attribute__((musttail)) return open(file, mode);
}

MPROF_ENTRY void *__mprof_dlmopen(Lmid_t space, const char *file, int mode) {
  if (space != LM_ID_BASE)
    mprof_stat_add(MPROF_STAT_namespaces, 1);
  __typeof__(dlmopen) *open = dlmopen;
  __asm__("" : "+r"(open)); // as in address_of_dlopen
  __attribute__((musttail)) return open(space, file, mode);
}

// --- the libraries that are not counted ---

struct count {
  uintptr_t own, beneath; // an address in the modules that are not counted
  bool is_lost;
  unsigned lost;
};

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
  if (!mprof_module_contains(info, c->own) &&
      !mprof_module_contains(info, c->beneath))
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
  dlopen_type *const open = address_of_dlopen();
  __attribute__((musttail)) return open(file, mode);
}

void mprof_load_count_lost(void) {}

#endif

// --- unloads ---

// Unloads are detected in two ways. First, the last destructor of an
// instrumented library calls __mprof_module_unloads, whatever causes the
// unload. Second, the entry of dlclose (the function __mprof_dlclose that
// instrumented code calls) finds the other libraries that dlclose unloads.
// Before the entry calls dlclose, it lists the modules if a module was loaded
// since the last listing. After the call, it finds the modules that are no
// longer loaded (module_unloads.h).
//
// dlclose runs the program's destructors, so the entry holds neither the guard
// nor a lock during the call. The entry does not change the error that dlerror
// returns after dlclose.

// The loader's counts at the last listing of the modules. Each field is written
// after the listing, so a race can only cause a listing that is not needed.
static struct {
  _Atomic unsigned long long adds, subs; // numbers of loads and unloads so far
  atomic_uint epoch; // process's epoch + 1; 0: the modules were never listed
} seen;

static bool is_news(const struct mprof_loads *l, bool unloads_only) {
  return atomic_load(&seen.epoch) != mprof_process_epoch() + 1 ||
         atomic_load(&seen.subs) != l->subs ||
         (!unloads_only && atomic_load(&seen.adds) != l->adds);
}

static void look(bool unloads_only) {
  // Read the counts before the modules are listed. If a module is loaded during
  // this listing, the next call of look() finds the module. The guard is not
  // yet set, because mprof_module_loads calls dl_iterate_phdr, which the
  // program may define itself. With the guard set, events in the program's
  // function would be lost.
  const struct mprof_loads loads = mprof_module_loads();
  if (!is_news(&loads, unloads_only))
    return;
  if (!mprof_guard_enter()) {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
    return;
  }
  mprof_unloads_look();
  mprof_guard_leave();
  atomic_store(&seen.adds, loads.adds);
  atomic_store(&seen.subs, loads.subs);
  atomic_store(&seen.epoch, mprof_process_epoch() + 1);
}

// The reference to dlclose is weak, so that a program that unloads nothing is
// linked without dlclose. Call sites refer only to the entry. Therefore the
// pass keeps a reference to dlclose in each module that calls it.
#pragma weak dlclose

MPROF_ENTRY int __mprof_dlclose(void *handle) {
  if (!mprof_process_ready())
    return dlclose(handle);
  const int before = errno;
  look(false);
  errno = before;
  const int result = dlclose(handle);
  mprof_resolve_forget();
  const int after = errno;
  look(true);
  errno = after;
  return result;
}

// Set at exit. Destructors also run at exit, but they do not mean that a
// library is unloaded.
static atomic_bool is_exiting;

static void note_exit(void) { atomic_store(&is_exiting, true); }

void mprof_unload_init(void) { atexit(note_exit); }

MPROF_ENTRY void __mprof_module_unloads(const void *inside) {
  if (atomic_load(&is_exiting))
    return;
  mprof_resolve_forget();
  if (!atomic_load_explicit(&mprof_is_ready, memory_order_acquire))
    return;
  const int before = errno;
  if (mprof_guard_enter()) {
    mprof_unloads_leave((uintptr_t)inside);
    mprof_guard_leave();
  } else {
    mprof_stat_add(MPROF_STAT_reentrant, 1);
  }
  errno = before;
}
