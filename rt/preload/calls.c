// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines functions of libc and liburing for uninstrumented programs; see
// calls.h.

#include "preload/calls.h"

#include "entry/entry_load.h"
#include "lock_wait/hooked.h"
#include "process/modules.h"
#include "sys/arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

// --- the code of the functions ---

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
  void *f = c->is_of_uring && !has_uring ? NULL : dlsym(RTLD_NEXT, c->name);
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

static bool is_missing(const struct call *c) {
  return c->its_switch->function == (void *)missing;
}

bool mprof_preload_calls_is_missing(const void *code) {
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls; c++)
    if (c->code == code)
      return is_missing(c);
  return false;
}

// The function in mprof_load_more.
static size_t put_replacements(struct mprof_replacement *v, size_t cap) {
  size_t n = 0;
  for (const struct call *c = __start_mprof_calls;
       c < __stop_mprof_calls && n < cap; c++)
    if (!is_missing(c))
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

void mprof_preload_calls_init(void) {
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
