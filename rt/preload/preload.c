// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of libc in libmprof_preload.so, the runtime for programs that
// were built without MProf, and its start. The dynamic linker loads the library
// before the program's libraries, because LD_PRELOAD names it. Its definitions
// of malloc (entry/intercept_heap.c), pthread_mutex_lock and others replace
// those of libc.
//
// If the program itself was built with MProf, the program has the runtime, and
// this copy only passes calls on (init.c, is_first_copy).

#include "preload/preload.h"
#include "entry/entry.h"
#include "heap/beneath.h"
#include "lock_wait/hooked.h"
#include "options/flags.h"
#include "process/helper_environment.h"
#include "process/modules.h"
#include "process/process.h"
#include "sys/arch.h"
#include "sys/base.h"
#include "sys/os.h"

#include <errno.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// --- the functions of libc ---
//
// The library defines functions of libc for programs that were built without
// MProf: locks, waits, blocking calls, thread creation, dlopen, dlclose, mmap
// and the like, _exit and the exec functions; and functions of liburing, which
// makes its system calls without libc. The dynamic linker binds the calls of
// the program and of all its libraries to these definitions. Each definition is
// a jump through the `target` of a switch (lock_wait/hooked.h):
//
//   program, library -> f of this library -> target --> f of libc
//                                                   `-> __mprof_f -> f of libc
//
// So a function whose kind of waits is off costs one jump. The runtime itself
// calls f of libc: the linker redirects its calls of f to __wrap_f (--wrap),
// which is a jump through the switch's field `function`.
//
// The allocation functions are in entry/intercept_heap.c, and the operators of
// C++ in operators.c.

// Defines three functions for f. `f` and `__wrap_f` jump through the switch of
// f. `mprof_first_f` is the first value of the switch's field `function`: it
// finds libc's f, and jumps to it. Only a call that precedes this library's
// constructor runs it, such as a call by a constructor of another library.
// `mprof_code_f` is another name of `f`, because `f` itself means `__wrap_f` in
// this library's code.
#define FUNCTION(Name, Visibility, Body)                                       \
  ".globl " Name "\n" Visibility " " Name "\n"                                 \
  ".type " Name ", @function\n" Name ":\n"                                     \
  ".cfi_startproc\n" MPROF_LANDING Body ".cfi_endproc\n"                       \
  ".size " Name ", . - " Name "\n"
#define CODE(f)                                                                \
  extern char mprof_first_##f[] __attribute__((visibility("hidden")));         \
  extern char mprof_code_##f[] __attribute__((visibility("hidden")));          \
  __asm__(                                                                     \
      ".globl mprof_code_" #f "\n.hidden mprof_code_" #f "\n"                  \
      ".set mprof_code_" #f ", " #f "\n.text\n"                                \
      ".p2align 4\n" FUNCTION(#f, ".globl",                                    \
                              MPROF_JUMP_THROUGH("mprof_switch_" #f))          \
          FUNCTION("__wrap_" #f, ".hidden",                                    \
                   MPROF_JUMP_THROUGH("mprof_switch_" #f "+8"))                \
              FUNCTION("mprof_first_" #f, ".hidden",                           \
                       MPROF_BIND("mprof_switch_" #f, "mprof_preload_bind")));
_Static_assert(offsetof(struct __mprof_switch, target) == 0, "see CODE");
_Static_assert(offsetof(struct __mprof_switch, function) == 8, "see CODE");

// Calls mprof_preload_find for the switch whose address is in a register that
// holds no argument (MPROF_BIND), and jumps to its result. Keeps all registers
// that hold arguments. None of the functions has arguments in vector registers.
__asm__(".text\n"
        ".type mprof_preload_bind, @function\n"
        "mprof_preload_bind:\n"
        ".cfi_startproc\n" MPROF_BINDER(
            "mprof_preload_find") ".cfi_endproc\n"
                                  ".size mprof_preload_bind, . - "
                                  "mprof_preload_bind\n");

// --- one definition for each such function in hooks.def ---

struct call {
  struct __mprof_switch *its_switch;
  const char *name;
  void *code;
  bool is_of_uring;
};

#define CALL(Section, f, Target, Kind, IsOfUring)                              \
  CODE(f)                                                                      \
  extern char __mprof_##f[];                                                   \
  __attribute__((visibility("hidden"), section(Section),                       \
                 used)) struct __mprof_switch mprof_switch_##f = {             \
      Target, mprof_first_##f, __mprof_##f, Kind, 0};                          \
  __attribute__((section("mprof_calls"),                                       \
                 used)) static const struct call call_##f = {                  \
      &mprof_switch_##f, #f, mprof_code_##f, IsOfUring};
// A function whose entry is called while its kind is on. The runtime sets the
// switches in this section.
#define SWITCHED(f, Kind, IsOfUring)                                           \
  CALL("mprof_switches", f, mprof_first_##f, Kind, IsOfUring)
// A function whose entry is always called.
#define ALWAYS(f) CALL("mprof_always", f, __mprof_##f, MPROF_KIND_COUNT, false)

#define MPROF_RELEASE_OUTSIDE(Symbol, ...)
#define MPROF_WAIT_OUTSIDE(Symbol, ...)
#define MPROF_CREATE_OUTSIDE(Symbol, ...)
#define MPROF_RELEASE(Symbol, ...) SWITCHED(Symbol, MPROF_KIND_COUNT, false)
#define MPROF_WAIT(Symbol, Proto, Kind)                                        \
  SWITCHED(Symbol, MPROF_KIND_##Kind, false)
#define MPROF_WAIT_URING(Symbol, Proto, Kind)                                  \
  SWITCHED(Symbol, MPROF_KIND_##Kind, true)
#define MPROF_CREATE(Symbol, ...) ALWAYS(Symbol)
#define MPROF_UNLOAD(Symbol, ...) ALWAYS(Symbol)
#define MPROF_LEAVE(Symbol, ...) ALWAYS(Symbol)
#define MPROF_SIGNAL(Symbol, ...) ALWAYS(Symbol)
#define MPROF_MAP(Symbol, ...) ALWAYS(Symbol)
#include "mprof/hooks.def"

extern const struct call __start_mprof_calls[], __stop_mprof_calls[];

// --- the next definitions ---

// Takes the place of a function that no other library has.
static long missing(void) {
  errno = ENOSYS;
  return -1;
}

static bool has_uring;

// Asks the loader for no function of liburing in a program without liburing: a
// search without a result allocates memory.
static void *next_of(const struct call *c) {
  void *f =
      c->is_of_uring && !has_uring ? NULL : mprof_next_definition(c->name);
  return f ? f : (void *)missing;
}

static void bind(const struct call *c) {
  const int before = errno;
  struct __mprof_switch *s = c->its_switch;
  void *const first = s->function;
  void *const f = next_of(c);
  // `target` first: a thread that reads the new `function` through __wrap_f
  // may then already call through `target`.
  if (s->target == first)
    __atomic_store_n(&s->target, f, __ATOMIC_RELEASE);
  __atomic_store_n(&s->function, f, __ATOMIC_RELEASE);
  errno = before;
}

// Returns the next function of the switch s. Called by mprof_preload_bind.
__attribute__((visibility("hidden"), used)) void *
mprof_preload_find(struct __mprof_switch *s) {
  has_uring = mprof_module_is_loaded("liburing.so");
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls; c++)
    if (c->its_switch == s)
      bind(c);
  return s->function;
}

static bool has_no_next(const struct call *c) {
  return c->its_switch->function == (void *)missing;
}

// Returns whether `code` is the code of one of these functions, and no other
// library defines the function. Call after init_calls.
static bool is_missing_call(const void *code) {
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls; c++)
    if (c->code == code)
      return has_no_next(c);
  return false;
}

// The function in mprof_load_more.
static size_t put_replacements(struct mprof_replacement *v, size_t cap) {
  size_t n = 0;
  for (const struct call *c = __start_mprof_calls;
       c < __stop_mprof_calls && n < cap; c++)
    if (!has_no_next(c))
      v[n++] =
          (struct mprof_replacement){c->name, c->its_switch->function, c->code};
  return n;
}

extern struct __mprof_switch __start_mprof_switches[], __stop_mprof_switches[];

// The node counts as that of the program, because these definitions replace
// those of all modules.
static struct __mprof_switches node = {.begin = __start_mprof_switches,
                                       .end = __stop_mprof_switches,
                                       .is_program = 1};

// Finds libc's definitions of all functions, so that later calls need no
// loader, and gives their switches to the runtime. Call once, at start. Takes
// the loader's lock. Keeps errno.
static void init_calls(void) {
  has_uring = mprof_module_is_loaded("liburing.so");
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls;
       c++) {
    const struct __mprof_switch *s = c->its_switch;
    bind(c);
    const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
    // Otherwise the runtime would ask the loader, which finds this library.
    if (number >= 0 && !mprof_hooked_functions[number])
      mprof_hooked_functions[number] = s->function;
  }
  mprof_load_more = put_replacements;
  __mprof_register_switches(&node);
}

// --- withdrawn definitions ---

// Returns the address to which an entry of the dynamic section refers, or 0.
static uintptr_t address_of(ElfW(Sxword) tag) {
  for (const ElfW(Dyn) *d = _DYNAMIC; d->d_tag != DT_NULL; d++)
    if (d->d_tag == tag)
      return d->d_un.d_ptr;
  return 0;
}

static bool set_protection(ElfW(Sym) * begin, ElfW(Sym) * end, int protection) {
  const uintptr_t first = (uintptr_t)begin & -mprof_sys_page_size();
  return mprotect((void *)first, (uintptr_t)end - first, protection) == 0;
}

static bool is_missing(const ElfW(Sym) * symbol) {
  extern const char __ehdr_start[] MPROF_HIDDEN; // where the library begins
  const void *const code = __ehdr_start + symbol->st_value;
  return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
         symbol->st_shndx != SHN_UNDEF &&
         (mprof_preload_operators_is_missing(code) || is_missing_call(code));
}

// Takes back definitions of libmprof_preload.so that have no next definition in
// another library: the operators of C++ in a C program, the functions of
// liburing, and functions that this libc does not have. So libraries that the
// program opens later find the definitions that they would find without this
// library, and so does a program that tests whether a function exists. The
// dynamic linker passes over symbols without a value. Called after the next
// definitions have been looked up. Keeps errno.
static void withdraw(void) {
  ElfW(Sym) *begin = (ElfW(Sym) *)address_of(DT_SYMTAB);
  // The hash table begins with the numbers of its buckets and of the symbols.
  const uint32_t *const table = (const uint32_t *)address_of(DT_HASH);
  if (!begin || !table)
    return;
  ElfW(Sym) *end = begin + table[1];
  while (begin < end && !is_missing(begin))
    begin++;
  while (begin < end && !is_missing(end - 1))
    end--;
  const int before = errno;
  if (begin < end && set_protection(begin, end, PROT_READ | PROT_WRITE)) {
    for (ElfW(Sym) *s = begin; s < end; s++)
      if (is_missing(s)) {
        s->st_value = 0;
        s->st_shndx = SHN_UNDEF;
      }
    set_protection(begin, end, PROT_READ);
  }
  errno = before;
}

// --- children ---

// Removes the library from LD_PRELOAD, and also the variable if it was the only
// library. Changes the list and the array of variables in place, because the
// memory of the environment is part of the program's stack, and because main
// may get the array as an argument.
static void leave_children_alone(void) {
  static const char name[] = "LD_PRELOAD=";
  char **to = environ;
  for (char **e = environ; e && *e; e++) {
    if (strncmp(*e, name, sizeof(name) - 1) == 0 &&
        !mprof_preload_list_clean(*e + sizeof(name) - 1))
      continue;
    *to++ = *e;
  }
  if (to)
    *to = NULL;
}

// Returns whether children are profiled, too. The runtime's own constructor
// comes before at_load in the library, so the options are known. But the
// library's copy of the runtime has read none if the program has a runtime of
// its own. It reads them then without messages, because it has prepared none.
static bool follows_children(void) {
  if (mprof_process_is_inert())
    mprof_flags_init();
  return mprof_flags.follow_fork;
}

// --- start ---

__attribute__((constructor(101))) static void at_load(void) {
  const bool is_late = mprof_init_is_late();
  init_calls();
  if (!is_late)
    mprof_preload_operators_init();
  withdraw();
  mprof_entry_thread_sees_library();
  if (!is_late && !follows_children())
    leave_children_alone();
}
