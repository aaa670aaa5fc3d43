// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Defines functions of libc for uninstrumented programs; see calls.h.

#include "preload/calls.h"

#include "lock_wait/block_kinds.h"
#include "lock_wait/hooked.h"
#include "lock_wait/switches.h"
#include "sys/arch.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

// --- the code of the functions ---

// Defines three functions for f. `f` and `__wrap_f` jump through the switch of
// f. `mprof_first_f` is the first value of the switch's field `function`: it
// finds libc's f, and jumps to it. Only a call that precedes this library's
// constructor runs it, such as a call by a constructor of another library.
#define FUNCTION(Name, Visibility, Body)                                       \
  ".globl " Name "\n" Visibility " " Name "\n"                                 \
  ".type " Name ", @function\n" Name ":\n"                                     \
  ".cfi_startproc\n" MPROF_LANDING Body ".cfi_endproc\n"                       \
  ".size " Name ", . - " Name "\n"
#define CODE(f)                                                                \
  extern char mprof_first_##f[] __attribute__((visibility("hidden")));         \
  __asm__(                                                                     \
      ".text\n"                                                                \
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

// --- one definition for each function of libc in hooks.def ---

struct call {
  struct __mprof_switch *its_switch;
  const char *name;
};

#define CALL(Section, f, Target, Kind)                                         \
  CODE(f)                                                                      \
  extern char __mprof_##f[];                                                   \
  __attribute__((visibility("hidden"), section(Section),                       \
                 used)) struct __mprof_switch mprof_switch_##f = {             \
      Target, mprof_first_##f, __mprof_##f, Kind, 0};                          \
  __attribute__((section("mprof_calls"),                                       \
                 used)) static const struct call call_##f = {                  \
      &mprof_switch_##f, #f};
// A function whose entry is called while its kind is on. The runtime sets the
// switches in this section.
#define SWITCHED(f, Kind) CALL("mprof_switches", f, mprof_first_##f, Kind)
// A function whose entry is always called.
#define ALWAYS(f) CALL("mprof_always", f, __mprof_##f, MPROF_KIND_COUNT)

#define MPROF_RELEASE_OUTSIDE(Symbol, ...)
#define MPROF_WAIT_OUTSIDE(Symbol, ...)
#define MPROF_CREATE_OUTSIDE(Symbol, ...)
#define MPROF_RELEASE(Symbol, ...) SWITCHED(Symbol, MPROF_KIND_COUNT)
#define MPROF_WAIT(Symbol, Proto, Kind) SWITCHED(Symbol, MPROF_KIND_##Kind)
#define MPROF_CREATE(Symbol, ...) ALWAYS(Symbol)
#define MPROF_UNLOAD(Symbol, ...) ALWAYS(Symbol)
#define MPROF_LEAVE(Symbol, ...) ALWAYS(Symbol)
#include "mprof/hooks.def"

extern const struct call __start_mprof_calls[], __stop_mprof_calls[];

// --- libc's definitions ---

// Takes the place of a function that libc does not have. Programs that test at
// run time whether libc has the function find this library's definition.
static long missing(void) {
  errno = ENOSYS;
  return -1;
}

static void bind(const struct call *c) {
  const int before = errno;
  struct __mprof_switch *s = c->its_switch;
  void *const first = s->function;
  void *f = dlsym(RTLD_NEXT, c->name);
  if (!f)
    f = (void *)missing;
  // `target` first: a thread that reads the new `function` through __wrap_f
  // may then already call through `target`.
  if (s->target == first)
    __atomic_store_n(&s->target, f, __ATOMIC_RELEASE);
  __atomic_store_n(&s->function, f, __ATOMIC_RELEASE);
  errno = before;
}

// Returns libc's function of the switch s. Called by mprof_preload_bind.
__attribute__((visibility("hidden"), used)) void *
mprof_preload_find(struct __mprof_switch *s) {
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls; c++)
    if (c->its_switch == s)
      bind(c);
  return s->function;
}

extern struct __mprof_switch __start_mprof_switches[], __stop_mprof_switches[];

// The node counts as that of the program, because these definitions replace
// those of all modules.
static struct __mprof_switches node = {.begin = __start_mprof_switches,
                                       .end = __stop_mprof_switches,
                                       .is_program = 1};

void mprof_preload_calls_init(void) {
  for (const struct call *c = __start_mprof_calls; c < __stop_mprof_calls;
       c++) {
    const struct __mprof_switch *s = c->its_switch;
    bind(c);
    const int number = mprof_hooked_of_entry((uintptr_t)s->entry);
    // Otherwise the runtime would ask the loader, which finds this library.
    if (number >= 0 && !mprof_hooked_functions[number])
      mprof_hooked_functions[number] = s->function;
  }
  __mprof_register_switches(&node);
}
