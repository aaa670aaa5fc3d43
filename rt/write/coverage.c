// SPDX-FileCopyrightText: The MProf authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds memory that the heap profile cannot show; see coverage.h.

#include "write/coverage.h"

#include "heap/beneath.h"
#include "process/process.h"
#include "sys/persistent.h"
#include "write/kind_heap.h"
#include "write/report_text.h"

#include <stddef.h>

// mprof-clang defines this symbol on the linker's command line if mprof-clang
// leaves out the interceptors on purpose, for example because of the option
// -fno-mprof-intercept.
extern const char mprof_intercept_is_unwanted
    __attribute__((weak, visibility("hidden")));
// In code, gold would not make the address NULL.
static const char *const volatile unwanted = &mprof_intercept_is_unwanted;

// The interceptors exist only for glibc.
#ifdef __GLIBC__
#define HAS_INTERCEPTORS true
#else
#define HAS_INTERCEPTORS false
#endif

// Returns the copy of the heap profile, or NULL if the profile is off.
static const struct mprof_heap_copy *heap_of(const struct mprof_summary *s) {
  const struct mprof_heap_copy *c = s->copies[MPROF_PROFILE_heap];
  return s->is_shown[MPROF_PROFILE_heap] && c->snapshot.rate != 0 ? c : NULL;
}

bool mprof_coverage_is_linked_without(void) {
  return HAS_INTERCEPTORS && !mprof_next_is_linked() && unwanted == NULL &&
         !mprof_has_sanitizer();
}

bool mprof_coverage_lacks_interceptors(const struct mprof_summary *s) {
  return heap_of(s) != NULL && mprof_coverage_is_linked_without();
}

void mprof_report_not_counted(struct mprof_report *w,
                              const struct mprof_summary *s) {
  if (mprof_coverage_lacks_interceptors(s))
    mprof_report_put(
        w, "\nNot counted: allocations of code without MProf, because the "
           "program was linked\nwithout libmprof_intercept.a. Link it with "
           "mprof-clang -fmprof, CMake's\nmprof_instrument, mprof-program.cfg "
           "or \"pkg-config --libs mprof-program\".\n");
  else if (heap_of(s) != NULL && mprof_next_is_linked() && !mprof_intercepted.c)
    mprof_report_put(w, "\nNot counted: allocations of code without MProf, "
                        "because the program contains\nthe definition of "
                        "malloc.\n");
}

// The report gives a hint only if the blocks in use leave at least this many
// bytes of memory unexplained. Every process has some unexplained memory:
// thread stacks, freed memory that the allocator has not returned, buffers of
// libraries.
#define MIN_UNEXPLAINED ((int64_t)16 << 20)

void mprof_report_unexplained(struct mprof_report *w,
                              const struct mprof_summary *s,
                              int64_t anonymous) {
  const struct mprof_heap_copy *c = heap_of(s);
  if (c == NULL || anonymous < 0)
    return;
  const struct mprof_mem_estimate *total = &c->stacks.total;
  const int64_t others = anonymous - (int64_t)mprof_persistent_used();
  if (others - total->inuse_bytes < MIN_UNEXPLAINED ||
      others / 4 < total->inuse_bytes)
    return;
  // The program has freed everything, and the allocator keeps the memory.
  if (total->inuse_bytes == 0 && total->alloc_bytes >= others)
    return;
  mprof_report_put(w, "Hint: the blocks in use explain only ");
  mprof_report_percent(w, total->inuse_bytes, others);
  mprof_report_put(w, " of ");
  mprof_report_bytes(w, others);
  if (total->alloc_bytes >= others)
    mprof_report_put(
        w, "\n  of anonymous resident memory. The allocator may keep the "
           "memory of freed blocks,\n  or ");
  else
    mprof_report_put(w,
                     "\n  of anonymous resident memory, and even all blocks "
                     "ever allocated have fewer bytes in total.\n  Probably ");
  mprof_report_put(
      w,
      "the program uses mmap, or an allocator that MProf does not "
      "know: see\n  the section \"Functions that only one allocator has\" of "
      "allocators.md\n  (installed in share/doc/mprof/docs).\n");
}
