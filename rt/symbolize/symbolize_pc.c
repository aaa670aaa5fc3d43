// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolizes mapped code with sanitizer_common of compiler-rt; see
// symbolize_pc.h.

#define _GNU_SOURCE 1

#include "symbolize/symbolize_pc.h"

#include "process/process.h"
#include "sys/helper_environment.h"
#include "sys/os_memory.h"

#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>

// Writes to out one string for each frame at the return address pc, innermost
// first, and then an empty string. fmt is the format of the strings. The
// function is declared here, because <sanitizer/common_interface_defs.h>
// declares many other functions. The function is weak, because a program may be
// linked without sanitizer_common; see want_sanitizer.c.
__attribute__((weak, visibility("default"))) void
__sanitizer_symbolize_pc(void *pc, const char *fmt, char *out, size_t size);

// Stores the path of the module at pc. Returns 0 if there is none.
__attribute__((weak, visibility("default"))) int
__sanitizer_get_module_and_offset_for_pc(void *pc, char *path, size_t size,
                                         void **offset);

// The flags of sanitizer_common, and the function that sets their defaults. In
// LLVM 19, the second flag is the path of the symbolizer (sanitizer_flags.inc).
// The symbols are weak, because the runtime of a sanitizer may hide them. Such
// a runtime sets the flags itself.
extern char common_flags[] __asm__("_ZN11__sanitizer21common_flags_dont_useE")
    __attribute__((weak, visibility("default")));
void set_default_flags(void *flags) __asm__(
    "_ZN11__sanitizer11CommonFlags11SetDefaultsEv")
    __attribute__((weak, visibility("default")));
enum { SYMBOLIZER_PATH_OFFSET = 8, PATH_SIZE = 4096 };

// The end of the stack of the main thread: argc, the arguments, NULL, the
// environment and NULL follow.
extern void *__libc_stack_end __attribute__((weak, visibility("default")));

// These functions replace two functions of sanitizer_common's slow unwinder,
// which MProf never calls. The real functions would make each program load
// libgcc_s.so. The definitions are weak, because the runtime of a sanitizer
// defines the real functions.
void unwind_slow(void) __asm__(
    "_ZN11__sanitizer18BufferedStackTrace10UnwindSlowEmj");
void unwind_slow_in(void) __asm__(
    "_ZN11__sanitizer18BufferedStackTrace10UnwindSlowEmPvj");
__attribute__((weak)) void unwind_slow(void) {}
__attribute__((weak)) void unwind_slow_in(void) {}

// Functions that sanitizer_common calls if a sanitizer's runtime defines them.
// These definitions do what sanitizer_common does without such a runtime. They
// only spare each program three look-ups by the dynamic linker at start.
#define OF_A_SANITIZER(Result, Name, ...)                                      \
  __attribute__((weak)) Result Name(__VA_ARGS__)
OF_A_SANITIZER(int, real_clock_gettime, clockid_t clock, void *time) {
  return clock_gettime(clock, time);
}
OF_A_SANITIZER(int, real_pthread_attr_getstack, void *attr, void **start,
               size_t *size) {
  return pthread_attr_getstack(attr, start, size);
}
OF_A_SANITIZER(int, _ZN11__sanitizer14real_sigactionEiPKvPv, int number,
               const void *act, void *old) {
  return sigaction(number, act, old);
}

// Function, file and line, with MPROF_FRAME_SEPARATOR between them.
#define FORMAT "%f\x1f%s\x1f%l"

mprof_symbolizer *const mprof_symbolize_pc_works = __sanitizer_symbolize_pc;

static int stop_at_first(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)info, (void)size, (void)arg;
  return 1;
}

// Takes and releases the loader's lock, which sanitizer_common needs to list
// the modules. This call hangs if another thread held the lock when the process
// was copied. That thread does not exist in the helper process, so the lock is
// never released.
void mprof_symbolize_pc_try(void) { dl_iterate_phdr(stop_at_first, NULL); }

// Changes the environment that sanitizer_common passes to llvm-symbolizer, as
// helper_process.c changes `environ`. sanitizer_common finds the environment in
// the memory that the kernel has filled at the start of the program, behind the
// arguments. The helper needs no arguments. The last one gives its place to the
// mark. The environment in this memory never has more variables afterwards.
static void clean_first_environment(void) {
  if (&__libc_stack_end == NULL)
    return;
  char **list = (char **)__libc_stack_end + 1; // after argc
  if (*list == NULL)
    return;
  while (list[1] != NULL)
    list++;
  char **from = list + 2, **to = list + 1;
  *list = NULL;
  void *memory = mprof_os_map(mprof_helper_environment_size(from));
  if (memory == NULL) {
    *to = NULL;
    return;
  }
  char **clean = mprof_helper_environment(from, memory);
  do
    *to++ = *clean;
  while (*clean++ != NULL);
}

void mprof_symbolize_pc_init(const char *path) {
  clean_first_environment();
  if (mprof_has_sanitizer() || set_default_flags == NULL)
    return;
  set_default_flags(common_flags);
  memcpy(common_flags + SYMBOLIZER_PATH_OFFSET, &path, sizeof(path));
}

// Rejects paths with a quotation mark or a line break, because sanitizer_common
// sends the module's path to llvm-symbolizer as one line, in quotation marks.
// After another quotation mark, llvm-symbolizer would wait for more input.
// After a line break, each further answer would belong to an earlier request.
void mprof_symbolize_pc(mprof_pc pc, char *out, size_t size) {
  char path[PATH_SIZE];
  void *offset;
  if (__sanitizer_get_module_and_offset_for_pc((void *)(pc - 1), path,
                                               sizeof(path), &offset) == 0 ||
      strpbrk(path, "\"\n\r") != NULL)
    return;
  __sanitizer_symbolize_pc((void *)pc, FORMAT, out, size);
}
