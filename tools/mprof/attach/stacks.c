// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "attach/stacks.h"

#include "common/memory.h"
#include "names/places.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stacks {
  Dwfl *dwfl;
  struct target target;
};

static int find_elf(Dwfl_Module *module, void **data, const char *name,
                    Dwarf_Addr base, char **file, Elf **elf) {
  if (!*data || name[0] != '/')
    return dwfl_linux_proc_find_elf(module, data, name, base, file, elf);
  return target_open(*data, base, name, file);
}

// Needs no debug information.
static int find_nothing(Dwfl_Module *module, void **data, const char *name,
                        Dwarf_Addr base, const char *file, const char *link,
                        GElf_Word crc, char **found) {
  (void)module, (void)data, (void)name, (void)base, (void)file, (void)link,
      (void)crc, (void)found;
  return -1;
}

static const Dwfl_Callbacks callbacks = {.find_elf = find_elf,
                                         .find_debuginfo = find_nothing};

static int set_target(Dwfl_Module *m, void **data, const char *name,
                      Dwarf_Addr start, void *target) {
  (void)m, (void)name, (void)start;
  *data = target;
  return DWARF_CB_OK;
}

// Reads the symbols and the unwind tables now, because no thread is stopped.
static int read_tables(Dwfl_Module *m, void **data, const char *name,
                       Dwarf_Addr start, void *unused) {
  Dwarf_Addr bias;
  (void)data, (void)name, (void)start, (void)unused;
  dwfl_module_getsymtab(m);
  dwfl_module_eh_cfi(m, &bias);
  return DWARF_CB_OK;
}

struct stacks *stacks_begin(const struct target *t) {
  struct stacks *s = calloc(1, sizeof *s);
  if (!s)
    return NULL;
  s->target = *t;
  s->dwfl = dwfl_begin(&callbacks);
  if (!s->dwfl || dwfl_linux_proc_report(s->dwfl, t->pid) != 0 ||
      dwfl_report_end(s->dwfl, NULL, NULL) != 0) {
    stacks_end(s);
    return NULL;
  }
  dwfl_getmodules(s->dwfl, set_target, &s->target, 0);
  dwfl_getmodules(s->dwfl, read_tables, NULL, 0);
  // The caller has stopped the thread.
  if (dwfl_linux_proc_attach(s->dwfl, t->pid, true) != 0) {
    stacks_end(s);
    return NULL;
  }
  return s;
}

void stacks_end(struct stacks *s) {
  if (s->dwfl)
    dwfl_end(s->dwfl);
  free(s);
}

static bool has_prefix(const char *text, const char *const *prefixes,
                       size_t count) {
  for (size_t i = 0; i < count; i++)
    if (strncmp(text, prefixes[i], strlen(prefixes[i])) == 0)
      return true;
  return false;
}

// Returns whether the module is the loader, or an allocator.
static bool is_unsafe_module(const char *path) {
  static const char *const prefixes[] = {
      "ld-linux",    "ld-2.",       "ld64.so",     "libjemalloc",
      "libtcmalloc", "libmimalloc", "libsnmalloc", "libmprof_"};
  return has_prefix(basename(path), prefixes,
                    sizeof prefixes / sizeof *prefixes);
}

// Returns whether the function may hold a lock of the allocator, the loader or
// the list of threads.
static bool is_unsafe_function(const char *name) {
  static const char *const names[] = {
      "malloc",          "free",           "calloc",        "realloc",
      "reallocarray",    "memalign",       "aligned_alloc", "posix_memalign",
      "valloc",          "pvalloc",        "cfree",         "malloc_trim",
      "malloc_info",     "mallinfo",       "mallinfo2",     "mallopt",
      "malloc_stats",    "fork",           "vfork",         "_Fork",
      "dlopen",          "dlmopen",        "dlclose",       "dlsym",
      "dlvsym",          "dladdr",         "dladdr1",       "dlinfo",
      "dl_iterate_phdr", "pthread_create", "exit",          "quick_exit",
      "__cxa_atexit",    "__cxa_finalize", "on_exit",       "pthread_atfork",
      "pthread_exit",    "sbrk",           "brk",           "execve",
      "posix_spawn",     "posix_spawnp",
  };
  static const char *const prefixes[] = {"__libc_malloc",
                                         "__libc_free",
                                         "__libc_calloc",
                                         "__libc_realloc",
                                         "__libc_memalign",
                                         "__libc_dlopen",
                                         "__libc_dlsym",
                                         "_int_",
                                         "_mid_",
                                         "_dl_",
                                         "je_",
                                         "mi_",
                                         "tc_",
                                         "tcmalloc",
                                         "_Znw",
                                         "_Zna",
                                         "_Zdl",
                                         "_Zda",
                                         "pthread_create@"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strcmp(name, names[i]) == 0)
      return true;
  return has_prefix(name, prefixes, sizeof prefixes / sizeof *prefixes);
}

// Returns whether the module has a function malloc of its own.
static bool defines_malloc(Dwfl_Module *m) {
  const int count = dwfl_module_getsymtab(m);
  for (int i = 1; i < count; i++) {
    GElf_Sym symbol;
    GElf_Word section;
    const char *name = dwfl_module_getsym(m, i, &symbol, &section);
    if (name && strcmp(name, "malloc") == 0 && section != SHN_UNDEF)
      return true;
  }
  return false;
}

// Returns whether a thread that sleeps in the function of libc is in no
// allocator, also if the callers have no names.
static bool is_wait_of_program(const char *name) {
  static const char *const prefixes[] = {"poll",
                                         "ppoll",
                                         "select",
                                         "pselect",
                                         "epoll_",
                                         "nanosleep",
                                         "clock_nanosleep",
                                         "usleep",
                                         "sleep",
                                         "pause",
                                         "sigsuspend",
                                         "sigwait",
                                         "accept",
                                         "recv",
                                         "read",
                                         "wait4",
                                         "waitpid",
                                         "pthread_cond_",
                                         "pthread_join",
                                         "sem_wait"};
  return has_prefix(name, prefixes, sizeof prefixes / sizeof *prefixes);
}

struct walk {
  size_t frames;
  bool is_unsafe, sleeps;
  // About the frames of libc so far, one after the other.
  bool is_in_libc, is_named;
  bool has_left_libc;
  bool is_wait;    // the thread sleeps in is_wait_of_program
  bool needs_wait; // a function without a name may be one of an allocator
  const struct stacks *stacks;
};

// Judges the function of libc that the program has called. A libc without a
// symbol table does not name its internal functions, and some functions of the
// allocator, such as memalign, have no frame after a tail call. The innermost
// one of a thread that sleeps may be pthread_join, for which the same holds.
static void leave_libc(struct walk *w) {
  if (!w->is_named && (w->has_left_libc || !w->sleeps))
    w->is_unsafe = true;
}

static int look(Dwfl_Frame *frame, void *arg) {
  struct walk *w = arg;
  Dwarf_Addr pc, start = 0;
  bool is_activation;
  if (!dwfl_frame_pc(frame, &pc, &is_activation))
    return DWARF_CB_ABORT;
  pc -= !is_activation;
  Dwfl_Module *m = dwfl_addrmodule(w->stacks->dwfl, pc);
  const char *file =
      m ? dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL)
        : NULL;
  const char *name = m ? dwfl_module_addrname(m, pc) : NULL;
  const bool is_in_libc = start != 0 && start == w->stacks->target.libc;
  w->frames++;
  if (w->is_in_libc && !is_in_libc)
    leave_libc(w);
  w->has_left_libc |= !is_in_libc;
  w->is_in_libc = is_in_libc;
  w->is_named = name != NULL;
  if (is_in_libc && !w->has_left_libc && name)
    w->is_wait = w->sleeps && is_wait_of_program(name);
  w->needs_wait |= m && !is_in_libc && !name && defines_malloc(m);
  w->is_unsafe |=
      (file && is_unsafe_module(file)) || (name && is_unsafe_function(name));
  return w->is_unsafe || w->frames >= 1000 ? DWARF_CB_ABORT : DWARF_CB_OK;
}

bool stacks_is_safe(struct stacks *s, pid_t tid, bool sleeps) {
  struct walk w = {.stacks = s, .sleeps = sleeps};
  dwfl_getthread_frames(s->dwfl, tid, look, &w);
  // A stack that does not leave libc may hide the function that the program has
  // called.
  return w.has_left_libc && !w.is_unsafe && (w.is_wait || !w.needs_wait);
}

// --- reading ---

struct reading {
  struct stacks *stacks;
  struct stack *to;
  bool is_in_libc; // all frames so far
};

static int read_frame(Dwfl_Frame *frame, void *arg) {
  struct reading *r = arg;
  struct stack *to = r->to;
  Dwarf_Addr pc, start = 0;
  bool is_activation;
  if (!dwfl_frame_pc(frame, &pc, &is_activation) || pc == 0)
    return DWARF_CB_ABORT;
  pc -= !is_activation;
  Dwfl_Module *m = dwfl_addrmodule(r->stacks->dwfl, pc);
  if (m)
    dwfl_module_info(m, NULL, &start, NULL, NULL, NULL, NULL, NULL);
  r->is_in_libc &= start == r->stacks->target.libc && start != 0;
  if (r->is_in_libc) {
    const char *name = dwfl_module_addrname(m, pc);
    to->count = 0;
    if (name)
      snprintf(to->waits_in, sizeof to->waits_in, "%.*s",
               (int)strcspn(name, "@"), name);
  }
  to->addresses[to->count++] = pc;
  return to->count < STACK_FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

void stacks_read(struct stacks *s, pid_t tid, struct stack *stack) {
  struct reading r = {.stacks = s, .to = stack, .is_in_libc = true};
  stack->count = 0;
  stack->waits_in[0] = '\0';
  dwfl_getthread_frames(s->dwfl, tid, read_frame, &r);
}

char *stacks_build_id(struct stacks *s, uint64_t address) {
  const unsigned char *bits;
  GElf_Addr place;
  Dwfl_Module *m = dwfl_addrmodule(s->dwfl, address);
  const int length = m ? dwfl_module_build_id(m, &bits, &place) : 0;
  return length > 0 ? hex_of(bits, (size_t)length) : text_of("");
}
