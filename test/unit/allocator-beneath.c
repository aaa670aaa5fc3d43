// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Intent: the runtime finds the allocator that the program would use without
// MProf. The test replaces the process's symbols and modules. malloc is
// intercepted only if the program defines no function of the malloc family.
// operator new is intercepted only if no linked library has replaced it. The
// runtime recognizes calls from the allocator's own code by their address.
//
// RUN: %unit -D_GNU_SOURCE %s %rt/heap/beneath.c -o %t && %t
// RUN: %unit -D_GNU_SOURCE -DNOT_LINKED %s %rt/heap/beneath.c -o %t.none && %t.none

#include "check.h"

#include "heap/beneath.h"
#include "process/modules.h"
#include "sys/abi_words.h"
#include "sys/tls.h"
#include "unwind/rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

_Thread_local struct mprof_tls mprof_tls;
__thread int64_t __mprof_heap_countdown;
void *__mprof_next_malloc, *__mprof_copy_malloc;
void *__mprof_next_calloc, *__mprof_next_realloc, *__mprof_next_posix_memalign;
void *__mprof_next_aligned_alloc;
void *__mprof_next_free, *__mprof_free_off_page;
uintptr_t __mprof_free_mask = 4095;

// --- the process as the runtime sees it: functions of modules ---

static char own[8], programs[8], beneath[8], plain[1], library_s[8];

static const char *beneath_name, *library_name; // NULL: no such module
static bool symbols_are_missing, operators_are_beneath;
static int calls;
static bool found_inside;

struct mprof_module mprof_module_of(void *address) {
  struct mprof_module m = {.id = 0};
  const char *name = NULL;
  if ((char *)address - beneath < 8u) {
    m.id = 1;
    name = beneath_name;
    m.start = (uintptr_t)beneath;
  } else if ((char *)address - library_s < 8u) {
    m.id = 2;
    name = library_name;
    m.start = (uintptr_t)library_s;
  }
  m.end = m.start + 8;
  if (!name)
    return (struct mprof_module){.id = 0};
  strcpy(m.name, name);
  return m;
}

static char entries[8]; // the code of the runtime's entries
bool mprof_is_entry(uintptr_t pc) {
  return pc - (uintptr_t)entries < sizeof entries;
}

static int dropped; // dropped samples
bool mprof_sample_hit(size_t size, uint64_t *rate) {
  (void)rate;
  CHECK_EQ(size, 100);
  dropped++;
  return true;
}

// Describes functions of a static program, each four bytes long.
struct mprof_code_range mprof_eh_function(uintptr_t pc) {
  CHECK(pc == (uintptr_t)programs || pc == (uintptr_t)(programs + 4));
  return (struct mprof_code_range){pc, pc + 4};
}

// malloc, free, ... are in the allocator; the operators n0 and n1 in a library.
void *dlsym(void *handle, const char *name) {
  if (handle == RTLD_DEFAULT) { // whether an address is that of a stub
    CHECK(strcmp(name, "dladdr1") == 0);
    return NULL;
  }
  CHECK(handle == RTLD_NEXT);
  calls++;
  errno = EBADF;
  found_inside |= mprof_next_find();
  if (symbols_are_missing)
    return NULL;
  if (name[0] == 'n')
    return (operators_are_beneath ? beneath + 2 : library_s) + (name[1] - '0');
  return strcmp(name, "malloc") == 0 ? beneath
         : strcmp(name, "free") == 0 ? beneath + 1
                                     : NULL;
}

void *(*mprof_next_late)(const char *name);
void *mprof_next_definition(const char *name) { return dlsym(RTLD_NEXT, name); }

#ifndef NOT_LINKED
static void *word_free, *word_rare, *word_n0, *word_n1;
static void *library_n0, *library_n1;

const char mprof_intercept_is_linked = 1;
// The tables have the names that the runtime refers to, but are not constant.
struct mprof_intercept table_c[4] __asm__("mprof_intercept_c");
struct mprof_intercept table_cxx[3] __asm__("mprof_intercept_cxx");

static void set_up(void) {
  __mprof_next_malloc = word_free = word_rare = word_n0 = word_n1 = programs;
  table_c[0] = (struct mprof_intercept){
      "malloc", &__mprof_next_malloc, own, own, NULL, NULL};
  table_c[1] = (struct mprof_intercept){"free",  &word_free, own + 1,
                                        own + 1, NULL,       NULL};
  // This function has no definition beneath.
  table_c[2] = (struct mprof_intercept){"rare",  &word_rare, own + 2,
                                        own + 2, NULL,       NULL};
  table_cxx[0] = (struct mprof_intercept){"n0",    &word_n0, own + 3,
                                          own + 3, plain,    &library_n0};
  table_cxx[1] = (struct mprof_intercept){"n1",    &word_n1, own + 4,
                                          own + 4, plain,    &library_n1};
  beneath_name = "libc.so.6";
  library_name = "libstdc++.so.6";
}

static void find(bool c, bool cxx) {
  errno = ERANGE;
  CHECK(mprof_next_find());
  CHECK(errno == ERANGE);
  CHECK(!found_inside); // false while the search runs
  CHECK(mprof_intercepted.c == c);
  CHECK(mprof_intercepted.cxx == cxx);
  int before = calls;
  CHECK(mprof_next_find() && calls == before); // the search runs only once
}

static bool counts(const void *caller) {
  __mprof_heap_countdown = 5;
  const int before = dropped;
  bool result = mprof_intercept_counts(100, caller);
  CHECK_EQ(__mprof_heap_countdown, 5);
  CHECK_EQ(dropped, before + !result);
  return result;
}

// --- cases; each runs in a process of its own ---

static void everything_is_left(void) {
  find(true, true);
  CHECK(__mprof_next_malloc == beneath && word_free == beneath + 1);
  CHECK(__mprof_copy_malloc == beneath); // sites of strdup call it
  CHECK(word_rare == programs);          // unchanged
  CHECK(word_n0 == plain && word_n1 == plain);
  CHECK(!library_n0 && !library_n1);
  CHECK(!mprof_intercepts(&mprof_intercept_is_on.c));
  mprof_next_start();
  CHECK(mprof_intercepts(&mprof_intercept_is_on.c));
  CHECK(counts(beneath) && counts(library_s) && counts(programs)); // libc too
  // The allocator's function ends with a jump to the interceptor.
  CHECK(!counts(entries + 1));
}

static void program_has_free(void) {
  table_c[1].bound = programs + 1;
  find(false, false);
  CHECK(__mprof_next_malloc == beneath);
  CHECK(word_free == programs);
  CHECK(word_n0 == programs && word_n1 == programs);
  mprof_next_start();
  CHECK(!mprof_intercepts(&mprof_intercept_is_on.c));
  CHECK(counts(beneath));
}

// An interceptor of libmprof_preload.so that the program's free calls by
// dlsym(RTLD_NEXT) must not call the program's free.
static void program_has_free_above_preload(void) {
  void *next = NULL;
  table_c[1].bound = programs + 1;
  table_c[1].next = &next;
  find(false, false);
  CHECK(word_free == programs);
  CHECK(next == beneath + 1);
}

static void program_has_an_operator(void) {
  table_cxx[1].bound = programs + 1;
  find(true, false);
  CHECK(__mprof_next_malloc == beneath);
  CHECK(word_n0 == programs && word_n1 == programs);
  CHECK(!library_n0 && !library_n1);
}

static void library_replaces_operators(void) {
  library_name = "libown.so";
  find(true, false);
  CHECK(word_n0 == programs && word_n1 == programs);
  CHECK(library_n0 == library_s && library_n1 == library_s + 1);
}

static void allocator_has_operators(void) {
  beneath_name = "libjemalloc.so.2";
  operators_are_beneath = true;
  find(true, true);
  mprof_next_start();
  CHECK(!counts(beneath) && !counts(beneath + 7));
  CHECK(counts(beneath + 8) && counts(beneath - 1) && counts(library_s));
}

static void cxx_libraries_replace_nothing(void) {
  library_name = "libc++.so.1";
  find(true, true);
}
static void cxx_abi_replaces_nothing(void) {
  library_name = "libc++abi.so.1";
  find(true, true);
}
static void similar_names_do(void) {
  library_name = "libstdc++fs.so";
  find(true, false);
}
static void operators_of_no_module(void) {
  library_name = NULL;
  find(true, true);
}

static void no_operators_linked(void) {
  table_cxx[0].name = NULL;
  find(true, false);
}
static void no_functions_linked(void) {
  table_c[0].name = NULL;
  find(false, false);
  CHECK(calls == 0 && word_n0 == programs);
}

static void plain_ones_need_no_symbols(void) { // as in static programs
  symbols_are_missing = true;
  table_c[0].plain = plain;
  find(true, true);
  CHECK(__mprof_next_malloc == plain && word_free == programs);
  __mprof_next_calloc = programs;
  __mprof_next_aligned_alloc = programs + 4;
  mprof_next_start();
  CHECK(!counts(programs) && !counts(programs + 7));
  CHECK(counts(programs - 1) && counts(programs + 8) && counts(beneath));
}

// A static program with a malloc of its own: the linker script defined the
// functions that nothing calls as their interceptors.
static void unused_interceptors_do_not_call_themselves(void) {
  symbols_are_missing = true;
  word_free = own + 1;
  find(true, true);
  CHECK(word_free == NULL);
}

static void frees_go_beneath(void) {
  __mprof_next_free = beneath + 1;
  find(true, true);
  CHECK(__mprof_free_off_page == beneath + 1);
}

// Another copy of the runtime counts all frees, and the word is its entry.
static void frees_of_another_copy_stay(void) {
  __mprof_next_free = beneath + 1;
  __mprof_free_mask = 0;
  __mprof_free_off_page = entries;
  find(true, true);
  CHECK(__mprof_free_off_page == entries);
}

int main(void) {
  static void (*const cases[])(void) = {
      frees_go_beneath,
      frees_of_another_copy_stay,
      everything_is_left,
      program_has_free,
      program_has_free_above_preload,
      program_has_an_operator,
      library_replaces_operators,
      allocator_has_operators,
      cxx_libraries_replace_nothing,
      cxx_abi_replaces_nothing,
      similar_names_do,
      operators_of_no_module,
      no_operators_linked,
      no_functions_linked,
      plain_ones_need_no_symbols,
      unused_interceptors_do_not_call_themselves};
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
    set_up();
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      cases[i]();
      _exit(0);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
      fprintf(stderr, "case %zu\n", i);
    CHECK(status == 0);
  }
  return 0;
}
#else
int main(void) {
  CHECK(mprof_next_find());
  CHECK(!mprof_intercepted.c && !mprof_intercepted.cxx && calls == 0);
  mprof_next_start();
  CHECK(!mprof_intercepts(&mprof_intercept_is_on.c));
  return 0;
}
#endif
